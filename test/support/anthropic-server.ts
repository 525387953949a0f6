// A server that speaks the Anthropic wire: it plays answers in order, and refuses with a 400 whatever the real one would
// refuse in a list of messages, including signatures that it did not give.
import type { ServerResponse } from "node:http";
import { isObject, type Json, type JsonObject } from "../../src/core/index.ts";
import { type ModelServer, type Received, serveModel } from "./model-server.ts";

export type AnthropicAnswer =
  | { content: JsonObject[]; stop_reason?: string; usage?: JsonObject }
  | ((response: ServerResponse) => void);

/** The last answer is repeated. */
export async function serveAnthropic(...answers: AnthropicAnswer[]): Promise<ModelServer> {
  const given = new Set<string>();
  let played = 0;
  return serveModel((response, received) => {
    const problem = problemOf(received, given);
    if (problem !== undefined) return anthropicError(400, "invalid_request_error", problem)(response);
    const answer = answers[Math.min(played++, answers.length - 1)] as AnthropicAnswer;
    if (typeof answer === "function") return answer(response);
    for (const block of answer.content)
      for (const secret of [block.signature, block.data]) if (typeof secret === "string") given.add(secret);
    const { content, stop_reason = "end_turn", usage = { input_tokens: 1, output_tokens: 1 } } = answer;
    const message = { type: "message", id: "msg_1", model: received.body.model as Json, role: "assistant" };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...message, content, stop_reason, stop_sequence: null, usage }));
  });
}

export function anthropicError(
  status: number,
  type: string,
  message: string,
  headers: { [name: string]: string } = {},
): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type, message }, request_id: "req_1" }));
  };
}

function problemOf({ url, headers, body }: Received, given: ReadonlySet<string>): string | undefined {
  if (!url.endsWith("/messages")) return `${url}: not found`;
  if (headers["anthropic-version"] === undefined) return "anthropic-version: header is required";
  if (typeof body.max_tokens !== "number") return "max_tokens: Field required";
  const thinking = isObject(body.thinking) ? body.thinking : {};
  if (thinking.type === "enabled" && body.temperature !== undefined) return "temperature may only be set to 1";
  if (Number(thinking.budget_tokens ?? 0) >= body.max_tokens) return "max_tokens must be greater than budget_tokens";
  const messages = body.messages as { role: string; content: JsonObject[] }[];
  if (messages[0]?.role !== "user") return "messages: first message must use the user role";
  for (const [index, { role, content }] of messages.entries()) {
    const before = messages[index - 1];
    if (role === before?.role) return "messages: roles must alternate";
    if (content.length === 0) return "messages: must have non-empty content";
    const calls = before?.content.filter((block) => block.type === "tool_use").map(({ id }) => id) ?? [];
    const results = content.filter((block) => block.type === "tool_result").map((block) => block.tool_use_id);
    if (calls.join() !== results.join()) return "tool_use ids were found without tool_result blocks";
    const wrong = content.map((block) => problemOfBlock(block, given)).find((problem) => problem !== undefined);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function problemOfBlock(block: JsonObject, given: ReadonlySet<string>): string | undefined {
  if (block.type === "text" && block.text === "") return "messages: text content blocks must be non-empty";
  if (block.type === "tool_use" && !isObject(block.input)) return "tool_use.input: Input should be a valid dictionary";
  const secret = block.type === "thinking" ? block.signature : block.type === "redacted_thinking" ? block.data : "";
  return secret === "" || given.has(String(secret)) ? undefined : "Invalid `signature` in `thinking` block";
}
