// One writer per run folder. A lock names its holder (host, pid, start of that process) and is touched while held.
// On the same host a dead process's lock is taken over; on another host a lock expires after a minute of silence.
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { canonicalJson, isObject, parseJson, UsageError } from "../core/index.ts";
import { processStart } from "./process-start.ts";

export type Holder = { host: string; pid: number; processStart: string; since: string };

const MAX_SILENCE_MS = 60_000;
const TOUCH_MS = 10_000;

export class Lock {
  readonly #path: string;
  readonly #own: Holder;
  readonly #timer: NodeJS.Timeout;

  private constructor(path: string, own: Holder) {
    this.#path = path;
    this.#own = own;
    this.#timer = setInterval(() => touch(path), TOUCH_MS);
    this.#timer.unref();
  }

  static take(path: string, what: string): Lock {
    const own: Holder = {
      host: hostname(),
      pid: process.pid,
      processStart: processStart(process.pid) ?? "",
      since: new Date().toISOString(),
    };
    if (!createExclusively(path, own)) takeOver(path, what, own);
    removeDrafts(path);
    return new Lock(path, own);
  }

  /** The current holder, if it is alive as far as we can tell. */
  static holder(path: string): Holder | undefined {
    const holder = readHolder(path);
    return holder && isAlive(holder, path) ? holder : undefined;
  }

  /** Leaves the lock alone if another host took this process for dead and now holds it. */
  release(): void {
    clearInterval(this.#timer);
    try {
      if (canonicalJson(readHolder(this.#path)) === canonicalJson(this.#own)) rmSync(this.#path, { force: true });
    } catch {
      // a disk that fails or became read-only: the lock of a process that has ended is no obstacle
    }
  }
}

/** Only one process at a time may judge a leftover lock; it checks again once it is alone. */
function takeOver(path: string, what: string, own: Holder): void {
  const guard = `${path}.takeover`;
  if (existsSync(guard) && isLeftBehind(guard)) rmSync(guard, { force: true });
  if (!createExclusively(guard, own))
    throw new UsageError(`${what} is being taken over by another process at this moment; try again`);
  try {
    const holder = readHolder(path);
    if (!holder && existsSync(path) && Date.now() - statSync(path).mtimeMs < TOUCH_MS) {
      throw new UsageError(`${what} is being taken by another process at this moment; try again in ten seconds`);
    }
    if (holder && isAlive(holder, path)) {
      throw new UsageError(
        `${what} is in use by process ${holder.pid} on ${holder.host} since ${holder.since}. Wait for it, stop it, or choose another folder`,
      );
    }
    renameSync(writeDraft(path, own), path);
  } finally {
    rmSync(guard, { force: true });
  }
}

function isLeftBehind(guard: string): boolean {
  const holder = readHolder(guard);
  const isDead = holder?.host === hostname() && !isAlive(holder, guard);
  return isDead || Date.now() - statSync(guard).mtimeMs > TOUCH_MS;
}

/** Undefined if there is no lock, or one that is damaged, or whose process has not finished writing it. */
function readHolder(path: string): Holder | undefined {
  const holder = existsSync(path) ? parseJson(readFileSync(path, "utf8")) : undefined;
  const { host, pid, processStart: start } = isObject(holder) ? holder : {};
  const isWhole = typeof host === "string" && Number.isSafeInteger(pid) && Number(pid) > 0 && typeof start === "string";
  return isWhole ? (holder as Holder) : undefined;
}

function isAlive(holder: Holder, path: string): boolean {
  if (holder.host !== hostname()) return Date.now() - statSync(path).mtimeMs < MAX_SILENCE_MS;
  const start = processStart(holder.pid);
  return start !== undefined && (holder.processStart === "" || start === "" || start === holder.processStart);
}

/** All or nothing: a process killed here never leaves an unreadable lock. */
function createExclusively(path: string, holder: Holder): boolean {
  const draft = writeDraft(path, holder);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "ENOENT") return false;
    if (!code || !NO_LINKS.has(code)) throw error;
    return createWithoutLinks(path, holder);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Error codes of file systems without hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL"]);

function createWithoutLinks(path: string, holder: Holder): boolean {
  try {
    writeFileSync(path, JSON.stringify(holder), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function writeDraft(path: string, holder: Holder): string {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, JSON.stringify(holder));
  return draft;
}

/** Removes what processes left behind that were killed while taking the lock. */
function removeDrafts(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    const pid = name.startsWith(`${basename(path)}.`) ? /\.(\d+)\.new$/.exec(name)?.[1] : undefined;
    if (pid && processStart(Number(pid)) === undefined) rmSync(join(dirname(path), name), { force: true });
  }
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // the folder is gone: the next write says so
  }
}
