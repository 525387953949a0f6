// `quality`: a judge's mark for the agent's part in the dialogue, from 1 to 5.
import { acceptedAnswers } from "../answers/match-answer.ts";
import { type Check, notCheckable } from "../check.ts";
import { askForVerdict, type VerdictShape } from "../judge/ask-judge.ts";
import { transcriptOf } from "../judge/judge-text.ts";
import { QUALITY_PASS } from "../settings.ts";

export function qualityCheck(passMark = QUALITY_PASS): Check {
  return {
    name: "quality",
    version: 2,
    needsJudge: true,
    settings: passMark === QUALITY_PASS ? undefined : { passMark },
    run: (context) => {
      if (acceptedAnswers(context.query.taskInfo).length > 0)
        return notCheckable("a question with a known answer is judged by its answer");
      return askForVerdict(context, {
        system: SYSTEM,
        text: transcriptOf(context, { withPolicy: true }),
        read: (answer) => readMark(answer, passMark),
      });
    },
  };
}

const SYSTEM = `You mark the agent's part in a dialogue with a user: does it find out what the user wants, call the right tools with the right
values, keep to its policy, state only what tools and policy say, and speak clearly and to the point? The user's own mistakes do not
lower the mark. 5 is flawless, 4 good with blemishes, 3 helps but with clear faults, 2 poor, 1 useless or harmful.
Answer with JSON only: {"score": a whole number from 1 to 5, "reason": "one short sentence"}`;

function readMark({ score, reason }: Record<string, unknown>, passMark: number): VerdictShape | undefined {
  if (typeof score !== "number" || !Number.isInteger(score) || score < 1 || score > 5) return undefined;
  return {
    pass: score >= passMark,
    score: (score - 1) / 4,
    reason: `mark ${score}: ${String(reason ?? "")}`,
    details: { mark: score },
  };
}
