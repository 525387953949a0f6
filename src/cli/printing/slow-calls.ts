// `--verbose`: a call that takes long is told while it takes long, again and again as it goes on, and how long it took in
// the end.
import type { CallInFlight, RunLoad } from "../../runner/index.ts";
import { callText } from "./load-text.ts";
import { duration, type Terminal } from "./terminal.ts";

const LOOK_MS = 1000;
const FIRST_MS = 10_000;
const SECOND_MS = 30_000;

export function createSlowCalls(terminal: Terminal, load: () => RunLoad | undefined) {
  /** calls that were told, and when they are told again */
  const told = new Map<CallInFlight, number>();
  let timer: NodeJS.Timeout | undefined;

  const look = () => {
    const { now, calls } = load() ?? { now: 0, calls: [] };
    for (const [call] of told) {
      if (call.endedAt === undefined) continue;
      terminal.err(`${callText(call)} took ${duration(call.endedAt - call.since)}`);
      told.delete(call);
    }
    for (const call of calls) {
      const ms = now - call.since;
      if (ms < (told.get(call) ?? FIRST_MS)) continue;
      terminal.err(`${callText(call)} takes long: ${duration(ms)} so far`);
      told.set(call, nextAfter(ms));
    }
  };
  return {
    start() {
      timer ??= setInterval(look, LOOK_MS);
    },
    stop() {
      if (!timer) return;
      clearInterval(timer);
      timer = undefined;
      look();
    },
  };
}

/** After 10 s: at 30 s, 60 s, 120 s, and so on. */
function nextAfter(ms: number): number {
  let next = SECOND_MS;
  while (next <= ms) next *= 2;
  return next;
}
