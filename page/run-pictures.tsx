// The pictures of one run, each with what it is taken from.
import type { Bar, Charts, CheckBars, RunView } from "../src/viewer/api.ts";
import { Bars, type Curve, Curves, rolloutsWhere } from "./pictures.tsx";
import { clockTime, count, share } from "./text.ts";

type PicturesProps = { charts: Charts; name: string };

/** In fixed columns, so that nothing changes its place while a run goes on. */
export function Columns({ charts, name }: PicturesProps) {
  const annotations = charts.annotations.filter(({ label }) => label !== "none");
  return (
    <div class="columns">
      <div class="stack">
        <Bars title="Verdicts" bars={charts.verdicts} run={name} />
        <Checks checks={charts.checks} name={name} />
        <Bars title="Blame" bars={charts.blame} run={name} />
        <Bars title="Stop reasons" bars={charts.stopReasons} run={name} />
        <Bars title="Tools used" bars={charts.tools} run={name} note="In how many rollouts." />
      </div>
      <div class="stack">
        <Bars title="Annotations" bars={annotations} run={name} />
        <Bars title="Tags of annotators" bars={charts.tags} run={name} />
        <Bars title="Scores" bars={charts.scores.filter(({ count }) => count > 0)} run={name} />
        <Bars title="Turns" bars={charts.turns} run={name} />
        <Bars title="Steps" bars={charts.steps} run={name} note="Replies of the agent." />
        <Bars
          title="Trouble"
          bars={charts.faults}
          run={name}
          note="Injected faults, and replies that had to be asked for again."
        />
      </div>
      <div class="stack">
        <Bars title="Tool calls" bars={charts.toolCalls} run={name} />
        <Bars title="Tokens" bars={charts.tokens} run={name} />
        <Bars title="Seconds" bars={charts.seconds} run={name} />
      </div>
    </div>
  );
}

/** A point stands for all that had finished by then, and leads to them. */
export function Finished({ charts: { finished }, name }: PicturesProps) {
  if (finished.length < 2) return null;
  const first = new URLSearchParams(finished[0]?.where).get("ended.from") ?? "";
  const points = finished.map(({ at, total, where }) => {
    const until = new URLSearchParams(where);
    until.set("ended.from", first);
    const label = `${count(total)} finished by ${clockTime(at)}`;
    return { x: at, y: total, label, href: rolloutsWhere(name, until.toString()) };
  });
  return <Curves title="Finished over time" isTime curves={[{ label: "finished", colour: "--link", points }]} />;
}

const SCORED = "verdict=solved&verdict=failed";

export function PassCurves({ numbers, name }: { numbers: RunView["numbers"]; name: string }) {
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
  const note = "Every point is taken from all scored rollouts and leads to them.";
  return <Curves title="pass@k and pass^k" isShare curves={curves} note={note} />;
}

function intervalText(interval: { low: number; high: number } | null | undefined): string {
  return interval ? ` (${share(interval.low)} – ${share(interval.high)})` : "";
}

function Checks({ checks, name }: { checks: readonly CheckBars[]; name: string }) {
  if (checks.length === 0) return null;
  return (
    <section class="picture" aria-label="Scores by check">
      <h2>Scores by check</h2>
      <p class="small">
        <span class="good">passed</span> and <span class="bad">failed</span>
      </p>
      <ul class="bars checks-bars">
        {checks.map(({ check, passed, failed }) => (
          <li key={check}>
            <span class="label">{check}</span>
            <span class="track" aria-hidden="true">
              <Part bar={passed} all={passed.count + failed.count} name={name} />
              <Part bar={failed} all={passed.count + failed.count} name={name} />
            </span>
            <CountLink check={check} bar={passed} name={name} />
            <CountLink check={check} bar={failed} name={name} />
          </li>
        ))}
      </ul>
    </section>
  );
}

type PartProps = { bar: Bar; name: string };

/** For the mouse; the number beside it is the same link. */
function Part({ bar, all, name }: PartProps & { all: number }) {
  if (bar.count === 0) return null;
  return (
    <a
      class={`fill ${bar.label}`}
      tabIndex={-1}
      href={rolloutsWhere(name, bar.where)}
      title={`${count(bar.count)} ${bar.label}`}
      style={{ width: `${(bar.count / all) * 100}%` }}
    >
      <span class="hidden">{bar.label}</span>
    </a>
  );
}

function CountLink({ check, bar, name }: PartProps & { check: string }) {
  return (
    <a class={`number ${bar.count === 0 ? "zero" : bar.label}`} href={rolloutsWhere(name, bar.where)}>
      <span class="hidden">
        {check} {bar.label}
      </span>
      {count(bar.count)}
    </a>
  );
}
