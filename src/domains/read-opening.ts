// What a query begins with: its opening messages, with calls and results among them if the dialogue goes on from
// somewhere, and the calls of its setup.
import {
  isObject,
  type Json,
  type JsonObject,
  type Location,
  type OpeningMessage,
  type PlanCall,
  UsageError,
  wellFormed,
  writeExact,
} from "../core/index.ts";

export function readOpening(messages: Json, location: Location): OpeningMessage[] {
  if (!Array.isArray(messages)) throw new UsageError('"messages" must be a list', location);
  const open = new Set<string>();
  const seen = new Set<string>();
  const opening = messages.flatMap((message, index): OpeningMessage[] => {
    const refuse = (what: string) => new UsageError(`"messages[${index}]" ${what}`, location);
    if (isObject(message) && message.role === "system") return [];
    if (open.size > 0 && (!isObject(message) || message.role !== "tool"))
      throw refuse(`comes before the result of the call ${JSON.stringify([...open][0])}`);
    const calls = isObject(message) && message.role === "assistant" ? readCalls(message.tool_calls, refuse) : [];
    const content =
      isObject(message) && calls.length > 0 ? (message.content ?? "") : isObject(message) && message.content;
    if (!isObject(message) || typeof content !== "string" || !ROLES.includes(String(message.role)))
      throw refuse('must have a role ("user", "assistant" or "tool") and a text as content');
    if (message.role === "tool") {
      const { tool_call_id } = message;
      if (typeof tool_call_id !== "string" || !open.delete(tool_call_id))
        throw refuse('must have the "tool_call_id" of a call before it that has no result yet');
      return [{ role: "tool", content, tool_call_id }];
    }
    for (const { id } of calls) {
      if (seen.has(id)) throw refuse(`has a second call with the id ${JSON.stringify(id)}`);
      open.add(id);
      seen.add(id);
    }
    if (message.role === "user") return [{ role: "user", content }];
    return [{ role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) }];
  });
  if (open.size > 0)
    throw new UsageError(`"messages" has no result of the call ${JSON.stringify([...open][0])}`, location);
  return opening;
}

const ROLES = ["user", "assistant", "tool"];

type Calls = NonNullable<Extract<OpeningMessage, { role: "assistant" }>["tool_calls"]>;

function readCalls(calls: Json | undefined, refuse: (what: string) => UsageError): Calls {
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls)) throw refuse('must have a list as "tool_calls"');
  return calls.map((call) => {
    const called = isObject(call) ? call.function : undefined;
    if (!isObject(call) || typeof call.id !== "string" || !isObject(called) || typeof called.name !== "string")
      throw refuse('must have "id" and "function" with a "name" in each of its "tool_calls"');
    const args = called.arguments ?? "";
    const text = typeof args === "string" ? args : writeExact(args);
    return { id: call.id, type: "function", function: { name: called.name, arguments: text } };
  });
}

/** Texts without halves of surrogate pairs, and how many had some. */
export function repairOpening(opening: OpeningMessage[]): { opening: OpeningMessage[]; repaired: number } {
  const repaired = opening.filter(({ content }) => wellFormed(content) !== content).length;
  if (repaired === 0) return { opening, repaired };
  return { opening: opening.map((each) => ({ ...each, content: wellFormed(each.content) })), repaired };
}

export function readSetup(setup: Json | undefined, location: Location): PlanCall[] | undefined {
  if (setup === undefined || setup === null) return undefined;
  if (!Array.isArray(setup)) throw new UsageError('"setup" must be a list of calls', location);
  return setup.map((call, index) => {
    const isCall = isObject(call) && typeof call.name === "string" && isObject(call.arguments ?? {});
    if (!isCall) throw new UsageError(`"setup[${index}]" must have a "name" and an object as "arguments"`, location);
    return { name: String(call.name), arguments: (call.arguments ?? {}) as JsonObject };
  });
}

export function readUserTools(tools: Json | undefined, location: Location): string[] | undefined {
  if (tools === undefined || tools === null) return undefined;
  if (!Array.isArray(tools) || !tools.every((tool) => typeof tool === "string" && tool !== ""))
    throw new UsageError('"user_tools" must be a list of tool names (tool, Server.tool or Server.*)', location);
  return tools as string[];
}
