// What a person sees during a run: one calm block on a terminal, a line now and then elsewhere.
import type { RunEvent, RunStart } from "../../core/index.ts";
import { RunTally } from "../../runs/index.ts";
import { createLogLines, hasWork, type LogOptions } from "./log-lines.ts";
import { fitWidth, printableName, type Terminal } from "./terminal.ts";
import { totalsBlock } from "./totals-text.ts";

const REDRAW_MS = 200;
/** A taller block is harder to read, even on a tall terminal. */
const MAX_ROWS = 24;

export type ProgressView = {
  onEvent(event: RunEvent): void;
  /** a line for the person, on standard error */
  say(text: string): void;
  stop(): void;
};

export function createProgress(terminal: Terminal, { now, load }: LogOptions): ProgressView {
  const tally = new RunTally();
  const waits = new Map<string, { until: number; reason: string }>();
  const block = createBlock(terminal);
  let timer: NodeJS.Timeout | undefined;

  const waiting = () =>
    [...waits]
      .filter(([, wait]) => wait.until > now())
      .map(([endpoint, wait]) => `${endpoint}: waiting ${Math.ceil((wait.until - now()) / 1000)} s (${wait.reason})`);
  const draw = () => {
    const rows = Math.min(terminal.rows() - 1, MAX_ROWS);
    block.draw(totalsBlock(terminal, tally, { now: now(), load: load?.(), waits: waiting(), rows }));
  };
  const log = terminal.interactive ? undefined : createLogLines(terminal, tally, { now, load });
  const begin = (start: RunStart) => {
    if (log || !hasWork(start)) return;
    timer = setInterval(draw, REDRAW_MS);
    draw();
  };

  return {
    onEvent(event) {
      tally.add(event, now());
      if (event.type === "run-start") {
        for (const line of foundLines(event)) terminal.out(line);
        begin(event);
        log?.onEvent(event);
      } else if (event.type === "endpoint-wait") {
        waits.set(event.endpoint, { until: now() + event.seconds * 1000, reason: event.reason });
        if (!terminal.interactive) for (const line of waiting()) terminal.err(printableName(line));
      } else if (event.type === "run-note") {
        block.erase();
        terminal.out(printableName(event.message));
      }
    },
    say(text) {
      block.erase();
      terminal.err(text);
    },
    stop() {
      log?.stop();
      if (!timer) return;
      clearInterval(timer);
      timer = undefined;
      draw();
    },
  };
}

/** In one line, what a continued run found; nothing if there was nothing. */
export function foundLines({ datasets }: RunStart): string[] {
  const sum = (member: "planned" | "kept" | "continuing" | "retrying" | "givenUp" | "later") =>
    datasets.reduce((total, dataset) => total + (dataset[member] ?? 0), 0);
  const [kept, continuing, retrying, givenUp] = [sum("kept"), sum("continuing"), sum("retrying"), sum("givenUp")];
  const later = sum("later");
  if (kept + continuing + retrying + givenUp + later === 0) return [];
  const starting = sum("planned") - kept - continuing - retrying - givenUp - later;
  const left = [
    ...(givenUp > 0 ? [`, leaving ${givenUp} that failed`] : []),
    ...(later > 0 ? [`, ${later} not asked for this time`] : []),
  ];
  return [`Kept ${kept}, continuing ${continuing}, starting ${starting}, trying again ${retrying}${left.join("")}`];
}

/** Lines redrawn in place. */
function createBlock(terminal: Terminal): { draw(lines: string[]): void; erase(): void } {
  let drawn = 0;
  return {
    draw(lines) {
      const width = terminal.columns() - 1;
      terminal.redraw(
        drawn,
        lines.map((line) => fitWidth(printableName(line), width)),
      );
      drawn = lines.length;
    },
    erase() {
      if (drawn > 0) terminal.redraw(drawn, []);
      drawn = 0;
    },
  };
}
