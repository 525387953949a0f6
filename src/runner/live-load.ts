// What a run's endpoints and workers are doing right now, and which calls take long: known only to the process that calls them, so it keeps a small file
// next to the journal while it runs, for `rollout status` in another terminal.
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseJson, redactWritten } from "../core/index.ts";
import type { RunLoad } from "./make-rollouts.ts";

const FILE = "endpoints.json";
const EVERY_MS = 1000;

export type LoadWriter = { follow(folder: string): void; stop(): void };

export function createLoadWriter(load: () => RunLoad | undefined): LoadWriter {
  let timer: NodeJS.Timeout | undefined;
  let path: string | undefined;
  return {
    follow(folder) {
      path = join(folder, FILE);
      timer = setInterval(() => write(path as string, load()), EVERY_MS);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      if (path) remove(path);
    },
  };
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // as below
  }
}

/** When it was last written, for whoever follows it. */
export function loadChangedAt(folder: string): number | undefined {
  return statSync(join(folder, FILE), { throwIfNoEntry: false })?.mtimeMs;
}

/** Only meaningful while the run is running; a killed process may leave a stale file. */
export function readLoad(folder: string): RunLoad | undefined {
  const path = join(folder, FILE);
  const load = existsSync(path) ? parseJson(readFileSync(path, "utf8")) : undefined;
  if (!isObject(load) || !Array.isArray(load.endpoints) || !isObject(load.retries)) return undefined;
  return { backingOff: {}, now: 0, calls: [], ...load } as unknown as RunLoad; // a run of an older version says less
}

function write(path: string, load: RunLoad | undefined): void {
  if (!load || (load.endpoints.length + load.calls.length === 0 && !load.workers)) return;
  try {
    writeFileSync(`${path}.new`, redactWritten(JSON.stringify(load)));
    renameSync(`${path}.new`, path);
  } catch {
    // a view, not a record: a full disk is reported where records are written
  }
}
