// A trajectory's messages taken apart, for checks: each call with its result, and what was said to whom, in order.
import { findErrors, isObject, type JsonObject, parseJson, type Trajectory } from "../core/index.ts";

export type RecordedCall = {
  id: string;
  /** as the agent wrote it */
  name: string;
  text: string;
  /** undefined if the text is not a JSON object */
  arguments: JsonObject | undefined;
  result: string;
  isError: boolean;
  /** the tool itself broke down, as opposed to answering that something is not allowed or not found */
  isTrouble: boolean;
  /** the tool asked for consent and did nothing yet */
  isPreview: boolean;
  /** index of the message that holds the call; of the message before which it was made, if it is the user's */
  at: number;
};

type Said = { text: string; at: number };

export type Transcript = {
  /** only answered ones: a call in a reply that broke off was never made; without those of the query's opening */
  calls: RecordedCall[];
  /** with the simulated user's own tools */
  userCalls: RecordedCall[];
  /** to the user */
  agent: Said[];
  user: Said[];
};

export function readTranscript(trajectory: Trajectory): Transcript {
  const { messages, metadata } = trajectory;
  const results = new Map(
    messages.flatMap((message) => (message.role === "tool" ? [[message.tool_call_id, message.content] as const] : [])),
  );
  const faults = new Map((metadata.faults ?? []).flatMap((fault) => (fault.call_id ? [[fault.call_id, fault]] : [])));
  const errors = findErrors(trajectory);
  const dialogue: Transcript = { calls: [], userCalls: [], agent: [], user: [] };
  const read = (call: { id: string; name: string; text: string; result: string; at: number }, isError: boolean) => {
    const { id, text, result } = call;
    const args = text.trim() === "" ? {} : parseJson(text);
    const isWellFormed = isObject(args);
    return {
      ...call,
      arguments: isWellFormed ? (args as JsonObject) : undefined,
      isError: !isWellFormed || REFUSED.has(faults.get(id)?.type ?? "") || isError,
      isTrouble: faults.get(id)?.type === "injected" || (isError && TROUBLE.test(result)),
      isPreview: isPreviewText(result),
    };
  };
  for (const { party, after: at, id, name, arguments: text, content: result, is_error } of trajectory.other_calls ?? [])
    if (party === "user") dialogue.userCalls.push(read({ id, name, text, result, at }, is_error));
  for (const [at, message] of messages.entries()) {
    if (message.role === "user") dialogue.user.push({ text: message.content, at });
    if (message.role !== "assistant") continue;
    // text next to a call is a note to itself: the user sees only replies without calls
    if (!message.tool_calls?.length && message.content.trim() !== "")
      dialogue.agent.push({ text: message.content, at });
    for (const { id, function: called } of message.tool_calls ?? []) {
      const result = results.get(id);
      if (result === undefined || at < (metadata.opening_messages ?? 0)) continue;
      dialogue.calls.push(read({ id, name: called.name, text: called.arguments, result, at }, errors.has(id)));
    }
  }
  return dialogue;
}

export function isPreviewText(result: string): boolean {
  if (!result.includes('"needs_confirmation"')) return false;
  const value = parseJson(result);
  return isObject(value) && value.needs_confirmation === true;
}

const REFUSED = new Set(["unknown_tool", "malformed_arguments", "invalid_arguments"]);

const TROUBLE =
  /time[ds]? ?out|gateway|internal server error|service unavailable|\b50[0-4]\b|\b429\b|too many requests|rate limit|quota exceeded|connection to the|the tool failed|crashed/i;
