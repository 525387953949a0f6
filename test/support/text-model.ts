// A model server that speaks only text: whatever a request holds besides plain messages, it refuses. It says its lines by
// how many replies of its own it sees in the request, as a real model goes on where the dialogue stands.
import { onTestFinished } from "vitest";
import { isObject, type JsonObject } from "../../src/core/index.ts";
import { completion, failing, type ModelServer, serveModel } from "./model-server.ts";

type TextMessage = { role: string; content: string };
/** A line, or a line with how it ended. */
export type TextLine = string | { text: string; finish: string };
export type TextModel = ModelServer & {
  /** the messages of each request, the system prompt first */
  asked: TextMessage[][];
};

export async function serveText(lines: readonly TextLine[]): Promise<TextModel> {
  const asked: TextMessage[][] = [];
  const server = await serveModel((response, { body }) => {
    const problem = findProblem(body);
    if (problem) return failing(400, { error: { message: problem } })(response);
    const messages = body.messages as TextMessage[];
    asked.push(messages);
    const line = lines[messages.filter(({ role }) => role === "assistant").length] ?? "";
    const { text, finish } = typeof line === "string" ? { text: line, finish: "stop" } : line;
    response
      .setHeader("content-type", "application/json")
      .end(
        JSON.stringify(completion({ content: text }, { usage: { prompt_tokens: 900, completion_tokens: 9 } }, finish)),
      );
  });
  onTestFinished(() => server.close());
  return { ...server, asked };
}

function findProblem(body: JsonObject): string | undefined {
  for (const name of ["tools", "tool_choice", "functions", "function_call", "parallel_tool_calls"])
    if (body[name] !== undefined) return `this server knows no ${name}`;
  const messages = Array.isArray(body.messages) ? body.messages : [];
  for (const [index, message] of messages.entries()) {
    const { role, content, ...others } = isObject(message) ? message : {};
    if (!["system", "user", "assistant"].includes(String(role)) || typeof content !== "string")
      return `messages[${index}] is no text of the system, the user or the assistant`;
    if (Object.keys(others).length > 0) return `messages[${index}] has ${Object.keys(others)}`;
    if (index > 0 && isObject(messages[index - 1]) && (messages[index - 1] as JsonObject).role === role)
      return `messages[${index}]: two messages of the ${role} in a row`;
  }
  return undefined;
}
