// Two runs: which queries the second won and lost against the first, and by how much.
import type { QueryOutcome, RunComparison } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { Shown } from "../frame.tsx";
import { useKeys } from "../keys.ts";
import { focusNext } from "../rows.ts";
import { useServer } from "../server.ts";
import { count, share } from "../text.ts";
import { pathToCompare, writePlace } from "./place.ts";

const OUTCOMES: { outcome: QueryOutcome; style: string }[] = [
  { outcome: "won", style: "good" },
  { outcome: "lost", style: "bad" },
  { outcome: "equal", style: "small" },
  { outcome: "not comparable", style: "small" },
];

const PAGE = 200;

export function CompareRuns({ a, b }: { a: string; b: string }) {
  const params = Address.params;
  const wanted = new URLSearchParams([...params].filter(([name]) => name === "show" || name === "offset"));
  const answer = useServer<RunComparison>(`/api${pathTo("run", a, "against", b)}?${wanted}`, "");
  const swapped = pathToCompare(writePlace(b), writePlace(a));
  const show = (outcome: QueryOutcome | null) => Address.go(Address.with({ show: outcome, offset: null }));
  useKeys(
    {
      "j ArrowDown": { does: "the next query; Enter opens both dialogues", act: () => focusNext("a.query", 1) },
      "k ArrowUp": { does: "the one before", act: () => focusNext("a.query", -1) },
      w: { does: "only those that were won", act: () => show("won") },
      l: { does: "only those that were lost", act: () => show("lost") },
      e: { does: "only those that are equal", act: () => show("equal") },
      a: { does: "all queries", act: () => show(null) },
      s: { does: "swap the two runs", act: () => Address.go(swapped, true) },
    },
    "This comparison",
  );
  return (
    <Shown answer={answer}>
      {(compared) => (
        <div class="compare">
          <h1>
            <a href={pathTo("run", b)}>{b}</a> against <a href={pathTo("run", a)}>{a}</a>
          </h1>
          <Summary compared={compared} />
          <nav aria-label="Outcomes" class="outcomes">
            <a href={Address.with({ show: null, offset: null })} aria-current={params.has("show") ? undefined : "true"}>
              all
            </a>
            {OUTCOMES.map(({ outcome }) => (
              <a
                key={outcome}
                href={Address.with({ show: outcome, offset: null })}
                aria-current={params.get("show") === outcome ? "true" : undefined}
              >
                {outcome} {count(compared.counts[outcome])}
              </a>
            ))}
          </nav>
          <Queries compared={compared} />
          <Pages chosen={compared.chosen} />
          <p class="small">
            <a href={swapped}>Swap the two runs</a>
          </p>
        </div>
      )}
    </Shown>
  );
}

function Summary({ compared: { a, b, difference, counts, leftOut } }: { compared: RunComparison }) {
  const percent = (rate: number | null) => (rate === null ? "nothing scored" : share(rate));
  return (
    <>
      <p>
        <span class="good">{count(counts.won)} won</span>, <span class="bad">{count(counts.lost)} lost</span>,{" "}
        {count(counts.equal)} equal
        {counts["not comparable"] > 0 && `, ${count(counts["not comparable"])} not scored in both`}.{" "}
        {leftOut > 0 && `${count(leftOut)} queries are in one run only and left out.`}
      </p>
      <p>
        Solved: {a.name} {percent(a.solved)} ({a.agents.join(", ")}), {b.name} {percent(b.solved)} (
        {b.agents.join(", ")}).
      </p>
      <p class="paired">
        {difference
          ? `${difference.words}, paired by query${difference.interval ? "" : " (too few for an interval)"}.`
          : "No query is scored in both runs, so there is no difference to tell; `rollout eval` scores a run."}
      </p>
    </>
  );
}

function Queries({ compared: { a, b, queries } }: { compared: RunComparison }) {
  if (queries.length === 0)
    return (
      <p>
        No query came out like this. <a href={Address.with({ show: null, offset: null })}>Show all</a>
      </p>
    );
  return (
    <table class="queries">
      <thead>
        <tr>
          {["query", a.name, b.name, "outcome"].map((title, at) => (
            <th key={at} scope="col" class={at === 1 || at === 2 ? "number" : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {queries.map(({ dataset, query, outcome, rates, ids }) => (
          <tr key={`${dataset} ${query}`}>
            <th scope="row">
              <a
                class="query"
                title="Both dialogues, side by side"
                href={pathToCompare(writePlace(a.name, dataset, ids[0]), writePlace(b.name, dataset, ids[1]))}
              >
                {query}
              </a>{" "}
              <span class="small">{dataset}</span>
            </th>
            {rates.map((rate, at) => (
              <td key={at} class="number">
                {rate === null ? "–" : share(rate)}
              </td>
            ))}
            <td class={OUTCOMES.find((one) => one.outcome === outcome)?.style}>{outcome}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Pages({ chosen }: { chosen: number }) {
  const offset = Number(Address.params.get("offset")) || 0;
  if (chosen <= PAGE) return null;
  return (
    <p>
      {offset > 0 && <a href={Address.with({ offset: String(Math.max(0, offset - PAGE)) })}>before</a>}{" "}
      {count(offset + 1)} to {count(Math.min(offset + PAGE, chosen))} of {count(chosen)}{" "}
      {offset + PAGE < chosen && <a href={Address.with({ offset: String(offset + PAGE) })}>next</a>}
    </p>
  );
}
