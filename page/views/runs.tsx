// Every run: its state, how far it is, and how good.
import type { RunCard } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { PickButton } from "../compare/pick.tsx";
import { writePlace } from "../compare/place.ts";
import { Shown } from "../frame.tsx";
import { useKeys } from "../keys.ts";
import { focused, focusNext } from "../rows.ts";
import { useServer } from "../server.ts";
import { ago, count, dollars, exactTime, share } from "../text.ts";
import "./runs.css";

export function RunsView() {
  const answer = useServer<RunCard[]>("/api/runs", "");
  useKeys(KEYS, "Runs");
  return (
    <Shown answer={answer}>
      {(runs) => (
        <>
          <h1>Runs</h1>
          {runs.length === 0 ? (
            <p>
              There are no runs here yet. <code>npx rollout single --all --bundled</code> makes one without a key; it
              will appear here by itself.
            </p>
          ) : (
            <table class="runs">
              <thead>
                <tr>
                  {COLUMNS.map((title) => (
                    <th key={title} scope="col" class={NUMBERS.has(title) ? "number" : undefined}>
                      {title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {[...runs]
                  .sort((a, b) => b.changedAt - a.changedAt)
                  .map((run) => (
                    <Row key={run.name} run={run} />
                  ))}
              </tbody>
            </table>
          )}
        </>
      )}
    </Shown>
  );
}

const COLUMNS = ["run", "state", "progress", "agent", "datasets", "pass@1", "cost", "age", "compare"] as const;
const NUMBERS = new Set<string>(["pass@1", "cost"]);

const KEYS = {
  "j ArrowDown": { does: "the next run; Enter opens it", act: () => focusNext("a.run", 1) },
  "k ArrowUp": { does: "the one before", act: () => focusNext("a.run", -1) },
  t: { does: "the rollouts of the run that has the focus", act: () => openRollouts() },
  c: {
    does: "compare the run that has the focus; press it at the second one, too",
    act: () => focused("button.pick")?.click(),
  },
};

function openRollouts(): void {
  const name = focused("a.run")?.textContent;
  if (name) Address.go(pathTo("run", name, "rollouts"));
}

function Row({ run }: { run: RunCard }) {
  const {
    name,
    state,
    trouble,
    planned,
    done,
    failed,
    agents,
    datasets,
    passAt1,
    costUsd,
    changedAt,
    scripted,
    startedAt,
    running,
  } = run;
  return (
    <tr>
      <th scope="row">
        <a class="run" href={pathTo("run", name)}>
          {name}
        </a>
      </th>
      <td data-title="state">
        <span class={`state ${state}`}>{state}</span>
        {trouble && <div class="small trouble">{trouble}</div>}
      </td>
      <td data-title="progress" class="progress">
        <progress max={Math.max(planned, 1)} value={done} aria-label={`${done} of ${planned}`} />{" "}
        <span class="nowrap">
          {count(done)}/{count(planned)}
        </span>
        {running > 0 && <span class="small"> {count(running)} running</span>}
        {failed > 0 && <span class="bad nowrap"> {count(failed)} failed</span>}
      </td>
      <td data-title="agent" class="words">
        {agents.join(", ")}
        {scripted && <div class="small">no model's output</div>}
      </td>
      <td data-title="datasets" class="words" title={datasets.join(", ")}>
        {datasets.length > 3 ? `${datasets.length} datasets` : datasets.join(", ")}
      </td>
      <td data-title="pass@1" class="number">
        {passAt1 ? share(passAt1.value) : "–"}
        {passAt1?.low !== undefined && passAt1.high !== undefined && (
          <div class="small">
            {share(passAt1.low)} – {share(passAt1.high)}
          </div>
        )}
      </td>
      <td data-title="cost" class="number">
        {dollars(costUsd)}
      </td>
      <td data-title="age" class="nowrap" title={exactTime(state === "running" ? startedAt : changedAt)}>
        {state === "running" ? `began ${ago(startedAt)}` : ago(changedAt)}
      </td>
      <td data-title="compare">
        <PickButton place={writePlace(name)} name={name} />
      </td>
    </tr>
  );
}
