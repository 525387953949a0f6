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

/** Until a log that failed is tried again. */
const RETRY_MS = 5000;

/** `say` gets one line if the log cannot be written: its lines are dropped until it can be, and the run goes on. */
export function createLog(
  file: string | undefined,
  level: (typeof LOG_LEVELS)[number],
  say: (text: string) => void,
): Log {
  if (!file) return { onEvent: () => {}, close: () => {} };
  requireWritable(file);
  let opened: ReturnType<typeof open> | undefined;
  let failedAt: number | undefined;
  const fail = (error: unknown) => {
    opened?.destination.destroy(); // else it would keep what it could not write, and fail again when the process ends
    opened = undefined;
    if (failedAt === undefined)
      say(`log_file ${file} cannot be written: ${messageOf(error)}. Its lines are dropped meanwhile; the run goes on`);
    failedAt = performance.now();
  };
  return {
    onEvent(event) {
      if (!opened && failedAt !== undefined && performance.now() - failedAt < RETRY_MS) return;
      try {
        opened ??= open(file, LEVELS[level.toLowerCase()] ?? "info", fail);
        write(opened.logger, event);
      } catch (error) {
        fail(error);
      }
    },
    close: () => opened?.destination.end(),
  };
}

function open(file: string, level: pino.Level, onError: (error: unknown) => void) {
  mkdirSync(dirname(file), { recursive: true });
  const pino = createRequire(import.meta.url)("pino") as typeof import("pino").default; // only if a log is asked for
  const destination = pino.destination({ dest: file, append: true, sync: false });
  destination.on("error", onError);
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
  } else if (event.type === "call-start") logger.debug(rest, type);
  else if (event.type === "rollout-end" && event.outcome.stopReason === "infrastructure") logger.error(rest, type);
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
