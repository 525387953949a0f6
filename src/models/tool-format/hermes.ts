// Hermes, as Qwen and many research agents write it: JSON between `<tool_call>` tags, results between `<tool_response>`
// tags in a user message, reasoning between `<think>` tags, code as a body behind the JSON.
import { isObject, parseExact, type ToolSpec, writeExact } from "../../core/index.ts";
import { codeParameterOf } from "../text-calls/code-tools.ts";
import type { Spoken, TextFormat } from "./format.ts";
import { readHermes } from "./read-hermes.ts";
import { readToolLines, toolLines } from "./tool-lines.ts";

const HEAD = "# Tools\n\nYou may call tools to do what is asked.";
const RESPONSE = {
  open: "<tool_response>\n",
  between: "\n</tool_response>\n<tool_response>\n",
  close: "\n</tool_response>",
};

export const hermes: TextFormat = {
  describe(tools) {
    const coders = tools.filter(codeParameterOf).map(({ name }) => name);
    return `${HEAD} They are described here, one on each line:
<tools>
${toolLines(tools)}
</tools>

To call a tool, write a JSON object with its name and its arguments between tool_call tags; for several calls, one after the other:
<tool_call>
{"name": "the tool's name", "arguments": {"a parameter": "its value"}}
</tool_call>
${coders.length > 0 ? codeForm(coders) : ""}
End your reply after the last call. Each result comes to you between tool_response tags.`;
  },
  write({ content, reasoning, toolCalls = [] }, tools) {
    const parts = [content, ...toolCalls.map((call) => `<tool_call>\n${writeCall(call, tools)}\n</tool_call>`)];
    const text = parts.filter((part) => part !== "").join("\n");
    return reasoning ? `<think>\n${reasoning}\n</think>\n\n${text}` : text;
  },
  writeResults: (results, said) =>
    RESPONSE.open + results.join(RESPONSE.between) + RESPONSE.close + (said === undefined ? "" : `\n\n${said}`),
  read: readHermes,
  toolsOff: "No tool can be called now. Answer in plain words, without a tool_call.",
  stop: ["<tool_response>"],
  readTools: (system) => readToolLines(system, { head: HEAD, open: "<tools>\n", close: "\n</tools>" }),
  readResults(text, count) {
    const end = text.lastIndexOf(RESPONSE.close);
    if (!text.startsWith(RESPONSE.open) || end === -1) return { results: [], rest: text };
    const pieces = text.slice(RESPONSE.open.length, end).split(RESPONSE.between);
    const results = [...pieces.slice(0, count - 1), pieces.slice(count - 1).join(RESPONSE.between)];
    return { results, rest: text.slice(end + RESPONSE.close.length).trim() };
  },
};

function codeForm(names: string[]): string {
  return `
Code for ${names.join(" and ")} stands behind the JSON, between code tags and without any escapes:
<tool_call>
{"name": ${JSON.stringify(names[0])}, "arguments": {}}
<code>
print(1)
</code>
</tool_call>
`;
}

const UNSAFE = /<\/code>|<tool_call>|\r$/;

type Call = NonNullable<Spoken["toolCalls"]>[number];

function writeCall({ name, arguments: text }: Call, tools: readonly ToolSpec[]): string {
  const head = (given: string) =>
    `{"name": ${JSON.stringify(name)}, "arguments": ${given.trim() === "" ? "{}" : given}}`;
  const key = codeParameterOf(tools.find((tool) => tool.name === name));
  const given = key === undefined ? undefined : parseExact(text);
  if (key === undefined || !isObject(given)) return head(text);
  const { [key]: code, ...others } = given;
  // only what comes back as it is
  if (typeof code !== "string" || UNSAFE.test(code) || writeExact({ ...others, [key]: code }) !== text)
    return head(text);
  return `${head(writeExact(others))}\n<code>\n${code}\n</code>`;
}
