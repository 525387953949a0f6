import { expect, test } from "vitest";
import { type ModelReply, NO_USAGE, type ToolSpec } from "../core/index.ts";
import { recoverTextCalls } from "./text-calls.ts";

const tools: ToolSpec[] = [{ name: "find", description: "", parameters: {}, readOnly: true }];
const replyOf = (content: string): ModelReply => ({ content, toolCalls: [], usage: NO_USAGE, finish: "stop" });
const find = { id: "", name: "find", arguments: '{"id":7}' };

test.each([
  [
    "Hermes",
    'Let me look.\n<tool_call>\n{"name": "find", "arguments": {"id": 7}}\n</tool_call>',
    "Let me look.",
    [find],
  ],
  [
    "several",
    '<tool_call>{"name":"find","arguments":{"id":7}}</tool_call>\n<tool_call>{"name":"x","parameters":{}}</tool_call>',
    "",
    [find, { id: "", name: "x", arguments: "{}" }],
  ],
  ["Llama", '<function=find>{"id":7}</function>', "", [find]],
  ["Mistral", '[TOOL_CALLS] [{"name": "find", "arguments": {"id": 7}, "id": "k"}]', "", [{ ...find, id: "k" }]],
  ["a fence", 'Now:\n```json\n{"name": "find", "arguments": {"id": 7}}\n```', "Now:", [find]],
  ["arguments as text", '<tool_call>{"name":"find","arguments":"{\\"id\\":7}"}</tool_call>', "", [find]],
])("calls written as text are recovered and tagged: %s", (_, text, content, toolCalls) => {
  expect(recoverTextCalls(replyOf(text), tools)).toMatchObject({
    content,
    toolCalls,
    finish: "tool-calls",
    recovered: true,
  });
});

test.each([
  ["plain text", "Your loan 7 is renewed."],
  ["a call that was cut", '<tool_call>{"name": "find", "argum'],
  ["a call that is no JSON", "<tool_call>{name: find}</tool_call>"],
  ["a call without a name", '<tool_call>{"arguments": {}}</tool_call>'],
  ["JSON that names no tool", '```json\n{"name": "Ada", "arguments": {}}\n```'],
  ["other JSON", '```json\n{"id": 7}\n```'],
])("nothing is guessed from %s", (_, text) => {
  const reply = replyOf(text);
  expect(recoverTextCalls(reply, tools)).toBe(reply);
});

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
