// `assertions`: sentences about the dialogue that a judge finds met or not (`task_info.assertions`).
import { type Check, notCheckable } from "../check.ts";
import { askAboutStatements } from "../judge/statements.ts";

export const assertionsCheck: Check = {
  name: "assertions",
  version: 1,
  needsJudge: true,
  run: (context) => {
    const { assertions, nl_assertions: others } = context.query.taskInfo;
    const list = Array.isArray(assertions) ? assertions : Array.isArray(others) ? others : [];
    if (list.length === 0) return notCheckable("the query states no assertions (task_info.assertions)");
    return askAboutStatements(
      context,
      list.map((assertion) => ({ statement: String(assertion) })),
    );
  },
};
