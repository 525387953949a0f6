// How far a command is that counts records: nothing for two seconds, then one line on standard error, redrawn on a terminal
// and repeated now and then elsewhere. Also while nothing new is counted: something may hang.
import type { Host } from "../host.ts";
import { LINE_MS, printableName } from "./terminal.ts";

const QUIET_MS = 2000;
const REDRAW_MS = 200;

export type CountProgress = {
  /** `text` may be shown later, and again */
  show(text: string): void;
  /** One more of these. */
  count(what: string): void;
  /** before another line is printed */
  erase(): void;
  stop(): void;
};

/** `text` is shown until something is counted; `quiet`: nothing is shown. */
export function createCountProgress(
  { stderr, env }: Pick<Host, "stderr" | "env">,
  { text: first, quiet = false }: { text?: string; quiet?: boolean } = {},
): CountProgress {
  const redraws = Boolean(stderr.isTTY) && env.TERM !== "dumb" && !env.CI;
  let nextAt = performance.now() + QUIET_MS;
  let text = first;
  let counted = 0;
  let isDrawn = false;
  const erase = () => {
    if (isDrawn) stderr.write("\r\u001b[K");
    isDrawn = false;
  };
  const draw = () => {
    const now = performance.now();
    if (quiet || text === undefined || now < nextAt) return;
    nextAt = now + (redraws ? REDRAW_MS : LINE_MS);
    erase();
    stderr.write(redraws ? printableName(text) : `${printableName(text)}\n`);
    isDrawn = redraws;
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  const show = (next: string) => {
    text = next;
    draw();
  };
  return {
    show,
    erase,
    count: (what) => show(`${++counted} ${what}`),
    stop() {
      clearInterval(timer);
      erase();
    },
  };
}
