// What a run is waiting for right now, in words: endpoints, calls that will be tried again, calls that take long.
import type { CallInFlight, RunLoad } from "../../runner/index.ts";
import { duration, printableName } from "./terminal.ts";

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

function holdText({ reason, until }: { reason: string; until?: string }): string {
  return `${printableName(reason)}${until === undefined ? "" : `, until ${until.slice(11, 19)} UTC`}`;
}

function countsText(numbers: { [reason: string]: number }): string {
  const reasons = Object.entries(numbers).sort(([, a], [, b]) => b - a);
  return reasons.map(([reason, number]) => `${number} × ${printableName(reason)}`).join(", ");
}

function sumOf(numbers: { [reason: string]: number }): number {
  return Object.values(numbers).reduce((sum, number) => sum + number, 0);
}
