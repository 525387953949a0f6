// `answer`: for question sets, whether the prediction is the known answer: numbers as numbers, lists as sets, texts
// ignoring case, articles and punctuation; if texts differ, a judge decides, if there is one.
import type { Json } from "../../core/index.ts";
import { type Check, type CheckContext, failed, notCheckable, passed } from "../check.ts";
import { askForVerdict, readVerdict } from "../judge/ask-judge.ts";
import { numbersIn } from "../values.ts";

export const answerCheck: Check = {
  name: "answer",
  version: 1,
  run: (context) => {
    const expected = context.query.taskInfo.answer as Json | undefined;
    if (expected === undefined || expected === null || expected === "")
      return notCheckable("the question has no known answer");
    const prediction = predictionOf(context);
    if (prediction === "") return failed("no answer was given");
    const said = context.dialogue.agent.at(-1);
    const details = { expected, prediction, at: said ? [said.at] : [] };
    const how = matchAnswer(prediction, expected);
    if (how) return passed(`${how} match`, details);
    return failed(`${JSON.stringify(prediction.slice(0, 120))} instead of ${JSON.stringify(expected)}`, { details });
  },
};

/** If the rules find no match, a judge says whether the answers mean the same. */
export const judgedAnswerCheck: Check = {
  ...answerCheck,
  needsJudge: true,
  settings: { judge: true },
  run: async (context) => {
    const byRule = await answerCheck.run(context);
    if (byRule.pass !== false || !context.judge || predictionOf(context) === "") return byRule;
    const question = context.query.messages.at(-1)?.content ?? "";
    const text = `# Question\n\n${question}\n\n# Known answer\n\n${JSON.stringify(context.query.taskInfo.answer)}\n\n# Given answer\n\n${predictionOf(context)}`;
    return askForVerdict(context, { system: SYSTEM, text, read: readVerdict });
  },
};

const SYSTEM = `You compare a given answer to a question with the known one. It passes if it says the same thing: other words, units or
more detail are fine; a hedge between several answers, or a different one, is not.
Answer with JSON only: {"pass": true or false, "reason": "one short sentence"}`;

function predictionOf({ trajectory, dialogue }: CheckContext): string {
  const { prediction } = trajectory as { prediction?: unknown };
  return typeof prediction === "string" ? prediction : finalAnswer(dialogue.agent.at(-1)?.text ?? "");
}

/** What an agent gives as its answer: the part it marks as such, else the whole reply. */
export function finalAnswer(text: string): string {
  const marked =
    /<answer>([\s\S]*?)<\/answer>/i.exec(text)?.[1] ??
    /\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}/.exec(text)?.[1] ??
    text.match(/^\W*(?:final )?answer\s*(?:is)?\s*[:：]\s*(.+)$/im)?.[1];
  return (marked ?? text).trim();
}

export function matchAnswer(prediction: string, expected: Json): "exact" | "numeric" | "set" | undefined {
  if (Array.isArray(expected)) {
    const items = prediction
      .split(/[,;\n、]|\band\b/)
      .map(foldAnswer)
      .filter((item) => item !== "");
    const wanted = new Set(expected.map((item) => foldAnswer(String(item))));
    return new Set(items).size === wanted.size && items.every((item) => wanted.has(item)) ? "set" : undefined;
  }
  const text = String(expected);
  if (foldAnswer(prediction) === foldAnswer(text)) return "exact";
  const [number, ...others] = numbersIn(text);
  const isNumber = number !== undefined && others.length === 0 && foldAnswer(text).replace(/[\d.,%$€£\s-]/g, "") === "";
  if (!isNumber) return undefined;
  const given = numbersIn(prediction);
  return given.length === 1 && Math.abs((given[0] as number) - number) <= 1e-6 * Math.max(1, Math.abs(number))
    ? "numeric"
    : undefined;
}

function foldAnswer(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\b(the|an?)\b/g, " ")
    .replace(/[^\p{L}\p{N}.%-]+|\.(?!\d)/gu, " ")
    .trim()
    .replace(/\s+/g, " ");
}
