import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseExact, type ToolSpec, wellFormed, writeExact } from "../../core/index.ts";
import type { TextReply } from "./format.ts";
import { TEXT_FORMATS } from "./formats.ts";

const { hermes, react } = TEXT_FORMATS;
const PYTHON = toolOf("PythonInterpreter", ["code"], { timeout: { type: "number" } });
const TOOLS = [toolOf("search", ["q"]), PYTHON];

function toolOf(name: string, required: string[], more: object = {}, description = ""): ToolSpec {
  const texts = Object.fromEntries(required.map((key) => [key, { type: "string" }]));
  const parameters = { type: "object", properties: { ...texts, ...more }, required } as ToolSpec["parameters"];
  return { name, description, parameters, readOnly: false };
}

/** Names and arguments of the calls, what is said, and the labels. */
function shortly({ content, reasoning, calls, faults }: TextReply) {
  const thought = reasoning === undefined ? {} : { reasoning };
  return {
    content,
    ...thought,
    calls: calls.map((call) => [call.name, call.arguments]),
    faults: faults.map(({ type }) => type),
  };
}

const TAGS = [
  "</tool_call>",
  "<tool_call>",
  "<tool_response>",
  "</code>",
  "<code>",
  "```",
  "\nObservation:",
  "\nAction: x",
];
const text = fc.oneof(
  fc.string({ unit: "binary" }).map(wellFormed),
  fc.array(fc.oneof(fc.constantFrom(...TAGS), fc.string()), { maxLength: 5 }).map((parts) => parts.join("\n")),
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom("1.0", "-0", "1E5", "12345678901234567890", "1e400", "0.10"),
);
/** As JSON text, with numbers that JavaScript would write differently. */
const json: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text.map((value) => JSON.stringify(value)),
    number,
    fc.constantFrom("true", "false", "null"),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    tie("object"),
  ),
  object: fc
    .uniqueArray(fc.tuple(text, tie("value")), { maxLength: 3, selector: ([key]) => key })
    .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`),
})).object;
const code = text.map((value) => writeExact({ code: value }));
const call = fc.oneof(
  fc.record({ name: fc.constantFrom("search", "unknown_tool", "a.b-c"), arguments: json }),
  fc.record({ name: fc.constant("PythonInterpreter"), arguments: fc.oneof(code, json) }),
);

describe.each(Object.entries(TEXT_FORMATS))("%s", (_, format) => {
  test("gives back any calls as they were written: exact numbers, tags inside texts, newlines, code", () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 4 }), (calls) => {
        const written = format.write({ content: "One moment.", toolCalls: calls }, TOOLS);
        expect(shortly(format.read(written, TOOLS))).toEqual({
          content: "One moment.",
          calls: calls.map(({ name, arguments: given }) => [name, given]),
          faults: [],
        });
      }),
      { numRuns: 1000 },
    );
  });

  test("gives back the tools of a system prompt, numbers and other members included", () => {
    const parameters = parseExact('{"type":"object","properties":{"n":{"type":"number","minimum":1.0}}}');
    const tools = [...TOOLS, { ...toolOf("t", []), parameters, others: { strict: true } } as ToolSpec];
    const read = format.readTools(`Help.\n\n${format.describe(tools)}`);
    expect(read?.system).toBe("Help.");
    expect(writeExact(read?.tools)).toBe(writeExact(tools));
    expect(format.readTools("Help.")).toBeUndefined();
  });

  test("gives back results, however many lines and marks they hold", () => {
    const results = ['{"a": 1}', "two\nlines", ""];
    expect(format.readResults(format.writeResults(results), 3)).toEqual({ results, rest: "" });
    expect(format.readResults(format.writeResults(results, "And now?"), 3)).toEqual({ results, rest: "And now?" });
    const marked = [`it says ${format.writeResults(["x", "y"])}`];
    expect(format.readResults(format.writeResults(marked), 1).results).toEqual(marked);
  });

  test("takes a long text without calls in no time", () => {
    for (const piece of [
      "<tool_call>",
      "Action: ",
      "```\n",
      "<tool_response",
      "Thought: {",
      "<tool_call>{",
      "Action: a\n",
    ])
      format.read(piece.repeat(20_000), TOOLS);
  });
});

describe("hermes reads", () => {
  const read = (written: string) => shortly(hermes.read(written, TOOLS));
  const one = '{"name": "search", "arguments": {"q": "a"}}';
  const made = [["search", '{"q": "a"}']];

  test.each([
    ["a call with words before it", `I look.\n<tool_call>\n${one}\n</tool_call>`, "I look.", []],
    [
      "a call in a code block",
      `I look.\n\`\`\`json\n<tool_call>${one}</tool_call>\n\`\`\``,
      "I look.",
      ["fenced_call"],
    ],
    ["a code block in a call", `<tool_call>\n\`\`\`json\n${one}\n\`\`\`\n</tool_call>`, "", ["fenced_call"]],
    ["a tag that is not closed", `<tool_call>${one}`, "", ["unclosed_call"]],
    ["a bracket too many", `<tool_call>${one}}</tool_call>`, "", []],
    ["text after a call, which is dropped", `<tool_call>${one}</tool_call>\nIt is 20 °C.`, "", ["text_after_call"]],
    [
      "a result that it made up, and a call that follows from it",
      `<tool_call>${one}</tool_call>\n<tool_response>\nx\n</tool_response>\n<tool_call>${one}</tool_call>`,
      "",
      ["made_up_result"],
    ],
  ])("%s", (_, written, content, faults) => {
    expect(read(written)).toEqual({ content, calls: made, faults });
  });

  test("ten calls at once, in tags of their own or in one", () => {
    const ten = Array.from({ length: 10 }, () => one);
    const calls = Array.from({ length: 10 }, () => ["search", expect.stringMatching(/^\{"q": ?"a"\}$/)]);
    for (const written of [
      ten.map((each) => `<tool_call>${each}</tool_call>`).join("\n"),
      `<tool_call>\n${ten.join("\n")}\n</tool_call>`,
      `<tool_call>[${ten.join(",")}]</tool_call>`,
    ])
      expect(read(written)).toEqual({ content: "", calls, faults: [] });
  });

  test.each([
    ["breaks off", '{"name": "search", "arguments": {"q": "a', '{"q": "a'],
    ["lacks a bracket", '{"name": "search", "arguments": {"q": "a"}', '{"q": "a"'],
    ["is Python", "{'name': 'search', 'arguments': {'q': None}}", "{'q': None}"],
    ["has a list", '{"name": "search", "arguments": ["a"]}', '["a"]'],
    [
      "is JSON only in its arguments",
      '{name: "search", "arguments": {"q": "a"}}',
      '{name: "search", "arguments": {"q": "a"}}',
    ],
  ])("JSON that %s as it is, repairing nothing", (_, body, given) => {
    expect(read(`<tool_call>${body}</tool_call>`)).toEqual({ content: "", calls: [["search", given]], faults: [] });
    expect(read(`<tool_call>${body}`)).toMatchObject({ calls: [["search", given]], faults: ["unclosed_call"] });
  });

  test("code behind a call, whatever is in it", () => {
    const body = 'print("</tool_call>")\nprint({"a": 1})';
    const given = JSON.stringify({ code: body });
    for (const args of ["{}", '{"code": ""}'])
      expect(
        read(`<tool_call>{"name": "PythonInterpreter", "arguments": ${args}}\n<code>\n${body}\n</code>\n</tool_call>`),
      ).toEqual({
        content: "",
        calls: [["PythonInterpreter", given]],
        faults: [],
      });
    const written = hermes.write({ content: "", toolCalls: [{ name: "PythonInterpreter", arguments: given }] }, TOOLS);
    expect(written).toBe(
      `<tool_call>\n{"name": "PythonInterpreter", "arguments": {}}\n<code>\n${body}\n</code>\n</tool_call>`,
    );
    expect(
      read('<tool_call>{"name": "PythonInterpreter", "arguments": {}}\n<code>\nx = 1\n</tool_call>'),
    ).toMatchObject({
      calls: [["PythonInterpreter", '{"code":"x = 1"}']],
      faults: ["unclosed_call"],
    });
  });

  test("code is offered only where a tool runs it", () => {
    const runs = (tool: ToolSpec) => hermes.describe([tool]).includes("<code>");
    expect(runs(PYTHON)).toBe(true);
    expect(runs(toolOf("execute_python", ["source"]))).toBe(true);
    expect(runs(toolOf("sandbox", ["code"], {}, "Executes JavaScript."))).toBe(true);
    expect(runs(toolOf("find_country", ["code"], {}, "A country by its code."))).toBe(false);
    expect(runs(toolOf("search_python_docs", ["query"]))).toBe(false);
    expect(runs(toolOf("run", ["code", "language"], {}, "Runs code."))).toBe(false);
  });
});

describe("react reads", () => {
  const read = (written: string) => shortly(react.read(written, TOOLS));
  const made = [["search", '{"q": "a"}']];

  test.each([
    ["a thought and an action", 'Thought: Look.\nAction: search\nAction Input: {"q": "a"}', "", "Look.", []],
    ["words before them", 'Sure.\nThought: Look.\nAction: search\nAction Input: {"q": "a"}', "Sure.", "Look.", []],
    ["stars and quotes", '**Thought:** Look.\n**Action:** `search`\n**Action Input:** {"q": "a"}', "", "Look.", []],
    [
      "an observation that it made up, with all that follows",
      'Action: search\nAction Input: {"q": "a"}\nObservation: x\nFinal Answer: y',
      "",
      undefined,
      ["made_up_result"],
    ],
    [
      "an answer before the result",
      'Action: search\nAction Input: {"q": "a"}\nFinal Answer: y',
      "",
      undefined,
      ["text_after_call"],
    ],
    ["a code block", 'Action: search\nAction Input:\n```json\n{"q": "a"}\n```', "", undefined, ["fenced_call"]],
  ])("%s", (_, written, content, reasoning, faults) => {
    expect(read(written)).toEqual({ content, ...(reasoning && { reasoning }), calls: made, faults });
  });

  test.each([
    ["an answer", "Thought: I know.\nFinal Answer: 42\nin all", "42\nin all", "I know.", []],
    ["plain words", "It is 42.", "It is 42.", undefined, []],
    ["a thought alone, as what is said", "Thought: It is 42.", "It is 42.", undefined, ["no_final_answer"]],
    ["no action", "Thought: x\nAction: None\nFinal Answer: 42", "42", "x\nAction: None", []],
  ])("%s", (_, written, content, reasoning, faults) => {
    expect(read(written)).toEqual({ content, ...(reasoning && { reasoning }), calls: [], faults });
  });

  test("an input that is no JSON as it is, and one that is missing as none", () => {
    expect(read("Action: search\nAction Input: weather in Paris")).toMatchObject({
      calls: [["search", "weather in Paris"]],
    });
    expect(read('Action: search\nAction Input: {"q": "a\nObservation: b')).toMatchObject({
      calls: [["search", '{"q": "a']],
    });
    expect(read("Action: search")).toMatchObject({ calls: [["search", ""]] });
  });
});
