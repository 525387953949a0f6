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
  return { found, rows: next.value.rows };
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
    const rows = { trl: 8, "verl-sft": 4 }[format as string] ?? 2;
    expect(await validated(out, format), format).toEqual({ found: [], rows });
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
      expect(await validated(out, format), `${format} ${pairs}`).toEqual({ found: [], rows: pairs === "kto" ? 6 : 1 });
    }
  }
  const bad = { prompt: [{ role: "user", content: "Hi" }], chosen: [done], rejected: [done, done], tools: [] };
  expect(await findings("trl", bad)).toMatchObject([
    { line: 1, message: expect.stringContaining("follows an agent message") },
  ]);
  const leaking = { ...bad, rejected: [call("find_book", "{}"), answer("{}"), done] };
  expect(await findings("trl", leaking)).toMatchObject([{ message: expect.stringContaining("learn all of it") }]);
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
    ["no messages", { text: "hello" }, /messages is missing: .* here are text/],
    ["an empty list of messages", { messages: [] }, /there are no messages/],
    ["messages that are text", { messages: "hello" }, /messages is text where a list is expected/],
    ["a number for content", row({ role: "assistant", content: 7 }), /messages.content is a number where text/],
    ["nothing to learn", row({ ...done, weight: 0 }), /nothing in it would be learnt/],
    ["a member that OpenAI does not know", row({ ...done, thinking: "x" }), /unknown member thinking/],
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

test("a file without rows is an error, and another format's rows are not taken for one's own", async () => {
  expect(await findings("openai", "")).toEqual([{ level: "error", line: 1, message: "the file has no rows" }]);
  const file = async (format: string) => {
    const out = join(mkdtempSync(join(tmpdir(), "rollout-validate-")), "rows.jsonl");
    await exportDataset({ inputs: [writeRun([line("q1")])], format, out });
    return out;
  };
  const errors = async (made: string, read: string) =>
    (await validated(await file(made), read)).found.filter(({ level }) => level === "error").map((f) => f.message);
  for (const [made, read] of [
    ["openai", "deepseek"],
    ["deepseek", "openai"],
    ["trl", "openai"],
    ["openai", "llamafactory"],
    ["llamafactory", "trl"],
    ["openai", "ms-swift"],
    ["llamafactory-openai", "openai"],
    ["axolotl", "verl-rl"],
  ] as const)
    expect(await errors(made, read), `${made} as ${read}`).not.toEqual([]);
  expect((await errors("openai", "deepseek"))[0]).toMatch(/data_source, use_cot are missing/);
});
