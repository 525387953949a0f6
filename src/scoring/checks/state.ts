// `state`: compares what the agent's calls and the reference's, each in its own fresh environment, left behind.
import { type Check, failed, notCheckable, passed } from "../check.ts";
import { compareStates, diffLines } from "../state-diff.ts";

export const stateCheck: Check = {
  name: "state",
  version: 2,
  run: async ({ reference: findReference, replay, domain }) => {
    const reference = await findReference();
    if (typeof reference === "string") return notCheckable(reference);
    const { source, stateless = `the reference (${source}) does not hold enough to be played` } = reference;
    if (!reference.state) return notCheckable(stateless, reference.unreachable ? { blame: "infrastructure" } : {});
    const played = await replay();
    if (typeof played === "string") return notCheckable(played);
    const differences = compareStates(played.state, reference.state, domain?.volatile ?? {});
    if (differences.length === 0) {
      const records = Object.values(reference.state).reduce((sum, rows) => sum + Object.keys(rows).length, 0);
      return passed(records === 0 ? "nothing changed, as expected" : `${records} changed records as expected`);
    }
    const diff = diffLines(differences);
    return failed(diff.join("\n"), { details: { diff, kinds: [...new Set(differences.map(({ kind }) => kind))] } });
  },
};
