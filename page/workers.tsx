// The machines that make the rollouts of a run on a queue.
import type { RunView } from "../src/viewer/api.ts";
import { count, duration } from "./text.ts";

export function Workers({ workers }: Pick<RunView, "workers">) {
  if (!workers) return null;
  return (
    <section class="picture" aria-label="Workers">
      <h2>Workers</h2>
      {workers.length === 0 && <p class="small">No worker serves this run yet.</p>}
      <ul>
        {workers.map(({ host, pid, inFlight, perSecond, silentSeconds, isAlive }) => (
          <li key={`${host} ${pid}`}>
            {host}, process {pid}: {count(inFlight)} in flight, {(perSecond * 60).toFixed(1)} a minute,{" "}
            {isAlive ? (
              `seen ${duration(silentSeconds)} ago`
            ) : (
              <span class="bad">silent for {duration(silentSeconds)}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
