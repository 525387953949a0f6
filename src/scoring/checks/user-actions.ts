// `user_actions`: did the simulated user do what the plan has it do with its own tools? What it only looks at is its own
// affair. An agent that never got the user to act has not solved the task.
import type { Domain } from "../../domains/index.ts";
import { type Check, failed, notCheckable, passed } from "../check.ts";
import { matchRules, wrongArguments } from "../match-arguments.ts";
import { isRead, type ReferenceCall } from "../reference.ts";
import type { RecordedCall } from "../transcript.ts";

export const userActionsCheck: Check = {
  name: "user_actions",
  version: 1,
  run: async ({ reference: findReference, dialogue, domain: known }) => {
    const reference = await findReference();
    if (typeof reference === "string") return notCheckable(reference);
    const domain = known as Domain;
    const wanted = (reference.userCalls ?? []).filter(
      ({ kind, name }) => kind === "write" || (kind === "unplayed" && !isRead(name, domain)),
    );
    if (wanted.length === 0) return notCheckable("the plan asks nothing of the user");
    const missing = findMissing(wanted, dialogue.userCalls, domain);
    if (missing.length === 0) return passed(`the user did all ${wanted.length} of its actions`);
    return failed(`the user did not do ${missing.map(({ name }) => name).join(", ")}`, {
      score: 1 - missing.length / wanted.length,
      details: { missing: missing.map(({ name, arguments: args }) => ({ name, arguments: args })) },
    });
  },
};

function findMissing(wanted: ReferenceCall[], calls: readonly RecordedCall[], domain: Domain): ReferenceCall[] {
  const rules = matchRules({}, domain);
  const left = calls.filter((call) => !call.isError && call.arguments !== undefined);
  return wanted.filter((reference) => {
    const at = left.findIndex(
      ({ name, arguments: args }) =>
        domain.toolbox.wireName(name) === reference.name && wrongArguments(args ?? {}, reference, rules).length === 0,
    );
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}
