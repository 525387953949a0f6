// Progress where nothing can be redrawn (a pipe, CI, a batch system's log): one line on standard error at the start, every
// half minute, and at the end.
import type { RunEvent, RunStart } from "../../core/index.ts";
import type { RunLoad } from "../../runner/index.ts";
import type { RunTally } from "../../runs/index.ts";
import { retryText, slowText, waitText, workersText } from "./load-text.ts";
import { LINE_MS, type Terminal } from "./terminal.ts";
import { totalsLine } from "./totals-text.ts";

/** `now`: milliseconds that only run forward */
export type LogOptions = { now: () => number; load?: () => RunLoad | undefined };

/** The caller adds events to the tally. */
export function createLogLines(terminal: Terminal, tally: RunTally, { now, load }: LogOptions) {
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    const current = load?.();
    const more = current
      ? [...workersText(current), ...retryText(current), ...waitText(current), ...slowText(current, 1)]
      : [];
    terminal.err([totalsLine(tally.totals(now())), ...more].join(" · "));
  };
  return {
    onEvent(event: RunEvent) {
      if (event.type !== "run-start" || !hasWork(event)) return;
      tell();
      timer = setInterval(tell, LINE_MS);
    },
    stop() {
      if (!timer) return;
      clearInterval(timer);
      timer = undefined;
      tell();
    },
  };
}

export function hasWork({ datasets }: RunStart): boolean {
  return datasets.some(({ planned, kept, givenUp, later = 0 }) => planned > kept + givenUp + later);
}
