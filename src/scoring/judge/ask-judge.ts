// A check's result from a judge's votes: the majority of the readable ones. A judge that gave none has failed, and
// that is never held against the agent.
import type { Blame, Json } from "../../core/index.ts";
import { type CheckContext, type CheckResult, notCheckable } from "../check.ts";
import type { Question } from "./judge.ts";

export type VerdictShape = { pass: boolean; score: number; reason: string; details?: Json };
export type JudgedQuestion = Pick<Question<VerdictShape>, "system" | "text" | "read"> & { blame?: Blame };

export async function askForVerdict(
  context: CheckContext,
  { blame = "agent", ...question }: JudgedQuestion,
): Promise<CheckResult> {
  const { judge, trajectory, signal } = context;
  if (!judge) return notCheckable("no judge model was named (--judge-model)");
  const { dataset, query_id: queryId, rollout, metadata } = trajectory;
  const origin = { dataset, queryId, rollout, seed: metadata.seed, mode: metadata.mode };
  const votes = await judge.ask({ ...question, origin }, signal);
  const details: Json = {
    judge: judge.id,
    votes: votes.map((vote) => ("answer" in vote ? vote.answer : vote) as Json),
  };
  const answers = votes.flatMap((vote) => ("answer" in vote ? [vote.answer] : []));
  if (answers.length === 0) {
    const [first] = votes;
    const error = first && "error" in first ? first.error : "no vote";
    return notCheckable(`the judge failed: ${error}`, { blame: "judge", details });
  }
  const inFavour = answers.filter(({ pass }) => pass).length;
  const pass = inFavour * 2 > answers.length;
  const score = answers.reduce((sum, answer) => sum + answer.score, 0) / answers.length;
  const deciding = answers.find((answer) => answer.pass === pass);
  const reason = `${votes.length > 1 ? `${inFavour} of ${answers.length} votes; ` : ""}${deciding?.reason ?? ""}`;
  return { pass, score, reason, blame: pass ? undefined : blame, details };
}

/** The plainest answer: pass or not, and why. */
export function readVerdict(answer: Record<string, unknown>): VerdictShape | undefined {
  if (typeof answer.pass !== "boolean") return undefined;
  return { pass: answer.pass, score: answer.pass ? 1 : 0, reason: String(answer.reason ?? "") };
}
