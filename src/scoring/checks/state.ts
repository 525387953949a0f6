// `state`: compares what the agent's calls and the reference's, each in its own fresh environment, left behind.
import type { JsonObject, StateChanges } from "../../core/index.ts";
import { type Check, failed, notCheckable, passed } from "../check.ts";
import type { ReplayedState } from "../replay.ts";
import { compareStates, diffLines, type StateDifference } from "../state-diff.ts";

export const stateCheck: Check = {
  name: "state",
  version: 2,
  run: async ({ reference: findReference, replay, domain, dialogue }) => {
    const reference = await findReference();
    if (typeof reference === "string") return notCheckable(reference);
    const { source, stateless = `the reference (${source}) does not hold enough to be played` } = reference;
    if (!reference.state) return notCheckable(stateless, reference.unreachable ? { blame: "infrastructure" } : {});
    const played = await replay();
    if (typeof played === "string") return notCheckable(played);
    const differences = compareStates(played.state, reference.state, domain?.volatile ?? {});
    if (differences.length === 0) {
      const records = Object.values(reference.state).reduce((sum, rows) => sum + Object.keys(rows).length, 0);
      return passed(
        records === 0 ? "nothing changed, as expected" : `${records} changed records as expected`,
        showStates(played),
      );
    }
    const diff = diffLines(differences);
    const kinds = [...new Set(differences.map(({ kind }) => kind))];
    const at = dialogue.calls
      .filter(({ id }) => differences.some((one) => touches(played, id, one)))
      .map((call) => call.at);
    return failed(diff.join("\n"), {
      details: { diff, kinds, at: [...new Set(at)], ...showStates(played, reference.state) },
    });
  },
};

/** Longer ones are left out: a score is a line among millions. */
const MAX_SHOWN = 64_000;

/**
 * For people who look at the rollout: what each call changed, which adds up to what was left behind; that itself only
 * where calls were not looked at one by one; and, if that differs, what was expected.
 */
function showStates({ state, changes }: ReplayedState, expected?: StateChanges): JsonObject {
  const shown = { ...(changes ? { changes } : { state }), ...(expected && { expected }) };
  return JSON.stringify(shown).length <= MAX_SHOWN ? shown : {};
}

/** Whether the call changed the record that is not as it should be. */
function touches({ changes = {} }: ReplayedState, call: string, { table, id }: StateDifference): boolean {
  return changes[call]?.[table]?.[id] !== undefined;
}
