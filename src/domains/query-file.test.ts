import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { UsageError, writeExact } from "../core/index.ts";
import { openQueryFiles } from "./query-file.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-queries-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let written = 0;

function file(text: string | Buffer, name = `${++written}.jsonl`): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const query = (id: string | number | null | undefined, content = "Hello", more: object = {}) =>
  JSON.stringify({ id, messages: [{ role: "user", content }], ...more });
const open = (...texts: (string | Buffer)[]) => openQueryFiles(texts.map((text) => file(text)));

function errorOf(text: string): string {
  try {
    open(text);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as UsageError).message.replace(/^.*\/\d+\.jsonl:/, "");
  }
  throw new Error("nothing was thrown");
}

describe("queries", () => {
  test("are read with their texts, their task and their own tools", () => {
    const record = {
      id: "q1",
      messages: [
        { role: "system", content: "left out" },
        { role: "user", content: "Hi" },
      ],
      user_system_prompt: "You are Ann.",
      task_info: { trajectory: ["a"], known_info: "x" },
      tools: [{ type: "function", function: { name: "t" } }],
    };
    const queries = open(`${JSON.stringify(record)}\n`);
    expect(queries.load(0)).toEqual({
      id: "q1",
      messages: [{ role: "user", content: "Hi" }],
      userSystemPrompt: "You are Ann.",
      taskInfo: record.task_info,
      tools: record.tools,
      hash: queries.hash(0),
    });
    expect(queries.record(0)).toEqual(record);
  });

  test("are the same with a byte order mark, CRLF, blank lines and no newline at the end", () => {
    const lines = [query("a", "one"), query("b", "two"), query("c", "three")];
    const plain = open(`${lines.join("\n")}\n`);
    const odd = open(`\ufeff${lines.join("\r\n\r\n  \r\n")}`);
    expect(odd.ids).toEqual(["a", "b", "c"]);
    for (const index of [0, 1, 2]) expect(odd.load(index)).toEqual(plain.load(index));
  });

  test("may hold characters that some readers take for line ends, and any script", () => {
    const content = "one\u2028two\u2029three\u0085four 学生 👩‍🎓 \u0000";
    const queries = open(
      Buffer.from(`{"id":"a","messages":[{"role":"user","content":"one\u2028two"}]}\n${query("b", content)}`),
    );
    expect(queries.size).toBe(2);
    expect([0, 1].map((index) => queries.load(index).messages[0]?.content)).toEqual(["one\u2028two", content]);
  });

  test("come back whole, whatever their texts are", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 8 }), (texts) => {
        const queries = open(texts.map((text, index) => query(`q${index}`, text)).join("\n"));
        expect(texts.map((_, index) => queries.load(index).messages[0]?.content)).toEqual(
          texts.map((text) => JSON.parse(JSON.stringify(text))),
        );
      }),
      { numRuns: 30 },
    );
  });

  test("ten thousand of them are listed, and any one is loaded by its place", () => {
    const lines = Array.from({ length: 10_000 }, (_, n) => query(`q${n}`, `Text ${n} ${"x".repeat(n % 100)}`));
    const queries = open(lines.join("\n"));
    expect(queries.size).toBe(10_000);
    expect(queries.id(9_999)).toBe("q9999");
    expect(queries.load(7_777).messages[0]?.content).toBe(`Text 7777 ${"x".repeat(77)}`);
  });

  test("an empty file holds none, and a missing one is refused", () => {
    expect(open("\n\n").ids).toEqual([]);
    expect(() => openQueryFiles([join(folder, "nowhere.jsonl")])).toThrow("There is no query file");
  });
});

describe("ids", () => {
  test("of a query and of another query's rollout are found, with both places", () => {
    const one = file(`${query("a")}\n${query("b#01")}\n`);
    const two = file(`${query("a#2", "Other")}\n${query("b")}\n${query("a#2#1", "Third")}\n`);
    const queries = openQueryFiles([one, two]);
    expect(queries.twins).toEqual([
      { id: "a#2", place: { file: two, line: 1 }, other: "a", otherPlace: { file: one, line: 1 }, rollout: 2 },
      { id: "a#2#1", place: { file: two, line: 3 }, other: "a#2", otherPlace: { file: two, line: 1 }, rollout: 1 },
    ]);
  });

  test("that are numbers are their texts; blank ones are none; odd and long ones are themselves", () => {
    const long = "x".repeat(100_000);
    const queries = open(
      [query(1, "one"), query("1", "two"), query("  "), query("a\nb"), query("a "), query(long)].join("\n"),
    );
    expect(queries.ids).toEqual(["1", "1~2", expect.stringMatching(/^[\da-f]{16}$/), "a\nb", "a ", long]);
  });

  test("an identical repeat is dropped and counted, in any order of keys, within a file and across files", () => {
    const turned = '{"messages":[{"content":"Hello","role":"user"}],"id":"a"}';
    const queries = open(`${query("a")}\n${query("b")}\n${query("a")}`, turned);
    expect(queries.ids).toEqual(["a", "b"]);
    expect(queries.repeats).toBe(2);
    expect(queries.clashes).toEqual([]);
  });

  test("the same id with other content is kept under a new one, and both places are told", () => {
    const one = file(`${query("a")}\n${query("b")}\n`, "one.jsonl");
    const two = file(`${query("a", "Other")}\n\n${query("a", "Third")}\n${query("a", "Other")}\n`, "two.jsonl");
    const queries = openQueryFiles([one, two]);
    expect(queries.ids).toEqual(["a", "b", "a~2", "a~3"]);
    expect(queries.repeats).toBe(1);
    expect(queries.clashes).toEqual([
      { id: "a", keptAs: "a~2", first: { file: one, line: 1 }, second: { file: two, line: 1 } },
      { id: "a", keptAs: "a~3", first: { file: one, line: 1 }, second: { file: two, line: 3 } },
    ]);
    expect(queries.load(2)).toMatchObject({ id: "a~2", messages: [{ content: "Other" }] });
    expect(queries.record(3)).toMatchObject({ id: "a~3" });
  });

  test("are unique whatever the files hold", () => {
    const id = fc.constantFrom("a", "a~2", "a~2~2", "b");
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.constantFrom("x", "y", "z")), { maxLength: 12 }), (records) => {
        const queries = open(records.map(([name, content]) => query(name, content)).join("\n"));
        expect(new Set(queries.ids).size).toBe(queries.size);
        expect(queries.size + queries.repeats).toBe(records.length);
      }),
      { numRuns: 60 },
    );
  });

  test("a query without an id gets one from its first message and its tools, the same in every file", () => {
    const tools = { tools: [{ name: "t" }] };
    const queries = open(
      [query(undefined), query(null, "Hello", tools), query("", "Bye"), query(undefined)].join("\n"),
    );
    expect(queries.size).toBe(3);
    expect(queries.repeats).toBe(1);
    for (const id of queries.ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(new Set(queries.ids).size).toBe(3);
    expect(open(`\n${query(undefined)}`).id(0)).toBe(queries.id(0));
  });

  test("a number is taken as a text", () => {
    expect(open(query(17)).ids).toEqual(["17"]);
  });
});

describe("bad lines are refused with line and column", () => {
  const good = query("a");

  test.each([
    ["a missing value", '{"id": }', 8],
    ["a missing colon", '{"id" "x"}', 7],
    ["a missing comma", '{"id": "x" "y": 1}', 12],
    ["a comma too many", '{"id": "x",}', 12],
    ["an unfinished object", '{"id": "x"', 11],
    ["an unfinished list", '{"messages": [', 15],
    ["an unfinished text", '{"id": "x', 8],
    ["something behind the end", '{"id": "x"}}', 12],
    ["single quotes", "{'id': 1}", 2],
    ["a bad number", '{"id": 01}', 9],
    ["a bad escape", '{"id": "\\x"}', 8],
    ["a word", '{"id": None}', 8],
    ["NaN", '{"a": [1, NaN]}', 11],
    ["plain text", "hello", 1],
  ])("%s", (_what, line, column) => {
    expect(errorOf(`${good}\n\r\n${line}\n${good}`)).toMatch(new RegExp(`^3:${column}: is not valid JSON: .+`));
    expect(errorOf(`\ufeff${line}`)).toMatch(new RegExp(`^1:${column}: is not valid JSON: .+`));
  });

  test("also behind a text of a megabyte or a deep nest", () => {
    const long = `{"id": "${"x".repeat(1 << 20)}", "b": }`;
    expect(errorOf(long)).toMatch(`1:${long.length}: is not valid JSON`);
    const deep = `${"[".repeat(100_000)}}`;
    expect(errorOf(deep)).toBe("1:129: is nested deeper than 128 levels");
  });

  test.each([
    ["a list", "[1]", "1: a query must be a JSON object"],
    ["messages that are no list", '{"id":"a","messages":"Hi"}', '1: "messages" must be a list'],
    [
      "a message without a text",
      '{"id":"a","messages":[{"role":"system","content":"s"},{"role":"user"}]}',
      '1: "messages[1]" must have a role ("user", "assistant" or "tool") and a text as content',
    ],
    ["a message by a stranger", '{"id":"a","messages":[{"role":"robot","content":"x"}]}', '1: "messages[0]" must have'],
    ["nothing to begin with", '{"id":"a"}', '1: a query needs "messages" with an opening user message'],
    ["a task that is no object", '{"user_system_prompt":"x","task_info":[]}', '1: "task_info" must be an object'],
  ])("%s", (_what, line, message) => {
    expect(errorOf(line)).toContain(message);
  });
});

test("a query's own tools keep their numbers, and its texts are whole characters", () => {
  const tools = '[{"type":"function","function":{"name":"pay","parameters":{"maximum":12345678901234567890}}}]';
  const queries = open(`\ufeff{"id":"a","messages":[{"role":"user","content":"Hi \\ud83d"}],"tools":${tools}}`);
  const { messages, repairedTexts, tools: read } = queries.load(0);
  expect(writeExact(read)).toBe(tools);
  expect({ messages, repairedTexts }).toEqual({ messages: [{ role: "user", content: "Hi \ufffd" }], repairedTexts: 1 });
});
