// Stop policy: a list of small predicates over the record, each with its own stop reason. The first that fires decides.
import {
  addUsage,
  type Entry,
  ended,
  NO_USAGE,
  type Outcome,
  type ReplyEntry,
  type ToolResultEntry,
} from "../core/index.ts";

export type Progress = {
  entries: readonly Entry[];
  /** user messages that the agent was asked to answer so far */
  turns: number;
  /** the agent has just answered the user; false in the middle of a turn */
  turnEnded: boolean;
  elapsedMs: number;
};

export type StopCondition = (progress: Progress) => Outcome | undefined;

export function firstStop(conditions: readonly StopCondition[], progress: Progress): Outcome | undefined {
  for (const condition of conditions) {
    const outcome = condition(progress);
    if (outcome) return outcome;
  }
  return undefined;
}

export function maxTurns(limit: number): StopCondition {
  return ({ turns, turnEnded }) =>
    turnEnded && turns >= limit ? ended(limit === 1 ? "agent_done" : "max_turns") : undefined;
}

/** So many turns in a row in which the agent called no tool. */
export function maxNoToolTurns(limit: number): StopCondition {
  return ({ entries, turnEnded }) => {
    if (!turnEnded) return undefined;
    let turns = 0;
    for (const entry of entries.toReversed()) {
      if (entry.type === "tool-result") return undefined;
      if (entry.type !== "reply" || entry.rejected) continue;
      if (entry.by === "agent" && ++turns >= limit) return ended("max_no_tool_turns");
    }
    return undefined;
  };
}

/** The same call with the same result again and again, with no other call between. */
export function repeatedCalls(limit: number): StopCondition {
  return ({ entries }) => {
    const last = playedCalls(entries).slice(-limit);
    if (last.length < limit || entries.at(-1)?.type !== "tool-result") return undefined;
    return last.every((call) => call === last[0]) ? ended("repeated_calls", { blame: "agent" }) : undefined;
  };
}

export function maxToolErrors(limit: number): StopCondition {
  return ({ entries }) => {
    const errors = entries.filter((entry) => entry.type === "tool-result" && entry.isError).length;
    return errors >= limit
      ? ended("too_many_tool_errors", { blame: "agent", message: `${errors} tool errors` })
      : undefined;
  };
}

export function tokenBudget(limit: number): StopCondition {
  return ({ entries }) => {
    const { inputTokens, outputTokens } = usageOf(entries);
    const total = inputTokens + outputTokens;
    return total > limit ? ended("token_budget", { message: `${total} tokens used, ${limit} allowed` }) : undefined;
  };
}

export function costBudget(limit: number): StopCondition {
  return ({ entries }) => {
    const { costUsd } = usageOf(entries);
    return costUsd > limit
      ? ended("cost_budget", { message: `$${costUsd.toFixed(4)} spent, $${limit} allowed` })
      : undefined;
  };
}

export function timeLimit(seconds: number): StopCondition {
  return ({ elapsedMs }) =>
    elapsedMs > seconds * 1000 ? ended("time_limit", { message: `longer than ${seconds} s` }) : undefined;
}

export const COMPLETION_PHRASES: readonly RegExp[] = [
  /\b(have|has) (a (great|good|nice|wonderful|lovely)|an excellent) (day|evening|weekend|afternoon|one)\b/i,
  /\bgood ?bye\b/i,
  /\b(thank you|thanks) for (contacting|reaching out|calling)\b/i,
  /\b(your request|everything|all) (has been|is now|is) (fully )?(completed|taken care of|all set)\b/i,
  /祝您(生活|学习|工作)?愉快|再见|感谢您的(咨询|来电)/,
];

/** The agent's answer says farewell: the dialogue is over although no end token came. */
export function completionPhrases(phrases: readonly RegExp[] = COMPLETION_PHRASES): StopCondition {
  return ({ entries, turnEnded }) => {
    const last = entries.at(-1);
    if (!turnEnded || last?.type !== "reply") return undefined;
    const phrase = phrases.map((pattern) => pattern.exec(last.content)?.[0]).find(Boolean);
    return phrase ? ended("rule_detected", { message: `the agent said "${phrase}"` }) : undefined;
  };
}

export function usageOf(entries: readonly Entry[]) {
  return entries.reduce((sum, entry) => (entry.type === "tool-result" ? sum : addUsage(sum, entry.usage)), NO_USAGE);
}

/** Each answered call as one text: name, arguments, result. */
function playedCalls(entries: readonly Entry[]): string[] {
  const calls = new Map<string, string>();
  for (const entry of entries as readonly (ReplyEntry | ToolResultEntry)[]) {
    if (entry.type === "reply")
      for (const call of entry.toolCalls) calls.set(call.id, `${call.name} ${call.arguments}`);
  }
  return entries.flatMap((entry) =>
    entry.type === "tool-result" ? [`${calls.get(entry.callId)} ${entry.content}`] : [],
  );
}
