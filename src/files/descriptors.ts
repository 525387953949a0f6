// File descriptors as what can run out: how many there may be, whether an error says that there are none left, and waiting
// until there are. It is this machine's limit: no server, tool or file is to blame.
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import { isObject, systemClock } from "../core/index.ts";

const RETRY_MS = 1000;

let known: number | undefined;

/** How many this process may have open at once; undefined if nobody says. Node has raised it as far as it may. */
export function descriptorLimit(): number | undefined {
  known ??= readLimit(); // once: when there are none left, it could not be read
  return known;
}

function readLimit(): number | undefined {
  try {
    const text =
      process.platform === "linux"
        ? /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]
        : execFileSync("/bin/sh", ["-c", "ulimit -n"], { encoding: "utf8" });
    const limit = Number(text);
    return limit > 0 ? limit : undefined;
  } catch {
    return undefined; // no such system, or no descriptor left to find out with
  }
}

/** Whether this error, or what caused it, is that this process or this machine has no descriptor left. */
export function isOutOfDescriptors(error: unknown): boolean {
  if (!isObject(error)) return false;
  if (error.code === "EMFILE" || error.code === "ENFILE") return true;
  // without a descriptor no name can be looked up, and the system calls that "not found"
  if (error.syscall === "getaddrinfo" && !canOpen()) return true;
  return isOutOfDescriptors(error.cause);
}

export const OUT_OF_DESCRIPTORS = "this machine allows no more open files (EMFILE)";

/** One sentence for people, once per run. */
export function describeShortage(): string {
  const limit = descriptorLimit();
  return `There are no more file descriptors${limit === undefined ? "" : ` (the limit is ${limit})`}: waiting until some are free. Raise the limit with ulimit -n, or lower max_workers`;
}

/** Tries again, for as long as descriptors are all that is missing. */
export async function withDescriptors<T>(
  work: () => T | Promise<T>,
  { onWait, signal }: { onWait?: ((message: string) => void) | undefined; signal?: AbortSignal } = {},
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isOutOfDescriptors(error)) throw error;
      onWait?.(describeShortage());
      await systemClock.sleep(RETRY_MS, signal);
    }
  }
}

/** Held back for reading a query while everything else has taken all there are. */
let spare: number | undefined;

export function openSpared(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (spare === undefined || !isOutOfDescriptors(error)) throw error;
    closeSync(spare);
    spare = undefined;
    return openSync(path, "r");
  }
}

export function closeSpared(descriptor: number): void {
  closeSync(descriptor);
  try {
    spare ??= openSync(devNull, "r");
  } catch {
    // the next time
  }
}

function canOpen(): boolean {
  try {
    closeSync(openSync(devNull, "r"));
    return true;
  } catch {
    return false;
  }
}
