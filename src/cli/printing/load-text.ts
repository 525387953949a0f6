// What a run is waiting for right now, in words: endpoints, calls that will be tried again, calls that take long.
import type { CallInFlight, RunLoad, WorkerSight } from "../../runner/index.ts";
import { duration, printableName, table } from "./terminal.ts";

const MAX_SLOW = 3;

/** What the run asks endpoints for, one line for each. */
export function endpointLines({ endpoints, backingOff }: RunLoad): string[] {
  const back = sumOf(backingOff);
  const own = endpoints
    .filter(({ inFlight, waiting, hold }) => inFlight + waiting > 0 || (hold && back > 0))
    .map(({ endpoint, inFlight, waiting, hold }) => {
      const why = hold && (waiting > 0 || back > 0) ? ` (${holdText(hold)})` : "";
      return `${printableName(endpoint)}: ${inFlight} in flight, ${waiting} waiting${why}`;
    });
  return [...own, ...(back > 0 ? [`waiting to be tried again: ${countsText(backingOff)}`] : [])];
}

/** How many calls wait, and for what; nothing if none does. */
export function waitText({ endpoints, backingOff }: RunLoad): string[] {
  const back = sumOf(backingOff);
  const queued = endpoints.reduce((sum, { waiting }) => sum + waiting, 0);
  if (queued + back === 0) return [];
  const reasons = endpoints.flatMap(({ endpoint, hold }) =>
    hold ? [`${printableName(endpoint)}: ${holdText(hold)}`] : [],
  );
  const again = back > 0 ? [`to be tried again: ${countsText(backingOff)}`] : [];
  const why = [...again, ...reasons].join("; ");
  return [`${queued + back} calls wait${why && ` (${why})`}`];
}

export function retryText({ retries }: Pick<RunLoad, "retries">): string[] {
  return sumOf(retries) === 0 ? [] : [`tried again: ${countsText(retries)}`];
}

/** The calls that have taken longest, if any takes long. */
export function slowText({ calls, now }: Pick<RunLoad, "calls" | "now">, max = MAX_SLOW): string[] {
  const slow = calls.slice(0, max).map((call) => `${callText(call)}, ${duration(now - call.since)}`);
  return slow.length === 0 ? [] : [`slow: ${slow.join("; ")}`];
}

/** Whose call it is. */
export function callText({ id, dataset, party, model, tool }: CallInFlight): string {
  const who = party ? `${party} ${model}` : tool === undefined ? "its tools start" : `tool ${tool}`;
  return printableName(`${id} of ${dataset}: ${who}`);
}

/** Who makes the rollouts of a run on a queue: all together, then each, the busiest first. */
export function workerLines({ workers }: Pick<RunLoad, "workers">, max = Number.POSITIVE_INFINITY): string[] {
  const [all, ...none] = workersText({ workers });
  if (!workers || all === undefined) return none;
  const shown = [...workers].sort((a, b) => b.inFlight - a.inFlight).slice(0, max);
  const rows = shown.map((worker) => [
    `  ${worker.host}`,
    `${worker.pid}`,
    `${worker.inFlight} in flight`,
    rateText(worker.perSecond),
    seenText(worker),
  ]);
  const more = workers.length - shown.length;
  return [all, ...table(rows, { right: [1, 2, 3] }), ...(more > 0 ? [`  and ${more} more`] : [])];
}

/** In one line; nothing for a run on one machine. */
export function workersText({ workers }: Pick<RunLoad, "workers">): string[] {
  if (!workers) return [];
  if (workers.length === 0)
    return ["no worker serves this run yet: start one with rollout worker and the queue's address"];
  const alive = workers.filter(({ isAlive }) => isAlive);
  const hosts = new Set(alive.map(({ host }) => host)).size;
  const silent = workers.length - alive.length;
  const inFlight = sumOf(workers.map((worker) => worker.inFlight));
  const perSecond = sumOf(alive.map((worker) => worker.perSecond));
  return [
    `${alive.length} ${alive.length === 1 ? "worker" : "workers"} on ${hosts} ${hosts === 1 ? "host" : "hosts"}: ${inFlight} in flight, ${rateText(perSecond)}${silent > 0 ? `; ${silent} silent` : ""}`,
  ];
}

/** Slow ones by the minute or the hour. */
export function rateText(perSecond: number): string {
  if (perSecond >= 1 || perSecond === 0) return `${perSecond.toFixed(1)}/s`;
  return perSecond * 60 >= 1 ? `${(perSecond * 60).toFixed(1)}/min` : `${(perSecond * 3600).toFixed(1)}/h`;
}

export function seenText({ silentSeconds, isAlive }: Pick<WorkerSight, "silentSeconds" | "isAlive">): string {
  const ago = duration(Math.max(silentSeconds, 0) * 1000);
  return isAlive ? `seen ${ago} ago` : `silent for ${ago}`;
}

function holdText({ reason, until }: { reason: string; until?: string }): string {
  return `${printableName(reason)}${until === undefined ? "" : `, until ${until.slice(11, 19)} UTC`}`;
}

function countsText(numbers: { [reason: string]: number }): string {
  const reasons = Object.entries(numbers).sort(([, a], [, b]) => b - a);
  return reasons.map(([reason, number]) => `${number} × ${printableName(reason)}`).join(", ");
}

function sumOf(numbers: { [reason: string]: number } | number[]): number {
  return Object.values(numbers).reduce((sum, number) => sum + number, 0);
}
