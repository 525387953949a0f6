// Servers that answer with an error when they cannot parse what the model wrote. It is the model's mistake, not theirs: a
// reply, with the text that the server gives. Adding a server is adding a row.
import { isObject, type ModelReply, NO_USAGE, parseJson } from "../core/index.ts";

type Wording = {
  server: string;
  /** its first group is what the model wrote */
  pattern: RegExp;
  /** an answer as the server sends it, with its status */
  status: number;
  body: string;
  source: string;
};

/** What the servers said is quoted; what the models wrote in it is shortened. */
export const MALFORMED: Wording[] = [
  {
    server: "llama.cpp",
    pattern: /Failed to parse input at pos \d+: ?([\s\S]*)/,
    status: 500,
    body: '{"error":{"code":500,"message":"Failed to parse input at pos 12: </tool_call>","type":"server_error"}}',
    source: "https://github.com/ggml-org/llama.cpp/issues/20761",
  },
  {
    server: "Ollama",
    pattern: /error parsing tool call: raw='([\s\S]*)', err=/,
    status: 500,
    body: `{"error":"error parsing tool call: raw='{\\"input\\":\\"a\\"}]', err=invalid character ']' after top-level value"}`,
    source: "https://github.com/ollama/ollama/issues/17638",
  },
  {
    server: "Groq",
    pattern: /"?failed_generation\\*"?\s*:\s*\\*"([\s\S]*?)\\*"\s*[,}]/,
    status: 400,
    body: `{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=brave_search>{\\"query\\": \\"Hello!\\"}</function>"}}`,
    source: "https://github.com/langchain-ai/langchain/pull/31440",
  },
  {
    server: "Groq",
    pattern: /(tool call validation failed: [\s\S]*)/,
    status: 400,
    body: '{"error":{"message":"tool call validation failed: parameters for tool HassTurnOff did not match schema: errors: [`/domain`: expected array, but got string]","type":"invalid_request_error","param":"","code":"tool_use_failed"}}',
    source: "https://github.com/HunorLaczko/ha-groq-cloud-api/issues/20",
  },
];

/** The reply that an error stands for, if the model is to blame for it. */
export function malformedReply({ status, text }: { status: number; text: string }): ModelReply | undefined {
  if (status !== 400 && status < 500) return undefined;
  const error = parseJson(text);
  const inner = isObject(error) ? (isObject(error.error) ? error.error : error) : {};
  const written = typeof inner.failed_generation === "string" ? inner.failed_generation : undefined;
  const said = [inner.message, inner.error].find((part) => typeof part === "string") ?? text;
  const content =
    written ?? MALFORMED.map(({ pattern }) => pattern.exec(said as string)?.[1]).find((match) => match !== undefined);
  return content === undefined
    ? undefined
    : { content, toolCalls: [], usage: NO_USAGE, finish: "other", malformed: true };
}
