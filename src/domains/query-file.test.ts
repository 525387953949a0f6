import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { UsageError, wellFormed, writeExact } from "../core/index.ts";
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
    const deep = `{"a":${"[".repeat(100_000)}}`;
    expect(errorOf(deep)).toBe("1:133: is nested deeper than 128 levels");
    expect(errorOf(`[${deep}`)).toBe("1:134: is nested deeper than 128 levels");
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
    [
      "nothing to begin with",
      '{"id":"a"}',
      '1: a query needs a "question" (or "query"), "messages" with an opening user message',
    ],
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

describe("an array of queries", () => {
  const records = [
    { id: "a", question: "What?", answer: 1 },
    { query: 'Why? ]}[ \\" \\ é', answers: ["x", "y"] },
    { id: 3, messages: [{ role: "user", content: "How?" }], task_info: { plan: [{ say: "so" }] } },
  ];
  const lines = records.map((record) => JSON.stringify(record)).join("\n");
  const seen = (queries: ReturnType<typeof open>) => queries.ids.map((_, index) => queries.load(index));

  test.each([
    ["in one line", JSON.stringify(records)],
    ["pretty-printed", JSON.stringify(records, null, 2)],
    [
      "with a byte order mark and CRLF",
      `\ufeff\r\n${JSON.stringify(records, null, "\t").replaceAll("\n", "\r\n")}\r\n`,
    ],
    ["with repeats", JSON.stringify([...records, records[1]])],
  ])("%s is the same as lines of them, under the same ids", (_how, text) => {
    expect(seen(open(text))).toEqual(seen(open(lines)));
  });

  test("keeps numbers as they are written", () => {
    const text =
      '[ {"id": "a", "question": "q", "setup": [{"name": "f", "arguments": {"x": 1.0, "y": 12345678901234567890}}]} ]';
    expect(writeExact(open(text).load(0).setup)).toBe('[{"name":"f","arguments":{"x":1.0,"y":12345678901234567890}}]');
  });

  test("is read as JSON reads it, whatever it holds", () => {
    const text = fc.string({ unit: "binary" }).filter((question) => question.trim() !== "");
    fc.assert(
      fc.property(fc.uniqueArray(text, { minLength: 1 }), fc.constantFrom(0, 1, "\t"), (texts, space) => {
        const queries = open(
          JSON.stringify(
            texts.map((question) => ({ question })),
            null,
            space,
          ),
        );
        expect(queries.ids.map((_, index) => queries.load(index).messages[0]?.content)).toEqual(
          texts.map((question) => wellFormed(question)),
        );
      }),
      { numRuns: 50 },
    );
  });

  test("of many megabytes is read in parts", () => {
    const many = Array.from({ length: 30_000 }, (_, n) => ({ id: `q${n}`, question: `${n} ${"ü".repeat(n % 200)}` }));
    const queries = open(JSON.stringify(many, null, 1));
    expect(queries.size).toBe(30_000);
    for (const index of [0, 12_345, 29_999])
      expect(queries.load(index).messages[0]?.content).toBe(many[index]?.question);
  });

  test.each([
    ["empty question", '[\n  {"question": "a"},\n  {"id": "b",\n   "question": " "}\n]', "3: the question is empty"],
    ["missing question", '[\n{"answer": 1}]', '2: a query needs a "question"'],
    ["a question that is no text", '[{"question": ["a"]}]', "1: a question must be a text"],
    ["no object", '[{"question": "a"},\n"b"]', "2: a query must be a JSON object"],
    ["broken JSON", '[\n {"question": "a",}]', "2:19: is not valid JSON"],
    ["broken JSON in a later line", '[\n {"question": "a",\n"id": }]', "3:7: is not valid JSON"],
    ["a comma too many", '[{"question": "a"},\n]', "2:1: is not valid JSON: an element"],
    ["a comma too few", '[{"question": "a"}\n{"question": "b"}]', "2:1: is not valid JSON"],
    ["no end", '[{"question": "a"},\n{"question": "b"}', "2:1: is not valid JSON: the array is not closed"],
    ["an end inside a text", '[{"question": "a', "1:15: is not valid JSON"],
    ["more after it", '[{"question": "a"}]\n{"question": "b"}', "2:1: is not valid JSON: nothing may follow the array"],
  ])("is refused with its line: %s", (_what, text, message) => {
    expect(errorOf(text)).toContain(message);
  });

  test("that is empty holds none", () => {
    expect(open(" [ ] \n").size).toBe(0);
  });
});

test("a question's own system prompt and accepted answers come with it; an empty question is refused with its line", () => {
  const line = JSON.stringify({
    question: "q",
    query: " ",
    system_prompt: "Be brief.",
    answer: "a",
    answers: ["b", "c"],
  });
  expect(open(line).load(0)).toMatchObject({
    systemPrompt: "Be brief.",
    messages: [{ content: "q" }],
    taskInfo: { plan: [{ say: "a" }], answer: "a", answers: ["b", "c"] },
  });
  expect(open('{"question": "q", "answers": ["b", "c"]}').load(0).taskInfo).toEqual({
    plan: [{ say: "b" }],
    answers: ["b", "c"],
  });
  expect(open('{"question": "q", "answers": "b"}').load(0).taskInfo).toEqual({ plan: [{ say: "b" }], answers: "b" });
  for (const empty of ['{"question": ""}', '{"query": "\\n "}', '{"query": "", "question": null}'])
    expect(errorOf(`${query("a")}\n${empty}`)).toBe("2: the question is empty");
  const exact = open('{"question": "q", "answer": 12345678901234567890}').load(0).taskInfo;
  expect([writeExact(exact.answer), exact.plan]).toEqual(["12345678901234567890", [{ say: "12345678901234567890" }]]);
  expect(errorOf('{"question": "q", "system_prompt": 1}')).toBe('1: "system_prompt" must be a text');
  expect(() => open(query("a", " ")).requireQuestions()).toThrow("the question is empty");
});
