// Resume is replay: the loop runs again from the start with models that answer from the record first. Tools are executed
// again, and what they return is compared.
import type { Entry, Environment, ModelClient, ModelReply, ToolResultEntry } from "../core/index.ts";

export function withRecord(
  client: ModelClient,
  recorded: readonly Entry[],
  party: "agent" | "user" | "judge",
): ModelClient {
  const replies = recorded.flatMap((entry) => asReply(entry, party));
  if (replies.length === 0) return client;
  return {
    id: client.id,
    complete: async (request, signal) => replies[request.origin.position] ?? client.complete(request, signal),
  };
}

/** Calls with shared effects are not executed again: their recorded results are used. */
export function trustRecord(environment: Environment, recorded: readonly Entry[]): Environment {
  const results = new Map(
    recorded
      .filter((entry): entry is ToolResultEntry => entry.type === "tool-result")
      .map((entry) => [entry.callId, entry]),
  );
  if (results.size === 0 || !environment.trust) return environment;
  return {
    get tools() {
      return environment.tools;
    },
    isReadOnly: (toolName) => environment.isReadOnly(toolName),
    state: () => environment.state(),
    close: () => environment.close(),
    call: async (call, signal) => {
      const result = results.get(call.id);
      if (!result || !environment.trust?.(call, result)) return environment.call(call, signal);
      const { type: _type, callId: _callId, name: _name, at: _at, ...kept } = result;
      return kept;
    },
  };
}

/** Replies come from the record itself; only a tool's result can differ. */
export function differsFromRecord(entry: Entry, recorded: Entry): boolean {
  if (entry.type !== recorded.type) return true;
  if (entry.type !== "tool-result" || recorded.type !== "tool-result") return false;
  return entry.callId !== recorded.callId || entry.content !== recorded.content || entry.isError !== recorded.isError;
}

function asReply(entry: Entry, party: "agent" | "user" | "judge"): ModelReply[] {
  if (entry.type === "verdict" && party === "judge") {
    const content = JSON.stringify({ stop: entry.stop, reason: entry.reason });
    return [{ content, toolCalls: [], usage: entry.usage, finish: "stop" }];
  }
  if (entry.type !== "reply" || entry.by !== party) return [];
  const { type: _type, by: _by, at: _at, rejected: _rejected, ignoredCalls, ...reply } = entry;
  return [ignoredCalls ? { ...reply, toolCalls: ignoredCalls } : reply];
}
