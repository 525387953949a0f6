// How far a command is that counts records: nothing at first, then one line on standard error, redrawn on a terminal and
// repeated elsewhere.
import type { Host } from "../host.ts";
import { printableName } from "./terminal.ts";

const QUIET_MS = 2000;
const REDRAW_MS = 200;
const LINE_MS = 5000;

export type CountProgress = { show(text: string): void; stop(): void };

export function createCountProgress({ stderr, env }: Pick<Host, "stderr" | "env">): CountProgress {
  const redraws = Boolean(stderr.isTTY) && env.TERM !== "dumb" && !env.CI;
  let nextAt = performance.now() + QUIET_MS;
  let isDrawn = false;
  const erase = () => {
    if (isDrawn) stderr.write("\r\u001b[K");
    isDrawn = false;
  };
  return {
    show(text) {
      if (performance.now() < nextAt) return;
      nextAt = performance.now() + (redraws ? REDRAW_MS : LINE_MS);
      erase();
      stderr.write(redraws ? printableName(text) : `${printableName(text)}\n`);
      isDrawn = redraws;
    },
    stop: erase,
  };
}
