// Faults of a rollout as people read them.
import type { Mark } from "../api.ts";

type Fault = { type: string; [detail: string]: string };

/** What each kind means; `level` is how it is marked where it happened. */
const WORDS: { [type: string]: (fault: Fault) => Mark } = {
  injected: ({ trouble }) => ({ level: "odd", text: `injected trouble: ${trouble ?? "unknown"}` }),
  unknown_tool: () => ({ level: "bad", text: "there is no tool of that name" }),
  malformed_arguments: () => ({ level: "bad", text: "the arguments are not a JSON object" }),
  invalid_arguments: () => ({ level: "bad", text: "the arguments break the tool's schema" }),
  call_in_flight: () => ({
    level: "odd",
    text: "sent before, and no answer was recorded: it may have taken effect twice",
  }),
  call_id_replaced: ({ original_id }) => ({
    level: "note",
    text: `the model's own id was ${JSON.stringify(original_id)}`,
  }),
  opening_differs: ({ content }) => ({
    level: "odd",
    text: `the opening has this result; made again, the call answered: ${content ?? ""}`,
  }),
  recovered: ({ by }) => ({ level: "odd", text: `calls that the ${by} wrote as text were read from it` }),
  context_full: ({ by }) => ({ level: "odd", text: `the context was full: the ${by} was asked for its last answer` }),
  calls_with_tools_off: ({ by }) => ({ level: "odd", text: `the ${by} made calls although it was offered no tools` }),
  dropped_usage: ({ counts }) => ({ level: "note", text: `counts of the server that cannot be true: ${counts ?? ""}` }),
  other_model: ({ asked, answered }) => ({ level: "odd", text: `${answered} answered, ${asked} was asked` }),
  repaired_text: ({ texts }) => ({ level: "note", text: `broken characters were replaced (${texts ?? ""})` }),
  redacted_secret: ({ texts }) => ({ level: "odd", text: `secrets were struck out (${texts ?? ""})` }),
  shared_state: ({ server }) => ({ level: "note", text: `all rollouts share what ${server} holds` }),
};

/** Why a reply was not used; it was requested again. */
const REJECTED: { [reason: string]: string } = {
  empty_reply: "it was empty",
  truncated_reply: "it was cut off",
  malformed_reply: "the server could not parse it",
  text_call: "it wrote a tool call as text",
  content_filter: "the provider's filter stopped it",
  context_overflow: "the context was full",
  calls_with_tools_off: "it called tools that it was not offered",
  user_calls_tool: "it called a tool, which is the agent's part",
  user_repeats_agent: "it repeated the agent",
  user_speaks_as_assistant: "it spoke as the agent",
  user_truncated: "it was cut off",
};

export function describeFault(fault: Fault): Mark {
  const known = Object.hasOwn(WORDS, fault.type) ? WORDS[fault.type] : undefined;
  if (known) return known(fault);
  const { type, by, content, call_id: _call, ...others } = fault;
  if (by !== undefined && content !== undefined)
    return { level: "odd", text: `a reply of the ${by} was not used: ${describeRejection(type)}` };
  const rest = Object.entries(others).map(([name, value]) => `${name} ${value}`);
  return { level: "odd", text: [type.replaceAll("_", " "), ...rest].join(", ") };
}

export function describeRejection(reason: string): string {
  return Object.hasOwn(REJECTED, reason) ? (REJECTED[reason] as string) : reason.replaceAll("_", " ");
}
