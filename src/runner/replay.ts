// Resume is replay: the loop runs again from the start with models that answer from the record first. Tools are executed
// again, and what they return is compared.
import { randomUUID } from "node:crypto";
import {
  type Entry,
  type Environment,
  type EnvironmentCall,
  extend,
  type ModelClient,
  type ModelParty,
  type ModelReply,
  type ReplyEntry,
  type SummaryEntry,
  type ToolResult,
  type ToolResultEntry,
} from "../core/index.ts";

export function withRecord(client: ModelClient, recorded: readonly Entry[], party: ModelParty): ModelClient {
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
  return passOn(environment, async (call, signal) => {
    const result = results.get(call.id);
    if (!result || !environment.trust?.(call, result)) return environment.call(call, signal);
    const { type: _type, callId: _callId, name: _name, at: _at, ...kept } = result;
    return kept;
  });
}

type CallLog = {
  /** the idempotency keys of calls that an earlier attempt sent, by call id */
  sent: ReadonlyMap<string, string>;
  /** resolves when the call would be found in the journal after a kill */
  record(callId: string, key: string): Promise<void>;
};

/**
 * A call with effects that outlive the rollout is in the journal before it is sent. If an earlier attempt sent it and
 * has no answer, it may have taken effect: it is sent again under the same key, and its result says so.
 */
export function announceCalls(environment: Environment, log: CallLog): Environment {
  const announce = async (callId: string) => {
    const key = randomUUID();
    await log.record(callId, key);
    return key;
  };
  return passOn(environment, (call, signal) => {
    const known = log.sent.get(call.id);
    return known === undefined
      ? environment.call(extend(call, { announce: () => announce(call.id) }), signal)
      : callAgain(environment, { ...call, key: known }, signal);
  });
}

async function callAgain(
  environment: Environment,
  { key, ...call }: EnvironmentCall & { key: string },
  signal: AbortSignal,
): Promise<ToolResult> {
  let sentBefore = false;
  const announce = async () => {
    sentBefore = true;
    return key;
  };
  const result = await environment.call({ ...call, announce }, signal);
  return sentBefore ? { ...result, sentBefore } : result;
}

/** What is executed for the first time is handed to `watch`; what is repeated for the sake of its state is not. */
export function watchCalls(
  environment: Environment,
  recorded: readonly Entry[],
  watch: (call: EnvironmentCall, send: () => Promise<ToolResult>) => Promise<ToolResult>,
): Environment {
  const answered = new Set(recorded.flatMap((entry) => (entry.type === "tool-result" ? [entry.callId] : [])));
  return passOn(environment, (call, signal) => {
    const send = () => environment.call(call, signal);
    return answered.has(call.id) ? send() : watch(call, send);
  });
}

/** The same environment with another way to call its tools. */
export function passOn(environment: Environment, call: Environment["call"]): Environment {
  return {
    call,
    tools: environment.tools,
    userTools: environment.userTools,
    opened: environment.opened,
    isReadOnly: (toolName) => environment.isReadOnly(toolName),
    trust: environment.trust && ((call, recorded) => environment.trust?.(call, recorded) ?? false),
    state: () => environment.state(),
    close: () => environment.close(),
  };
}

/** Replies come from the record itself; only a tool's result can differ. */
export function differsFromRecord(entry: Entry, recorded: Entry): boolean {
  if (entry.type !== recorded.type) return true;
  if (entry.type !== "tool-result" || recorded.type !== "tool-result") return false;
  if (entry.by !== recorded.by) return true;
  return entry.callId !== recorded.callId || entry.content !== recorded.content || entry.isError !== recorded.isError;
}

function asReply(entry: Entry, party: ModelParty): ModelReply[] {
  if (entry.type === "verdict" && party === "judge") {
    const content = JSON.stringify({ stop: entry.stop, reason: entry.reason });
    return [{ content, toolCalls: [], usage: entry.usage, finish: "stop" }];
  }
  const isOwn = entry.type === "reply" ? entry.by === party : entry.type === "summary" && party === "summary";
  return isOwn ? [withoutNotes(entry as ReplyEntry | SummaryEntry)] : [];
}

/** As the model gave it. */
function withoutNotes(entry: Omit<ReplyEntry | SummaryEntry, "by"> & { by?: unknown }): ModelReply {
  const { type: _type, by: _by, at: _at, rejected: _rejected, contextFull: _full, ignoredCalls, ...reply } = entry;
  return ignoredCalls ? { ...reply, toolCalls: ignoredCalls } : reply;
}
