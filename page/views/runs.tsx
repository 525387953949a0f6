// Every run: its state, how far it is, and how good.
import type { RunCard } from "../../src/viewer/api.ts";
import { pathTo } from "../address.ts";
import { PickButton } from "../compare/pick.tsx";
import { writePlace } from "../compare/place.ts";
import { Shown } from "../frame.tsx";
import { useServer } from "../server.ts";
import { ago, count, dollars, share } from "../text.ts";
import "./runs.css";

export function RunsView() {
  const answer = useServer<RunCard[]>("/api/runs", "");
  return (
    <Shown answer={answer}>
      {(runs) => (
        <>
          <h1>Runs</h1>
          {runs.length === 0 ? (
            <p>
              There are no runs here yet. <code>npx rollout run --config configs/example.yml</code> makes one; it will
              appear here by itself.
            </p>
          ) : (
            <table class="runs">
              <thead>
                <tr>
                  {["run", "state", "progress", "agent", "datasets", "pass@1", "cost", "age", "compare"].map(
                    (title) => (
                      <th key={title} scope="col">
                        {title}
                      </th>
                    ),
                  )}
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
        <a href={pathTo("run", name)}>{name}</a>
      </th>
      <td data-title="state">
        <span class={`state ${state}`}>{state}</span>
        {trouble && <div class="small">{trouble}</div>}
      </td>
      <td data-title="progress">
        <progress max={Math.max(planned, 1)} value={done} aria-label={`${done} of ${planned}`} /> {count(done)}/
        {count(planned)}
        {running > 0 && <span class="small"> {count(running)} running</span>}
        {failed > 0 && <span class="bad"> {count(failed)} failed</span>}
      </td>
      <td data-title="agent">
        {agents.join(", ")}
        {scripted && <span class="small"> (no model's output)</span>}
      </td>
      <td data-title="datasets">{datasets.length > 3 ? `${datasets.length} datasets` : datasets.join(", ")}</td>
      <td data-title="pass@1">
        {passAt1 ? share(passAt1.value) : "–"}
        {passAt1?.low !== undefined && passAt1.high !== undefined && (
          <div class="small">
            {share(passAt1.low)} – {share(passAt1.high)}
          </div>
        )}
      </td>
      <td data-title="cost">{dollars(costUsd)}</td>
      <td data-title="age" title={new Date(changedAt).toLocaleString("en")}>
        {state === "running" ? `began ${ago(startedAt)}` : ago(changedAt)}
      </td>
      <td data-title="compare">
        <PickButton place={writePlace(name)} name={name} />
      </td>
    </tr>
  );
}
