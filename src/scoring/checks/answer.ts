// `answer`: for question sets, whether the prediction is the known answer, or one of the accepted ones. If matching finds
// that it is not, a judge decides, if there is one; what matching alone says is kept beside it.
import { type Json, writeExact } from "../../core/index.ts";
import { readAnswer } from "../answers/answer-format.ts";
import { acceptedAnswers, type KnownAnswer, matchAnswer } from "../answers/match-answer.ts";
import { type Check, type CheckContext, type CheckResult, failed, notCheckable, passed } from "../check.ts";
import { askForVerdict, readVerdict } from "../judge/ask-judge.ts";

export const answerCheck: Check = {
  name: "answer",
  version: 2,
  run: (context) => {
    const known = knownAnswer(context);
    const expected = (known.answer ?? known.answers) as Json;
    if (acceptedAnswers(known).length === 0) return notCheckable("the question has no known answer");
    const prediction = predictionOf(context);
    if (prediction === "") return failed(whyNone(context));
    const said = context.dialogue.agent.at(-1);
    const details = { expected, prediction, at: said ? [said.at] : [] };
    const how = matchAnswer(prediction, known, questionOf(context));
    if (how) return passed(`${how} match`, details);
    return failed(`${JSON.stringify(prediction.slice(0, 120))} instead of ${writeExact(expected)}`, { details });
  },
};

/** If the rules find no match, a judge says whether the answers mean the same. */
export const judgedAnswerCheck: Check = {
  ...answerCheck,
  needsJudge: true,
  settings: { judge: true },
  run: async (context) => {
    const byRule = await answerCheck.run(context);
    if (byRule.pass === null) return byRule;
    const matched = byRule.pass;
    if (matched || !context.judge || predictionOf(context) === "") return { ...byRule, matched };
    const { details, ...verdict } = await askForVerdict(context, {
      system: SYSTEM,
      text: judgedText(context),
      read: readVerdict,
    });
    return { ...verdict, matched, details: { ...(byRule.details as object), ...(details as object) } } as CheckResult;
  },
};

const SYSTEM = `You compare a given answer to a question with the known one. It passes if it says the same thing: other words, units or
more detail are fine; a hedge between several answers, or a different one, is not.
Answer with JSON only: {"pass": true or false, "reason": "one short sentence"}`;

function judgedText(context: CheckContext): string {
  const accepted = acceptedAnswers(knownAnswer(context));
  const known =
    accepted.length === 1
      ? `# Known answer\n\n${writeExact(accepted[0])}`
      : `# Known answers, each of them right\n\n${accepted.map((answer) => `- ${writeExact(answer)}`).join("\n")}`;
  return `# Question\n\n${questionOf(context)}\n\n${known}\n\n# Given answer\n\n${predictionOf(context)}`;
}

function knownAnswer({ query }: CheckContext): KnownAnswer {
  return query.taskInfo as KnownAnswer;
}

function questionOf({ query }: CheckContext): string {
  return query.messages.findLast(({ role }) => role === "user")?.content ?? "";
}

function predictionOf({ trajectory, dialogue, answerFormat }: CheckContext): string {
  const { prediction } = trajectory as { prediction?: unknown };
  return typeof prediction === "string" ? prediction : readAnswer(dialogue.agent.at(-1)?.text ?? "", answerFormat);
}

function whyNone({ dialogue }: CheckContext): string {
  return (dialogue.agent.at(-1)?.text ?? "").trim() === "" ? "no answer was given" : "no answer was marked";
}
