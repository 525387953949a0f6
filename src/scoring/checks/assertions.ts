// `assertions`: sentences about the dialogue that a judge finds met or not (`task_info.assertions`).
import { isObject, type Json } from "../../core/index.ts";
import { type Check, notCheckable } from "../check.ts";
import { askForVerdict, type VerdictShape } from "../judge/ask-judge.ts";
import { transcriptOf } from "../judge/judge-text.ts";

export const assertionsCheck: Check = {
  name: "assertions",
  version: 1,
  needsJudge: true,
  run: (context) => {
    const { assertions, nl_assertions: others } = context.query.taskInfo;
    const list = Array.isArray(assertions) ? assertions : Array.isArray(others) ? others : [];
    if (list.length === 0) return notCheckable("the query states no assertions (task_info.assertions)");
    const lines = list.map((assertion, index) => `${index + 1}. ${String(assertion)}`);
    const text = `${transcriptOf(context)}\n\n# Assertions\n\n${lines.join("\n")}`;
    return askForVerdict(context, { system: SYSTEM, text, read: (answer) => readResults(answer, list.map(String)) });
  },
};

const SYSTEM = `You read a dialogue between a user and a service agent that calls tools, and then a numbered list of assertions about it.
Decide for each assertion whether the dialogue meets it. Judge only by what the dialogue shows.
Answer with JSON only: {"results": [{"number": 1, "met": true or false, "reason": "one short sentence"}, …]}, one for each assertion.`;

function readResults({ results }: Record<string, unknown>, assertions: string[]): VerdictShape | undefined {
  if (!Array.isArray(results) || results.length !== assertions.length) return undefined;
  const read = assertions.map((assertion, index) => {
    const result: unknown = results.find((item) => isObject(item) && item.number === index + 1);
    return isObject(result) && typeof result.met === "boolean"
      ? { assertion, met: result.met, reason: String(result.reason ?? "") }
      : undefined;
  });
  if (read.some((result) => result === undefined)) return undefined;
  const known = read as { assertion: string; met: boolean; reason: string }[];
  const unmet = known.filter(({ met }) => !met);
  const score = 1 - unmet.length / known.length;
  const reason =
    unmet.length === 0
      ? `${known.length} of ${known.length} assertions met`
      : unmet.map(({ assertion, reason: why }) => `not met: ${assertion} (${why})`).join("; ");
  return { pass: unmet.length === 0, score, reason, details: known as Json };
}
