// Errors that surface outside of any call: a forgotten promise that was rejected, a throw in a timer. Where such an error
// was caused by a tool, it ends the rollout that the tool was called for; what is not a tool's crashes as ever. Installed
// only while there are tools in this process.
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { pathToFileURL } from "node:url";
import { messageOf, RolloutError } from "../core/index.ts";

/** What a tool's code was called for; false if that is over already. */
export type Caller = { tool: string; fail(error: RolloutError): boolean };

export type StrayWatch = { close(): void };

type Watch = { places: string[]; notice(message: string): void; said: boolean };

const callers = new AsyncLocalStorage<Caller>();
const watches = new Set<Watch>();

/** Before Node 24, knowing who started what slows down every promise of the process, as long as it is watched at all. */
const IS_COSTLY = Number(process.versions.node.split(".")[0]) < 24;
/** Something was started that may outlive its call. */
let outlives = false;

/** Whatever this code starts and forgets is known as the caller's. Where it starts nothing, watching ends with it. */
export function callAs<T>(caller: Caller, code: () => T): T {
  if (watches.size === 0) return code();
  if (!IS_COSTLY || outlives) return callers.run(caller, code);
  const before = countStarted();
  try {
    return callers.run(caller, code);
  } finally {
    outlives = countStarted() - before > 1;
    if (!outlives) callers.disable();
  }
}

/** Timers, promises, requests and the like, this one included, since the process began. */
function countStarted(): number {
  return new AsyncResource("rollout").asyncId();
}

/** `files` are those of the tools; `notice` is told, once, what no rollout can be blamed for. */
export function watchStrays(files: readonly string[], notice: (message: string) => void): StrayWatch {
  const watch = { places: files.flatMap((file) => [file, pathToFileURL(file).href]), notice, said: false };
  if (watches.size === 0) {
    process.on("uncaughtException", onException);
    process.on("unhandledRejection", onRejection);
  }
  watches.add(watch);
  return {
    close: () => {
      if (watches.delete(watch) && watches.size === 0) unwatch();
    },
  };
}

function unwatch(): void {
  process.off("uncaughtException", onException);
  process.off("unhandledRejection", onRejection);
}

function onException(error: unknown): void {
  if (!isTools(error)) crash("uncaughtException", error);
}

function onRejection(error: unknown): void {
  if (!isTools(error)) crash("unhandledRejection", error);
}

function isTools(error: unknown): boolean {
  const caller = callers.getStore();
  const message = `an error outside of its calls: ${messageOf(error)}`;
  if (caller?.fail(new RolloutError("tool", `${caller.tool}: ${message}`, { cause: error }))) return true;
  const stack = stackOf(error);
  const watch = [...watches].find(({ places }) => places.some((place) => stack?.includes(place)));
  if (!caller && !watch && stack !== undefined) return false; // only other people's code throws what has no stack
  tell(watch ?? ([...watches][0] as Watch), `${caller?.tool ?? "A tool"}: ${message} (no rollout was ended by it)`);
  return true;
}

function tell(watch: Watch, message: string): void {
  if (!watch.said) watch.notice(message);
  watch.said = true;
}

function stackOf(error: unknown): string | undefined {
  try {
    return error instanceof Error ? String(error.stack) : undefined;
  } catch {
    return undefined;
  }
}

/** As if nobody had listened, unless somebody else does. */
function crash(event: "uncaughtException" | "unhandledRejection", error: unknown): void {
  if (process.listenerCount(event) > 1) return;
  unwatch();
  process.nextTick(() => {
    throw error;
  });
}
