// `communicate`: was the user told what answers their question? The query says what that is (`task_info.must_tell`); it is
// matched as values, and a list stands for alternatives.
import { fillPlaceholders, type Json, type Query, toPlain } from "../../core/index.ts";
import { type Check, failed, notCheckable, passed } from "../check.ts";
import { tells } from "../values.ts";

export const communicateCheck: Check = {
  name: "communicate",
  version: 2,
  run: async ({ query, reference: findReference, dialogue, trajectory }) => {
    const { mode } = trajectory.metadata;
    if (mode !== "positive") return notCheckable(`mode ${mode} offers no tools that could find it out`);
    const listed = listMustTell(query);
    if (!listed) return notCheckable("the query does not say what the user must be told (task_info.must_tell)");
    if (listed.length === 0) return notCheckable("there is nothing that the user must be told");
    let facts = listed;
    if (hasReference(listed)) {
      const reference = await findReference();
      if (typeof reference === "string") return notCheckable(reference);
      facts = toPlain(fillPlaceholders(listed as Json, reference.played)) as Fact[];
      if (hasReference(facts))
        return notCheckable("task_info.must_tell refers to a value that no reference call gives");
    }
    const said = dialogue.agent.map(({ text }) => text).join("\n");
    const missing = facts.filter((fact) => !alternatives(fact).some((value) => tells(said, value)));
    const told = dialogue.agent.filter(({ text }) =>
      facts.some((fact) => alternatives(fact).some((value) => tells(text, value))),
    );
    const details = { facts, missing, at: told.map(({ at }) => at) };
    if (missing.length === 0) return passed(`${facts.length} of ${facts.length} facts told`, details);
    return failed(`the user was not told ${missing.map((fact) => alternatives(fact).join(" or ")).join(", ")}`, {
      score: 1 - missing.length / facts.length,
      details,
    });
  },
};

type Value = string | number;
type Fact = Value | Value[];

/** Other datasets call it `communicate` or `communicate_info`. */
export function listMustTell(query: Query): Fact[] | undefined {
  const { must_tell, communicate, communicate_info } = query.taskInfo;
  const list = must_tell ?? communicate ?? communicate_info;
  if (!Array.isArray(list)) return undefined;
  return list.filter((item) => alternatives(item as Fact).every(isValue)) as Fact[];
}

function isValue(item: unknown): item is Value {
  return typeof item === "string" || typeof item === "number";
}

function alternatives(fact: Fact): Value[] {
  return Array.isArray(fact) ? fact : [fact];
}

function hasReference(facts: Fact[]): boolean {
  return JSON.stringify(facts).includes("{{");
}
