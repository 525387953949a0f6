import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DIALOGUE, line, TOOLS, writeRun } from "../../test/support/export-records.ts";
import { exportDataset } from "./export-dataset.ts";
import { type Finding, validateFile } from "./validate.ts";

async function findings(format: string, ...lines: (object | string)[]): Promise<Finding[]> {
  const file = join(mkdtempSync(join(tmpdir(), "rollout-validate-")), "rows.jsonl");
  writeFileSync(file, lines.map((item) => (typeof item === "string" ? item : JSON.stringify(item))).join("\n"));
  return (await validated(file, format)).found;
}

async function validated(file: string, format: string): Promise<{ found: Finding[]; rows: number }> {
  const found: Finding[] = [];
  const checking = validateFile({ file, format });
  let next = await checking.next();
  for (; !next.done; next = await checking.next()) found.push(next.value);
  return { found, rows: next.value };
}

const call = (name: string, args: string, id = "a") => ({
  role: "assistant",
  content: "",
  tool_calls: [{ id, type: "function", function: { name, arguments: args } }],
});
const answer = (content: string, id = "a") => ({ role: "tool", tool_call_id: id, content });
const row = (...messages: object[]) => ({ messages: [{ role: "user", content: "Hi" }, ...messages], tools: TOOLS });
const done = { role: "assistant", content: "Done." };

test("what we export is found to be right, in every format and container", async () => {
  const input = writeRun([line("q1"), line("q2")]);
  for (const [format, extension] of [
    ["openai", "jsonl"],
    ["trl", "jsonl"],
    ["llamafactory", "jsonl"],
    ["ms-swift", "jsonl"],
    ["verl-sft", "parquet"],
    ["verl-rl", "parquet"],
    ["parquet", "parquet"],
  ] as const) {
    const out = join(mkdtempSync(join(tmpdir(), "rollout-validate-")), `rows.${extension}`);
    await exportDataset({ inputs: [input], format, out });
    expect(await validated(out, format), format).toEqual({ found: [], rows: 2 });
  }
});

test("rows of pairs are checked on both sides", async () => {
  const lines = [
    line("q1", { score: 1 }),
    line("q1#1", { score: 0, messages: [...DIALOGUE.slice(0, 4), { role: "assistant", content: "No." }] }),
  ];
  for (const format of ["trl", "ms-swift", "llamafactory", "openai", "jsonl"]) {
    for (const pairs of ["preference", "kto"] as const) {
      if (pairs === "kto" && format === "openai") continue;
      const out = join(mkdtempSync(join(tmpdir(), "rollout-validate-")), "rows.jsonl");
      await exportDataset({ inputs: [writeRun(lines)], format, pairs, out });
      expect(await validated(out, format), `${format} ${pairs}`).toEqual({ found: [], rows: pairs === "kto" ? 2 : 1 });
    }
  }
  const bad = { prompt: [{ role: "user", content: "Hi" }], chosen: [done], rejected: [done, done], tools: [] };
  expect(await findings("trl", bad)).toMatchObject([
    { line: 1, message: expect.stringContaining("follows an agent message") },
  ]);
});

describe("a foreign file", () => {
  test.each<[string, object, RegExp]>([
    ["two user messages in a row", row({ role: "user", content: "Ho" }, done), /follows a user message/],
    ["two agent messages in a row", row(done, done), /follows an agent message/],
    [
      "an unanswered call",
      row(call("find_book", '{"id":1}'), { role: "user", content: "Well?" }, done),
      /the call of find_book before it has no result/,
    ],
    ["an orphaned result", row(answer("{}"), done), /a tool result without its call/],
    ["arguments that are not JSON", row(call("find_book", '{"id":'), answer("{}"), done), /are not a JSON object/],
    ["a tool that does not exist", row(call("sell_book", "{}"), answer("{}"), done), /sell_book is not in the list/],
    [
      "arguments against the schema",
      row(call("find_book", '{"id":"one"}'), answer("{}"), done),
      /"id" must be integer/,
    ],
    ["an empty agent turn", row({ role: "assistant", content: " " }), /neither text nor calls/],
    ["an empty user turn", { messages: [{ role: "user", content: "" }, done] }, /a user message is empty/],
    ["an end token", row(done, { role: "user", content: "Bye ###STOP###" }, done), /an end token is left/],
    [
      "a key",
      row({ role: "assistant", content: ["sk", "abcdefghijklmnopqrstuvwx123456"].join("-") }),
      /looks like an API key/,
    ],
    ["an empty list of calls", row({ ...done, tool_calls: [] }), /leave the key out/],
    ["a strange role", row({ role: "robot", content: "" }, done), /"robot" is not known/],
    ["no messages", { text: "hello" }, /no messages/],
  ])("with %s", async (_name, bad, message) => {
    const found = await findings("openai", row(done), bad);
    expect(found).toContainEqual({ level: "error", line: 2, message: expect.stringMatching(message) });
    expect(found.every((finding) => finding.line === 2)).toBe(true);
  });

  test("a broken line is named and the rest is read", async () => {
    expect(await findings("openai", row(done), "{", row(done))).toEqual([
      { level: "error", line: 2, message: expect.stringMatching(/not valid JSON/) },
    ]);
  });

  test("a mistake that its tool result answers as an error is a warning", async () => {
    const found = await findings(
      "openai",
      row(call("find_book", '{"id":'), answer('{"error":"not valid JSON"}'), done),
    );
    expect(found).toMatchObject([{ level: "warning", line: 1 }]);
  });
});

test("the rules of each loader count too", async () => {
  const turns = (...from: string[]) => ({
    conversations: from.map((name) => ({ from: name, value: "x" })),
    system: "",
    tools: "",
  });
  expect(await findings("llamafactory", turns("human", "gpt", "human"))).toMatchObject([
    { message: "the number of turns is odd" },
  ]);
  expect((await findings("llamafactory", turns("gpt", "human")))[0]?.message).toMatch(
    /turn 1 is "gpt" where the loader wants human/,
  );
  expect((await findings("ms-swift", { messages: [{ role: "user", content: null }] }))[0]?.message).toMatch(
    /no text content/,
  );
  const beside = { ...call("find_book", '{"id":1}'), content: "One moment." };
  const openai = { messages: [{ role: "user", content: "Hi" }, beside, answer("1"), done], tools: "" };
  expect((await findings("llamafactory-openai", openai))[0]?.message).toMatch(/which the loader drops/);
  expect(await findings("jsonl", { messages: DIALOGUE })).toEqual([]);
});
