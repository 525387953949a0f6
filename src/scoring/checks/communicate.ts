// `communicate`: was the user told what they had to be told? Facts are the query's own list (`task_info.communicate`), else
// the hard values of the plan's closing words; they are matched as values.
import { type Check, failed, notCheckable, passed } from "../check.ts";
import { listStatedFacts } from "../reference.ts";
import { tells } from "../values.ts";

export const communicateCheck: Check = {
  name: "communicate",
  version: 1,
  run: async ({ query, reference: findReference, dialogue }) => {
    const stated = listStatedFacts(query);
    const reference = stated ? undefined : await findReference();
    if (typeof reference === "string") return notCheckable(reference);
    const facts = stated ?? reference?.facts ?? [];
    if (facts.length === 0) return notCheckable("nothing is written down that the user must be told");
    const said = dialogue.agent.map(({ text }) => text).join("\n");
    const missing = facts.filter((fact) => !tells(said, fact));
    const details = { facts, missing };
    if (missing.length === 0) return passed(`${facts.length} of ${facts.length} facts told`, details);
    return failed(`the user was not told ${missing.map((fact) => JSON.stringify(fact)).join(", ")}`, {
      score: 1 - missing.length / facts.length,
      details,
    });
  },
};
