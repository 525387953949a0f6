// One run: how far it is, what it waits for, what failed, and the pictures.
import type { ComponentChildren } from "preact";
import type { RunView as Run } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { pathToCompare, writePlace } from "../compare/place.ts";
import { Shown } from "../frame.tsx";
import { useKeys } from "../keys.ts";
import { rolloutsWhere } from "../pictures.tsx";
import { quote } from "../quote.ts";
import { Columns, Finished, PassCurves } from "../run-pictures.tsx";
import { useServer } from "../server.ts";
import { count, dollars, duration, exactTime, share } from "../text.ts";
import { Workers } from "../workers.tsx";
import "./run.css";

export function RunView({ name }: { name: string }) {
  const answer = useServer<Run>(`/api${pathTo("run", name)}`, name);
  const to = (does: string, path: string) => ({ does, act: () => Address.go(path) });
  const compare = pathToCompare(writePlace(name));
  useKeys(
    {
      t: to("the table of rollouts", pathTo("run", name, "rollouts")),
      r: to("review all rollouts one after the other", pathTo("run", name, "review")),
      c: to("compare with another run", compare),
    },
    "This run",
  );
  return (
    <Shown answer={answer}>
      {(run) => (
        <>
          <h1>
            {name} <span class={`state ${run.card.state}`}>{run.card.state}</span>
          </h1>
          {run.card.scripted && <p class="small">Scripted models took part: what they said is no model's output.</p>}
          {run.card.trouble && <p role="alert">It cannot be read: {run.card.trouble}</p>}
          {run.notes.map((note) => (
            <p key={note} class="odd">
              {note}
            </p>
          ))}
          {run.journalRead < 1 && (
            <p role="status">
              Reading … {Math.floor(run.journalRead * 100)} %; the table of rollouts is there before the totals.
            </p>
          )}
          <Facts run={run} name={name} />
          <p class="actions">
            <a class="action" href={pathTo("run", name, "rollouts")}>
              All {count(run.card.done)} rollouts<kbd>t</kbd>
            </a>
            {run.card.done > 0 && (
              <a class="action" href={pathTo("run", name, "review")} title="Review them one after the other">
                Review<kbd>r</kbd>
              </a>
            )}
            <a class="action" href={compare}>
              Compare<kbd>c</kbd>
            </a>
          </p>
          <Workers workers={run.workers} />
          <Failures run={run} name={name} />
          <div class="pictures">
            <div class="stack">
              <Progress run={run} name={name} />
              {run.card.state === "running" && <InFlight run={run} name={name} />}
            </div>
            <Finished charts={run.charts} name={name} />
            <PassCurves numbers={run.numbers} name={name} />
          </div>
          <Columns charts={run.charts} name={name} />
        </>
      )}
    </Shown>
  );
}

type Fact = [label: string, value: ComponentChildren, title?: string];

function Facts({ run, name }: { run: Run; name: string }) {
  const { card, totals, stopped, resume } = run;
  const isRunning = card.state === "running";
  const facts: (Fact | false)[] = [
    ["done", `${count(card.done)} of ${count(card.planned)}`],
    card.failed > 0 && ["failed", <span class="bad">{count(card.failed)}</span>],
    isRunning && ["running now", count(card.running)],
    ["rate", totals.perSecond > 0 ? `${totals.perSecond.toFixed(totals.perSecond < 10 ? 1 : 0)} a second` : "–"],
    [
      "time",
      run.journalRead < 1 ? "…" : duration(totals.secondsElapsed),
      card.startedAt ? `began ${exactTime(card.startedAt)}` : undefined,
    ],
    isRunning && [
      "time left",
      totals.secondsLeft === undefined ? "not known yet" : `about ${duration(totals.secondsLeft)}`,
    ],
    ["cost", costText(run)],
    ["tokens", totals.tokens === 0 && totals.scriptedTokens > 0 ? "scripted, not counted" : count(totals.tokens)],
    ["tool calls", count(totals.toolCalls)],
    ["pass@1", passText(run)],
    annotatedFact(run, name),
    ["agent", card.agents.join(", ") || "–"],
  ];
  return (
    <>
      <dl class="facts">
        {facts
          .filter((fact) => fact !== false)
          .map(([label, value, title]) => (
            <div key={label} title={title}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {stopped && <p class="bad stopped">{stopped}</p>}
      {resume && (
        <p>
          To continue: <code>{resume}</code>
        </p>
      )}
      {!card.passAt1 && !isRunning && card.done > 0 && (
        <p>
          Not scored yet: <code>npx rollout eval {quote(card.folder)}</code> scores it, and its pictures appear here.
        </p>
      )}
    </>
  );
}

function costText({ card, totals: { projectedCostUsd } }: Run): string {
  const isOpen = projectedCostUsd !== undefined && card.state === "running";
  return `${dollars(card.costUsd)}${isOpen ? ` of about ${dollars(projectedCostUsd)}` : ""}`;
}

function passText({ card: { passAt1 } }: Run): string {
  if (!passAt1) return "not scored";
  const { value, low, high } = passAt1;
  return `${share(value)}${low === undefined || high === undefined ? "" : ` (${share(low)} – ${share(high)})`}`;
}

/** How many of the rollouts somebody has judged, and which. */
function annotatedFact({ charts: { annotations } }: Run, name: string): Fact | false {
  const said = annotations.filter(({ label }) => label !== "none");
  const number = said.reduce((sum, bar) => sum + bar.count, 0);
  if (number === 0) return false;
  return ["annotated", <a href={rolloutsWhere(name, said.map(({ where }) => where).join("&"))}>{count(number)}</a>];
}

function Progress({ run: { datasets }, name }: { run: Run; name: string }) {
  return (
    <section class="picture" aria-label="Progress by dataset">
      <h2>Progress by dataset</h2>
      <table class="plain">
        <thead class="hidden">
          <tr>
            <th scope="col">dataset</th>
            <th scope="col">done</th>
          </tr>
        </thead>
        <tbody>
          {datasets.map(({ name: dataset, planned, done, failed }) => (
            <tr key={dataset}>
              <th scope="row">
                <a href={rolloutsWhere(name, new URLSearchParams({ dataset }).toString())}>{dataset}</a>
              </th>
              <td class="number">
                <progress max={Math.max(planned, 1)} value={done} aria-label={`${dataset}: ${done} of ${planned}`} />{" "}
                {count(done)}/{count(planned)}
                {failed > 0 && <div class="bad">{count(failed)} failed</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function InFlight({ run, name }: { run: Run; name: string }) {
  const { endpoints, backingOff, retries, slowCalls, totals } = run;
  const waiting = Object.entries(backingOff).filter(([, number]) => number > 0);
  const again = Object.entries(retries).filter(([, number]) => number > 0);
  return (
    <section class="picture" aria-label="In flight">
      <h2>In flight</h2>
      {endpoints.length + waiting.length + slowCalls.length + totals.slowest.length === 0 && (
        <p class="small">No endpoint is asked over the network right now.</p>
      )}
      <ul>
        {endpoints.map(({ endpoint, inFlight, waiting: queued, hold }) => (
          <li key={endpoint}>
            {endpoint}: {count(inFlight)} in flight, {count(queued)} waiting
            {hold && ` (${hold.reason}${hold.until ? `, until ${hold.until.slice(11, 19)} UTC` : ""})`}
          </li>
        ))}
        {waiting.length > 0 && <li>Waiting to be tried again: {countsOf(waiting)}</li>}
        {again.length > 0 && <li>Tried again so far: {countsOf(again)}</li>}
        {slowCalls.map(({ id, dataset, who, seconds }) => (
          <li key={`${dataset} ${id} ${who}`}>
            Slow: <a href={pathTo("run", name, "rollout", dataset, id)}>{id}</a>, {who}, {duration(seconds)}
          </li>
        ))}
        {totals.slowest.map(({ id, dataset, seconds }) => (
          <li key={`${dataset} ${id}`}>
            Running longest: <a href={pathTo("run", name, "rollout", dataset, id)}>{id}</a>, {duration(seconds)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function countsOf(numbers: [string, number][]): string {
  return numbers.map(([what, number]) => `${count(number)} × ${what}`).join(", ");
}

function Failures({ run: { failures }, name }: { run: Run; name: string }) {
  if (failures.length === 0) return null;
  return (
    <section class="picture" aria-label="Failures">
      <h2>Failures</h2>
      <ul class="failures">
        {failures.map(({ reason, kind, count: number, advice, example }) => (
          <li key={`${kind} ${reason}`}>
            <strong class="bad">
              {count(number)} × {kind}
            </strong>{" "}
            {reason}
            {advice && <div>{advice}</div>}
            {example && (
              <div>
                <a href={pathTo("run", name, "rollout", example.dataset, example.id)}>One of them: {example.id}</a>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
