import { expect, test } from "vitest";
import { type ModelReply, NO_USAGE, type ToolSpec } from "../../core/index.ts";
import { isTextCall } from "./find-calls.ts";
import { recoverTextCalls } from "./recover.ts";

const replyOf = (content: string): ModelReply => ({ content, toolCalls: [], usage: NO_USAGE, finish: "stop" });
const find = { id: "", name: "find", arguments: '{"id":7}' };

const tools: ToolSpec[] = [
  {
    name: "find",
    description: "",
    parameters: {
      type: "object",
      properties: { id: { type: "integer" }, text: { type: "string" }, tags: { type: "array" }, deep: {} },
    },
    readOnly: true,
  },
  { name: "pay_bill", description: "", parameters: {}, readOnly: false },
];
const json = '{"name": "find", "arguments": {"id": 7}}';
const pay = { id: "", name: "pay_bill", arguments: "{}" };

/** As real models wrote them: the form, the text, what it says besides, and the calls in it. */
const WRITTEN: [form: string, text: string, content: string, calls: object[]][] = [
  ["Hermes", `Let me look.\n<tool_call>\n${json}\n</tool_call>`, "Let me look.", [find]],
  [
    "several",
    `<tool_call>${json}</tool_call>\n<tool_call>{"name":"x","parameters":{}}</tool_call>`,
    "",
    [find, { id: "", name: "x", arguments: "{}" }],
  ],
  ["Hermes, not closed", `<tool_call>\n${json}`, "", [find]],
  [
    "Hermes, one of two not closed",
    `<tool_call>\n${json}\n<tool_call>{"name":"pay_bill"}</tool_call>`,
    "",
    [find, pay],
  ],
  [
    "Hermes with the template's double braces",
    '<tool_call>\n{{"name": "find", "arguments": {"id": 7}}}\n</tool_call>',
    "",
    [find],
  ],
  [
    "a closing tag inside a text",
    '<tool_call>{"name":"find","arguments":{"text":"</tool_call>"}}</tool_call>',
    "",
    [{ ...find, arguments: '{"text":"</tool_call>"}' }],
  ],
  ["a list in one tag", `<tool_call>[${json}, {"name":"pay_bill","arguments":{}}]</tool_call>`, "", [find, pay]],
  [
    "Qwen3-Coder",
    "I will search.\n<tool_call>\n<function=find>\n<parameter=id>\n7\n</parameter>\n<parameter=text>\n42\nor so\n</parameter>\n</function>\n</tool_call>",
    "I will search.",
    [{ ...find, arguments: '{"id":7,"text":"42\\nor so"}' }],
  ],
  [
    "Qwen3-Coder without the tag around it",
    "<function=find>\n<parameter=tags>\n[1, 2.0]\n</parameter>\n</function>",
    "",
    [{ ...find, arguments: '{"tags":[1,2.0]}' }],
  ],
  ["Qwen3-Coder, not closed", "<tool_call>\n<function=find>\n<parameter=id>\n7\n</parameter>", "", [find]],
  ["Qwen3-Coder without parameters", "<tool_call>\n<function=pay_bill>\n</function>\n</tool_call>", "", [pay]],
  ["Llama", '<function=find>{"id":7}</function>', "", [find]],
  ["Llama's Python tag", '<|python_tag|>{"name": "find", "parameters": {"id": 7}}<|eom_id|>', "", [find]],
  [
    "two behind a Python tag",
    '<|python_tag|>{"name": "find", "parameters": {"id": 7}}; {"name": "pay_bill", "parameters": {}}',
    "",
    [find, pay],
  ],
  ["Python behind its tag", "<|python_tag|>find(id=7)", "", [find]],
  ["Liquid", "<|tool_call_start|>[find(id=7)]<|tool_call_end|>", "", [find]],
  ["Llama 4", "[find(id=7), pay_bill()]", "", [find, pay]],
  [
    "a text in Python",
    "find(text='it\\'s \"so\"', tags=[True, None, 1.5], deep={'a': -1})",
    "",
    [{ ...find, arguments: '{"text":"it\'s \\"so\\"","tags":[true,null,1.5],"deep":{"a":-1}}' }],
  ],
  ["Gemma", "```tool_code\nprint(find(id=7))\n```", "", [find]],
  ["Mistral", '[TOOL_CALLS] [{"name": "find", "arguments": {"id": 7}, "id": "k"}]', "", [{ ...find, id: "k" }]],
  ["Mistral with marks for arguments", '[TOOL_CALLS]find[ARGS]{"id": 7}[TOOL_CALLS]pay_bill[ARGS]{}', "", [find, pay]],
  ["Mistral with ids", '[TOOL_CALLS]find[CALL_ID]a1b2c3d4e[ARGS]{"id": 7}', "", [{ ...find, id: "a1b2c3d4e" }]],
  ["Mistral, name and arguments", '[TOOL_CALLS]find{"id": 7}</s>', "", [find]],
  [
    "DeepSeek V3 and R1",
    'Sure.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n```json\n{"id": 7}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "Sure.",
    [find],
  ],
  [
    "DeepSeek V3.1",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{"id": 7}<｜tool▁call▁end｜><｜tool▁call▁begin｜>pay_bill<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "",
    [find, pay],
  ],
  [
    "DeepSeek V3.2",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="find">\n<｜DSML｜parameter name="id" string="false">7</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "",
    [find],
  ],
  [
    "MiniMax",
    '<minimax:tool_call>\n<invoke name="find">\n<parameter name="id">7</parameter>\n</invoke>\n</minimax:tool_call>',
    "",
    [find],
  ],
  [
    "Kimi",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>{"id": 7}<|tool_call_end|><|tool_calls_section_end|>',
    "",
    [find],
  ],
  [
    "GLM",
    "<tool_call>find\n<arg_key>id</arg_key>\n<arg_value>7</arg_value>\n<arg_key>text</arg_key>\n<arg_value>7</arg_value>\n</tool_call>",
    "",
    [{ ...find, arguments: '{"id":7,"text":"7"}' }],
  ],
  ["gpt-oss", '<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"id": 7}<|call|>', "", [find]],
  ["a fence", `Now:\n\`\`\`json\n${json}\n\`\`\``, "Now:", [find]],
  ["a fence, not closed", `\`\`\`json\n${json}`, "", [find]],
  ["bare JSON", json, "", [find]],
  ["bare JSON with double braces", '{{"name": "find", "arguments": {"id": 7}}}', "", [find]],
  [
    "bare JSON over several lines",
    '{\n  "name": "find",\n  "parameters": {\n    "id": 7\n  }\n}',
    "",
    [{ ...find, arguments: '{"id":7}' }],
  ],
  ["bare JSON with a bracket too many", `${json}}`, "", [find]],
  ["bare JSON after a sentence", `I'll look that up.\n${json}`, "I'll look that up.", [find]],
  ["a bare list", `[${json}, {"name": "pay_bill", "arguments": {}}]`, "", [find, pay]],
  ["a line each", `${json}\n{"name": "pay_bill", "arguments": {}}`, "", [find, pay]],
  ["the shape of a request", '{"type": "function", "function": {"name": "find", "arguments": {"id": 7}}}', "", [find]],
  [
    "the shape of a message",
    '{"tool_calls": [{"id": "k", "function": {"name": "find", "arguments": "{\\"id\\":7}"}}]}',
    "",
    [{ ...find, id: "k" }],
  ],
  ["an action and its input", '```\n{"action": "find", "action_input": {"id": 7}}\n```', "", [find]],
  ["arguments as text", '<tool_call>{"name":"find","arguments":"{\\"id\\":7}"}</tool_call>', "", [find]],
];

test.each(WRITTEN)("calls written as text are recovered and tagged: %s", (_, text, content, toolCalls) => {
  expect(recoverTextCalls(replyOf(text), tools)).toEqual({
    ...replyOf(text),
    content,
    toolCalls,
    finish: "tool-calls",
    recovered: true,
  });
  expect(isTextCall(text, tools)).toBe(true);
});

test.each([
  ["plain text", "Your loan 7 is renewed."],
  ["a call that was cut", '<tool_call>{"name": "find", "argum'],
  ["bare JSON that was cut", '{"name": "find", "arguments": {"id": '],
  ["a call that is no JSON", "<tool_call>{name: find}</tool_call>"],
  ["a call without a name", '<tool_call>{"arguments": {}}</tool_call>'],
  ["JSON that names no tool", '```json\n{"name": "Ada", "arguments": {}}\n```'],
  ["other JSON", '```json\n{"id": 7}\n```'],
  ["a list of people", '[{"name": "Ada", "parameters": {}}, {"name": "find", "arguments": {}}]'],
  ["prose about JSON", 'A call looks like {"name": "find", "arguments": {"id": 7}} in this format.'],
  ["prose about a function", "You could find(id=7) or not."],
  ["a function of another name", "search(id=7)"],
  ["code that does more", "```python\nx = find(id=7)\nprint(x)\n```"],
  ["a tag in prose", "Wrap calls in <tool_call> tags, and results in <tool_response>."],
  ["a call to nobody", '<tool_call>{"name": "nothing", "arguments": {}}</tool_call>'],
])("nothing is guessed from %s", (_, text) => {
  const reply = replyOf(text);
  expect(recoverTextCalls(reply, tools)).toBe(reply);
});

test.each([
  ["a call that was cut", '<tool_call>{"name": "find", "argum', true],
  ["a call that is no JSON", "<tool_call>{name: find}</tool_call>", true],
  ["a call to a tool that is not there", '<tool_call>{"name": "nothing", "arguments": {}}</tool_call>', true],
  ["bare JSON for a tool that is not there", '{"name": "nothing", "arguments": {"a": 1}}', true],
  ["the same in a fence", '```json\n{"name": "nothing", "parameters": {}}\n```', true],
  ["Mistral's mark", '[TOOL_CALLS]nothing[ARGS]{"a"', true],
  ["DeepSeek's mark", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function", true],
  ["plain text", "Your loan 7 is renewed.", false],
  ["prose about JSON", 'A call looks like {"name": "find", "arguments": {"id": 7}} in this format.', false],
  ["a tag in prose", "Wrap calls in `<tool_call>` tags.", false],
  ["a person in JSON", '{"name": "Ada", "born": 1815}', false],
  ["a list", "[1] first, [2] second (see note)", false],
  ["an example for the user", 'Send this:\n```json\n{"name": "Ada", "arguments": {"a": 1}}\n```\nand wait.', false],
])("a call in disguise is seen as one, complete or not: %s", (_, text, expected) => {
  expect(isTextCall(text, tools)).toBe(expected);
  expect(isTextCall(text, [])).toBe(expected);
});

test("no text takes long to search", () => {
  for (const text of [
    "{",
    "[",
    "\n{",
    "\n[1,",
    "<tool_call>",
    "```\n",
    " ",
    "\n",
    "<function=a>",
    "[TOOL_CALLS]a",
    "find(",
    '"',
  ]) {
    recoverTextCalls(replyOf(text.repeat(Math.floor(150_000 / text.length))), tools);
  }
}, 20_000);

test("real calls, and requests without tools, are left alone", () => {
  const text = '<tool_call>{"name":"find","arguments":{}}</tool_call>';
  const called: ModelReply = { ...replyOf(text), toolCalls: [find] };
  expect(recoverTextCalls(called, tools)).toBe(called);
  const offered = replyOf(text);
  expect(recoverTextCalls(offered, [])).toBe(offered);
});

test("recovered arguments keep their numbers", () => {
  const args = '{"id":12345678901234567890,"share":1.0}';
  const { toolCalls } = recoverTextCalls(replyOf(`<tool_call>{"name":"find","arguments":${args}}</tool_call>`), tools);
  expect(toolCalls).toMatchObject([{ name: "find", arguments: args }]);
});

test("a tool's description, which a model may quote, is no call", () => {
  const tool = { name: "get_weather", description: "The weather.", parameters: { type: "object", properties: {} } };
  for (const text of [
    JSON.stringify(tool),
    `\`\`\`json\n${JSON.stringify({ type: "function", function: tool })}\n\`\`\``,
  ])
    expect(isTextCall(text, [{ ...tool, readOnly: true }])).toBe(false);
});
