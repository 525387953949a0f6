// One run: how far it is, what it waits for, what failed, and the pictures.
import type { ComponentChildren } from "preact";
import type { CheckBars, RunView as Run } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { Shown } from "../frame.tsx";
import { useKeys } from "../keys.ts";
import { Bars, type Curve, Curves, rolloutsWhere } from "../pictures.tsx";
import { useServer } from "../server.ts";
import { count, dollars, duration, share } from "../text.ts";
import { Workers } from "../workers.tsx";
import "./run.css";

export function RunView({ name }: { name: string }) {
  const answer = useServer<Run>(`/api${pathTo("run", name)}`, name);
  useKeys({ t: { does: "the table of rollouts", act: () => Address.go(pathTo("run", name, "rollouts")) } }, "Run");
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
          <Facts run={run} />
          <p>
            <a class="action" href={pathTo("run", name, "rollouts")}>
              All {count(run.card.done)} rollouts
            </a>
          </p>
          <Live run={run} name={name} />
          <Workers workers={run.workers} />
          <Failures run={run} name={name} />
          <Pictures run={run} name={name} />
        </>
      )}
    </Shown>
  );
}

function Facts({ run: { card, totals, stopped, resume } }: { run: Run }) {
  const { passAt1 } = card;
  const isRunning = card.state === "running";
  const facts: [string, ComponentChildren][] = [
    ["done", `${count(card.done)} of ${count(card.planned)}`],
    ...(card.failed > 0
      ? [["failed", <span class="bad">{count(card.failed)}</span>] as [string, ComponentChildren]]
      : []),
    ...(isRunning ? [["running now", count(card.running)] as [string, ComponentChildren]] : []),
    ["rate", totals.perSecond > 0 ? `${totals.perSecond.toFixed(totals.perSecond < 10 ? 1 : 0)} a second` : "–"],
    ["time", duration(totals.secondsElapsed)],
    ...(isRunning
      ? [
          [
            "time left",
            totals.secondsLeft === undefined ? "not known yet" : `about ${duration(totals.secondsLeft)}`,
          ] as [string, ComponentChildren],
        ]
      : []),
    [
      "cost",
      `${dollars(card.costUsd)}${totals.projectedCostUsd !== undefined && isRunning ? ` of about ${dollars(totals.projectedCostUsd)}` : ""}`,
    ],
    ["tokens", totals.tokens === 0 && totals.scriptedTokens > 0 ? "scripted, not counted" : count(totals.tokens)],
    ["tool calls", count(totals.toolCalls)],
    [
      "pass@1",
      passAt1
        ? `${share(passAt1.value)}${passAt1.low === undefined || passAt1.high === undefined ? "" : ` (${share(passAt1.low)} – ${share(passAt1.high)})`}`
        : "not scored",
    ],
    ["agent", card.agents.join(", ") || "–"],
  ];
  return (
    <>
      <dl class="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {stopped && <p class="bad">{stopped}</p>}
      {resume && (
        <p>
          To continue: <code>{resume}</code>
        </p>
      )}
    </>
  );
}

function Live({ run, name }: { run: Run; name: string }) {
  const { datasets, endpoints, backingOff, retries, slowCalls, totals } = run;
  const waiting = Object.entries(backingOff).filter(([, number]) => number > 0);
  const again = Object.entries(retries).filter(([, number]) => number > 0);
  return (
    <div class="pictures">
      <section class="picture" aria-label="Progress by dataset">
        <h2>Progress by dataset</h2>
        <table class="plain">
          <tbody>
            {datasets.map(({ name: dataset, planned, done, failed }) => (
              <tr key={dataset}>
                <th scope="row">
                  <a href={rolloutsWhere(name, new URLSearchParams({ dataset }).toString())}>{dataset}</a>
                </th>
                <td>
                  <progress max={Math.max(planned, 1)} value={done} aria-label={`${dataset}: ${done} of ${planned}`} />{" "}
                  {count(done)}/{count(planned)}
                  {failed > 0 && <span class="bad"> {count(failed)} failed</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {run.card.state === "running" && (
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
      )}
    </div>
  );
}

function countsOf(numbers: [string, number][]): string {
  return numbers.map(([what, number]) => `${count(number)} × ${what}`).join(", ");
}

function Failures({ run: { failures }, name }: { run: Run; name: string }) {
  if (failures.length === 0) return null;
  return (
    <section aria-label="Failures">
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

function Pictures({ run: { charts, numbers }, name }: { run: Run; name: string }) {
  return (
    <div class="pictures">
      {charts.finished.length > 1 && (
        <Curves
          title="Finished over time"
          isTime
          curves={[
            {
              label: "finished",
              colour: "--link",
              points: charts.finished.map(({ at, total, where }) => ({
                x: at,
                y: total,
                label: `${count(total)} finished by ${new Date(at * 1000).toLocaleTimeString("en")}`,
                href: rolloutsWhere(name, where),
              })),
            },
          ]}
        />
      )}
      <PassCurves numbers={numbers} name={name} />
      <Bars title="Verdicts" bars={charts.verdicts} run={name} />
      <Checks checks={charts.checks} name={name} />
      <Bars title="Blame" bars={charts.blame} run={name} />
      <Bars title="Stop reasons" bars={charts.stopReasons} run={name} />
      <Bars title="Scores" bars={charts.scores} run={name} />
      <Bars title="Turns" bars={charts.turns} run={name} />
      <Bars title="Steps" bars={charts.steps} run={name} note="Replies of the agent." />
      <Bars title="Tool calls" bars={charts.toolCalls} run={name} />
      <Bars title="Tokens" bars={charts.tokens} run={name} />
      <Bars title="Seconds" bars={charts.seconds} run={name} />
      <Bars title="Tools used" bars={charts.tools} run={name} note="In how many rollouts." />
      <Bars
        title="Trouble"
        bars={charts.faults}
        run={name}
        note="Injected faults, and replies that had to be asked for again."
      />
    </div>
  );
}

const SCORED = "verdict=solved&verdict=failed";

function PassCurves({ numbers, name }: { numbers: Run["numbers"]; name: string }) {
  const { pass_at_k, pass_at_k_interval, pass_hat_k, pass_hat_k_interval } = numbers;
  const curve = (label: string, colour: Curve["colour"], means: typeof pass_at_k, bands: typeof pass_at_k_interval) => {
    const known = Object.entries(means).filter((entry): entry is [string, number] => entry[1] !== null);
    return {
      label,
      colour,
      points: known.map(([k, value]) => ({
        x: Number(k),
        y: value,
        label: `${label.replace("k", k)}: ${share(value)}${intervalText(bands[k])}`,
        href: rolloutsWhere(name, SCORED),
      })),
      band: known.map(([k]) => bands[k] ?? null),
    };
  };
  const curves = [
    curve("pass@k", "--link", pass_at_k, pass_at_k_interval),
    curve("pass^k", "--odd", pass_hat_k, pass_hat_k_interval),
  ];
  if ((curves[0]?.points.length ?? 0) === 0) return null;
  return <Curves title="pass@k and pass^k" isShare curves={curves} />;
}

function intervalText(interval: { low: number; high: number } | null | undefined): string {
  return interval ? ` (${share(interval.low)} – ${share(interval.high)})` : "";
}

function Checks({ checks, name }: { checks: readonly CheckBars[]; name: string }) {
  if (checks.length === 0) return null;
  return (
    <section class="picture" aria-label="Scores by check">
      <h2>Scores by check</h2>
      <ul class="bars">
        {checks.flatMap(({ check, passed, failed }) => {
          const all = Math.max(passed.count + failed.count, 1);
          return [passed, failed].map((bar) => (
            <li key={bar.where} class={bar.label}>
              <a href={rolloutsWhere(name, bar.where)}>
                <span class="label">
                  {check} {bar.label}
                </span>
                <span class="track">
                  <span class="fill" style={{ width: `${(bar.count / all) * 100}%` }} />
                </span>
                <span class="number">{count(bar.count)}</span>
              </a>
            </li>
          ));
        })}
      </ul>
    </section>
  );
}
