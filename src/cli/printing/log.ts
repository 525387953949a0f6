// The log file: one JSON line per event, at the level the config asks for. Entry texts stay in the journal. The
// file is made by its first line.
import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import type pino from "pino";
import type { LOG_LEVELS } from "../../config/index.ts";
import { messageOf, type RunEvent, redactDeep, UsageError } from "../../core/index.ts";

const LEVELS: { [name: string]: pino.Level } = {
  debug: "debug",
  info: "info",
  warning: "warn",
  error: "error",
  critical: "fatal",
};

export type Log = { onEvent(event: RunEvent): void; close(): void };

export function createLog(file: string | undefined, level: (typeof LOG_LEVELS)[number]): Log {
  if (!file) return { onEvent: () => {}, close: () => {} };
  requireWritable(file);
  let opened: ReturnType<typeof open> | undefined;
  return {
    onEvent(event) {
      opened ??= open(file, LEVELS[level.toLowerCase()] ?? "info");
      write(opened.logger, event);
    },
    close: () => opened?.destination.end(),
  };
}

function open(file: string, level: pino.Level) {
  mkdirSync(dirname(file), { recursive: true });
  const pino = createRequire(import.meta.url)("pino") as typeof import("pino").default; // only if a log is asked for
  const destination = pino.destination({ dest: file, append: true, sync: false });
  return { destination, logger: pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination) };
}

function write(logger: pino.Logger, event: RunEvent): void {
  const { type, ...rest } = event.type === "entry-end" ? event : redactDeep(event);
  if (event.type === "entry-end") {
    const { entry, type: _, ...key } = event;
    logger.debug({ ...key, entry: entry.type, by: entry.type === "reply" ? entry.by : undefined }, type);
  } else if (event.type === "rollout-start") {
    const { opening: _opening, type: _, ...start } = event;
    logger.info(start, type);
  } else if (event.type === "rollout-end" && event.outcome.stopReason === "infrastructure") logger.error(rest, type);
  else if (event.type === "endpoint-wait" || event.type === "run-note") logger.warn(rest, type);
  else logger.info(rest, type);
}

/** Checked before the run starts: the file, or its nearest existing parent folder, can be written. */
function requireWritable(file: string): void {
  let path = resolve(file);
  if (existsSync(path) && statSync(path).isDirectory())
    throw new UsageError(`log_file ${file} is a folder, not a file`);
  while (!existsSync(path)) path = dirname(path);
  try {
    accessSync(path, constants.W_OK);
    if (path !== resolve(file) && !statSync(path).isDirectory()) throw new Error(`${path} is a file, not a folder`);
  } catch (error) {
    throw new UsageError(`log_file ${file} cannot be written: ${messageOf(error)}`);
  }
}
