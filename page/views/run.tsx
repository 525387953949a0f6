// One run: how far it is, what it waits for, what failed, and the pictures.
import type { Bar, RunView as Run } from "../../src/viewer/api.ts";
import { pathTo } from "../address.ts";
import { Shown } from "../frame.tsx";
import { useServer } from "../server.ts";
import { count, duration } from "../text.ts";

export function RunView({ name }: { name: string }) {
  const answer = useServer<Run>(`/api${pathTo("run", name)}`, name);
  return (
    <Shown answer={answer}>
      {({ card, totals, notes, charts }) => (
        <>
          <h1>{name}</h1>
          <p>
            {card.state}, {count(card.done)} of {count(card.planned)} done in {duration(totals.secondsElapsed)}.{" "}
            <a href={pathTo("run", name, "rollouts")}>All rollouts</a>
          </p>
          {notes.map((note) => (
            <p key={note} class="odd">
              {note}
            </p>
          ))}
          <Bars title="How they ended" bars={charts.stopReasons} run={name} />
          <Bars title="Verdicts" bars={charts.verdicts} run={name} />
        </>
      )}
    </Shown>
  );
}

function Bars({ title, bars, run }: { title: string; bars: Bar[]; run: string }) {
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  return (
    <section>
      <h2>{title}</h2>
      <table>
        <tbody>
          {bars.map(({ label, count: number, where }) => (
            <tr key={label}>
              <th scope="row">
                <a href={`${pathTo("run", run, "rollouts")}?${where}`}>{label}</a>
              </th>
              <td>
                <progress max={most} value={number} aria-label={`${label}: ${number}`} /> {count(number)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
