// A judge asked about numbered statements on one dialogue: each is met or not.
import { isObject, type Json } from "../../core/index.ts";
import type { CheckContext, CheckResult } from "../check.ts";
import { askForVerdict, type VerdictShape } from "./ask-judge.ts";
import { transcriptOf } from "./judge-text.ts";

type Statement = { statement: string; evidence?: string };

export function askAboutStatements(context: CheckContext, statements: Statement[]): Promise<CheckResult> {
  const lines = statements.map(
    ({ statement, evidence }, index) =>
      `${index + 1}. ${statement}${evidence ? `\n   Evidence:\n   ${evidence.replaceAll("\n", "\n   ")}` : ""}`,
  );
  const text = `${transcriptOf(context)}\n\n# Assertions\n\n${lines.join("\n")}`;
  const texts = statements.map(({ statement }) => statement);
  return askForVerdict(context, { system: SYSTEM, text, read: (answer) => readResults(answer, texts) });
}

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
