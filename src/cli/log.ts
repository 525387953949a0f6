// The log file: one JSON line an event, at the level the config asks for. Entries' texts stay in the journal.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import pino from "pino";
import { didYouMean, type RunEvent, UsageError } from "../core/index.ts";

const LEVELS: { [name: string]: pino.Level } = {
  debug: "debug",
  info: "info",
  warning: "warn",
  warn: "warn",
  error: "error",
};

export type Log = { onEvent(event: RunEvent): void; close(): void };

export function createLog(file: string | undefined, level = "INFO"): Log {
  const known = LEVELS[level.toLowerCase()];
  if (!known)
    throw new UsageError(
      `log_level "${level}" is not known${didYouMean(level, Object.keys(LEVELS))}; it is DEBUG, INFO, WARNING or ERROR`,
    );
  if (!file) return { onEvent: () => {}, close: () => {} };
  mkdirSync(dirname(file), { recursive: true });
  const destination = pino.destination({ dest: file, append: true, sync: false });
  const logger = pino({ level: known, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return {
    onEvent(event) {
      const { type, ...rest } = event;
      if (event.type === "entry-end") {
        const { entry, ...place } = event;
        logger.debug({ ...place, entry: entry.type, ...(entry.type === "reply" ? { by: entry.by } : {}) }, "entry-end");
      } else if (event.type === "rollout-end" && event.outcome.stopReason === "infrastructure")
        logger.error(rest, type);
      else if (event.type === "endpoint-wait" || event.type === "run-note") logger.warn(rest, type);
      else logger.info(rest, type);
    },
    close: () => destination.end(),
  };
}
