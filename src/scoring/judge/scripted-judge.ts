// `scripted/judge`: judges by plain rules what a model would judge by reading, so that the whole path runs without a key.
// Its votes carry its name; they say nothing about quality.
import { type ModelClient, type ModelRequest, NO_USAGE, parseJson } from "../../core/index.ts";
import { identifiersIn, tells } from "../values.ts";

export function createScriptedJudge(id = "scripted/judge"): ModelClient {
  return {
    id,
    complete: async (request) => ({
      content: JSON.stringify(answerTo(request)),
      toolCalls: [],
      usage: NO_USAGE,
      finish: "stop",
    }),
  };
}

/** An assertion holds if every value in it occurs in the dialogue; a dialogue without tool errors is a good one. */
function answerTo({ system, messages }: ModelRequest): object {
  const text = messages[0]?.content ?? "";
  const assertions = /# Assertions\n\n([\s\S]*)$/.exec(text)?.[1];
  if (assertions !== undefined) {
    const results = assertions.split("\n").map((line, index) => {
      const missing = identifiersIn(line).find((value) => !tells(text.slice(0, text.indexOf("# Assertions")), value));
      return {
        number: index + 1,
        met: missing === undefined,
        reason: missing ? `${missing} does not occur` : "by its values",
      };
    });
    return { results };
  }
  const compared = /# Known answers?(?:, each of them right)?\n\n([\s\S]*)\n\n# Given answer\n\n([\s\S]*)$/.exec(text);
  if (compared) {
    const [, known = "", given = ""] = compared;
    const pass = known.split("\n").some((line) => tells(given, String(parseJson(line.replace(/^- /, "")) ?? line)));
    return { pass, reason: pass ? "the known answer occurs" : "the known answer does not occur" };
  }
  const errors = text.match(/Tool result: \{"error"/g)?.length ?? 0;
  const score = Math.max(1, 5 - errors);
  return system.includes('"score"')
    ? { score, reason: `${errors} tool errors` }
    : { pass: errors === 0, reason: `${errors} tool errors` };
}
