// Two rollouts or two runs side by side; what they are is in the address.
import type { CompareChoices, RunCard } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { type ComparedPlace, pathToCompare, readPlace, writePlace } from "../compare/place.ts";
import { CompareRollouts } from "../compare/rollouts.tsx";
import { CompareRuns } from "../compare/runs.tsx";
import { Shown } from "../frame.tsx";
import { useKeys } from "../keys.ts";
import { focusNext } from "../rows.ts";
import { useServer } from "../server.ts";
import { share } from "../text.ts";
import "./dialogue.css";
import "./compare.css";

export function CompareView() {
  const [a, b] = ["a", "b"].map((name) => readPlace(Address.params.get(name)));
  if (!a) return <ChooseRun />;
  if (!b)
    return a.id === undefined ? <ChooseRun first={a.run} /> : <ChooseRollout first={a as Required<ComparedPlace>} />;
  if (a.id === undefined && b.id === undefined) return <CompareRuns a={a.run} b={b.run} />;
  if (a.id === undefined || b.id === undefined)
    return <p role="alert">A run and a rollout cannot be compared: both must be runs, or both rollouts.</p>;
  return <CompareRollouts a={a as Required<ComparedPlace>} b={b as Required<ComparedPlace>} />;
}

const KEYS = {
  "j ArrowDown": { does: "the next choice; Enter takes it", act: () => focusNext("a.choice", 1) },
  "k ArrowUp": { does: "the one before", act: () => focusNext("a.choice", -1) },
};

function ChooseRun({ first }: { first?: string }) {
  const answer = useServer<RunCard[]>("/api/runs", "");
  useKeys(KEYS, "Choosing");
  return (
    <Shown answer={answer}>
      {(runs) => (
        <>
          <h1>{first === undefined ? "Compare two runs: which is the first?" : `Compare ${first} with …`}</h1>
          {runs.every(({ name }) => name === first) && (
            <p>
              There is no other run here. Make one with another model or seed, or start <code>npx rollout view</code>{" "}
              with the folder of both.
            </p>
          )}
          <ul class="choices">
            {runs
              .filter(({ name }) => name !== first)
              .map(({ name, agents, datasets, passAt1 }) => (
                <li key={name}>
                  <a
                    class="choice"
                    href={
                      first === undefined
                        ? pathToCompare(writePlace(name))
                        : pathToCompare(writePlace(first), writePlace(name))
                    }
                  >
                    {name}
                  </a>{" "}
                  <span class="small">
                    {[
                      agents.join(", "),
                      datasets.slice(0, 3).join(", "),
                      passAt1 ? `pass@1 ${share(passAt1.value)}` : "",
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </span>
                </li>
              ))}
          </ul>
        </>
      )}
    </Shown>
  );
}

function ChooseRollout({ first: { run, dataset, id } }: { first: Required<ComparedPlace> }) {
  const answer = useServer<CompareChoices>(`/api${pathTo("run", run, "rollout", dataset, id)}/others`, run);
  useKeys(KEYS, "Choosing");
  return (
    <Shown answer={answer}>
      {(choices) => (
        <>
          <h1>Compare {id} with …</h1>
          {choices.length === 0 && (
            <p>
              No run here has another rollout of this query; <code>--rollouts 4</code> makes four of each.
            </p>
          )}
          <ul class="choices">
            {choices.map((other) => (
              <li key={`${other.run} ${other.id}`}>
                <a
                  class="choice"
                  href={pathToCompare(writePlace(run, dataset, id), writePlace(other.run, other.dataset, other.id))}
                >
                  {other.id}
                </a>{" "}
                {other.run === run ? "in this run" : `in ${other.run}`}: {other.verdict}, {other.stopReason}
              </li>
            ))}
          </ul>
        </>
      )}
    </Shown>
  );
}
