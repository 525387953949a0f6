// Tool calls that a model wrote into its text because the server has no parser for its dialect. Read only when asked to,
// only if the text is complete, and never repaired; the reply says that they were recovered.
import {
  isObject,
  type ModelReply,
  parseExact,
  parseJson,
  type ToolCall,
  type ToolSpec,
  writeExact,
} from "../core/index.ts";

type Found = { calls: ToolCall[]; start: number; end: number };

/** The reply with the calls that its text holds; the same reply if it holds none. */
export function recoverTextCalls(reply: ModelReply, tools: readonly ToolSpec[]): ModelReply {
  if (reply.toolCalls.length > 0 || tools.length === 0) return reply;
  const names = new Set(tools.map((tool) => tool.name));
  const found = findCalls(reply.content, names);
  if (found.length === 0) return reply;
  let content = "";
  let position = 0;
  for (const { start, end } of found) {
    content += reply.content.slice(position, start);
    position = end;
  }
  return {
    ...reply,
    content: (content + reply.content.slice(position)).trim(),
    toolCalls: found.flatMap(({ calls }) => calls),
    finish: reply.finish === "stop" || reply.finish === "other" ? "tool-calls" : reply.finish,
    recovered: true,
  };
}

/** One way of writing per text: a model that mixes them is quoting something. */
function findCalls(text: string, names: ReadonlySet<string>): Found[] {
  for (const { pattern, read } of WAYS) {
    const found = [...text.matchAll(pattern)].flatMap((match) => {
      const calls = read(match);
      return calls.length === 0 ? [] : [{ calls, start: match.index, end: match.index + match[0].length }];
    });
    // JSON in a fence may be an answer: it is a call only if it names a tool
    const known = found.filter(({ calls }) => pattern !== FENCE || calls.every(({ name }) => names.has(name)));
    if (known.length > 0) return known;
  }
  return [];
}

const FENCE = /```(?:json|tool_call|tool_code)?\s*\n([\s\S]*?)\n?\s*```/g;

const WAYS: { pattern: RegExp; read: (match: RegExpMatchArray) => ToolCall[] }[] = [
  // Hermes, Qwen
  { pattern: /<tool_call>([\s\S]*?)<\/tool_call>/g, read: (match) => readCalls(match[1] ?? "") },
  // Llama
  {
    pattern: /<function=([\w.:-]+)>([\s\S]*?)<\/function>/g,
    read: ([, name = "", body = ""]) => {
      const text = body.trim() || "{}";
      return isObject(parseJson(text)) ? [{ id: "", name, arguments: text }] : [];
    },
  },
  // Mistral
  { pattern: /\[TOOL_CALLS\]\s*(\[[\s\S]*\])/g, read: (match) => readCalls(match[1] ?? "") },
  { pattern: FENCE, read: (match) => readCalls(match[1] ?? "") },
];

/** `{name, arguments}` or a list of these; all or nothing. */
function readCalls(text: string): ToolCall[] {
  const parsed = parseExact(text.trim());
  const calls = (Array.isArray(parsed) ? parsed : [parsed]).map(readCall);
  return calls.every((call) => call !== undefined) ? calls : [];
}

function readCall(value: unknown): ToolCall | undefined {
  if (!isObject(value)) return undefined;
  const called = isObject(value.function) ? value.function : value;
  const given = called.arguments ?? called.parameters ?? {};
  if (typeof called.name !== "string" || called.name === "") return undefined;
  if (typeof given !== "string" && !isObject(given)) return undefined;
  const id = typeof value.id === "string" ? value.id : "";
  return { id, name: called.name, arguments: typeof given === "string" ? given : writeExact(given) };
}
