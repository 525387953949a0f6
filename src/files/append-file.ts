// An append-only file of lines. An append has happened when the kernel has the bytes (coalesced per tick); it is durable
// after an fsync, at most 100 ms behind in the default mode. A torn tail is cut off before anything is appended.
import { close, existsSync, fstatSync, fsync, ftruncateSync, mkdirSync, openSync, write, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { messageOf, redactWritten, systemClock, UsageError } from "../core/index.ts";
import { scanLines } from "./lines.ts";
import { syncFolder } from "./write-whole.ts";

export type SyncMode = "batch" | "always" | "never";
const SYNC_DELAY_MS = 100;
const RETRY_MS = 2000;
/** A write that takes the kernel longer than this is left to another thread, and so are those of some time after it. */
const QUICK_MS = 5;
const SLOW_FOR_MS = 10_000;
/** Nor does a large one hold up everything else. */
const SMALL_BYTES = 1 << 18;

export type AppendOptions = {
  sync: SyncMode;
  /** where the last complete line ends, if a scan has found that already */
  completeBytes?: number;
  /** called once when the disk is full or read-only, and again when writing resumes because that is over */
  onPause?: (message: string, isPaused: boolean) => void;
  /** once aborted, such a disk is no longer waited for */
  giveUp?: AbortSignal;
};

const writeAsync = promisify(write) as (
  fd: number,
  bytes: Buffer,
  offset: number,
  length: number,
) => Promise<{ bytesWritten: number }>;
const fsyncAsync = promisify(fsync);
const closeAsync = promisify(close);

type Waiter = { resolve(): void; reject(error: unknown): void };
/** Everybody whose line goes into the same write waits for the same. */
type Batch = Waiter & { written: Promise<void> };

export class AppendFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #sync: SyncMode;
  #pending: string[] = [];
  #batch: Batch | undefined;
  /** those of the batch who wait for a sync */
  #durable: Waiter[] = [];
  #syncWaiting: Waiter[] = [];
  #flushing: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #dirty = false;
  #failure: unknown;
  #slowUntil = 0;
  readonly #onPause: (message: string, isPaused: boolean) => void;
  readonly #giveUp: AbortSignal | undefined;
  #hurry: (() => void) | undefined;

  constructor(path: string, options: AppendOptions) {
    this.path = path;
    this.#sync = options.sync;
    this.#onPause = options.onPause ?? (() => {});
    this.#giveUp = options.giveUp;
    try {
      mkdirSync(dirname(path), { recursive: true });
      const isNew = !existsSync(path);
      const end = options.completeBytes ?? scanLines(path, () => {});
      this.#descriptor = openSync(path, "a");
      if (fstatSync(this.#descriptor).size > end) ftruncateSync(this.#descriptor, end);
      if (isNew && this.#sync !== "never") syncFolder(dirname(path));
    } catch (error) {
      throw writeError(path, error);
    }
  }

  /** Resolves when the write has returned; with `always`, when it has been synced. */
  append(line: string): Promise<void> {
    return this.#enqueue(line, false);
  }

  /** Resolves when the line is on disk. */
  appendDurably(line: string): Promise<void> {
    return this.#enqueue(line, this.#sync === "batch");
  }

  /** Resolves when everything appended before the call is on disk. */
  async synced(): Promise<void> {
    if (this.#flushing) await this.append("");
    if (this.#failure) throw this.#failure;
    if (this.#sync === "never" || !(this.#dirty || this.#syncing)) return;
    await new Promise<void>((resolve, reject) => {
      this.#syncWaiting.push({ resolve, reject });
      this.#scheduleSync();
    });
  }

  /** Writes and syncs what was appended before; accepts nothing after that. Closing again does nothing. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const failed = this.#failure !== undefined;
    this.#failure ??= new Error(`${this.path} is closed`);
    try {
      if (this.#flushing) await this.#flushing;
      while (this.#syncing) {
        this.#hurry?.();
        await this.#syncing;
      }
      if (this.#dirty && this.#sync !== "never" && !failed) await fsyncAsync(this.#descriptor);
    } finally {
      await closeAsync(this.#descriptor);
    }
  }

  #enqueue(line: string, durable: boolean): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#pending.push(redactWritten(line));
    this.#flushing ??= this.#flush();
    if (durable) return new Promise((resolve, reject) => this.#durable.push({ resolve, reject }));
    this.#batch ??= newBatch();
    return this.#batch.written;
  }

  async #flush(): Promise<void> {
    await new Promise(setImmediate); // anything else appended in this tick goes into the same write
    while (this.#pending.length > 0) {
      const bytes = Buffer.from(this.#pending.join(""));
      const [batch, durable] = [this.#batch, this.#durable];
      this.#pending = [];
      this.#batch = undefined;
      this.#durable = [];
      try {
        await this.#writeAll(bytes);
        this.#dirty = true;
        if (this.#sync === "always") {
          await this.#fsync();
          this.#dirty = false;
        } else if (this.#sync === "batch") this.#scheduleSync();
        this.#syncWaiting.push(...durable);
        batch?.resolve();
      } catch (error) {
        const waiting = [batch, ...durable, this.#batch, ...this.#durable];
        this.#pending = [];
        this.#batch = undefined;
        this.#durable = [];
        this.#fail(
          error,
          waiting.filter((waiter) => waiter !== undefined),
        );
      }
    }
    this.#flushing = undefined;
  }

  /** What was written stays, and the rest follows without a gap. */
  async #writeAll(bytes: Buffer): Promise<void> {
    for (let done = this.#writeQuickly(bytes); done < bytes.length; ) {
      const write = () => writeAsync(this.#descriptor, bytes, done, bytes.length - done);
      done += (await this.#patiently(write, findPause)).bytesWritten;
    }
  }

  /** Into the kernel's memory, which is quicker than a way through another thread. Tells how much was written. */
  #writeQuickly(bytes: Buffer): number {
    const start = performance.now();
    if (bytes.length > SMALL_BYTES || start < this.#slowUntil) return 0;
    try {
      return writeSync(this.#descriptor, bytes);
    } catch {
      return 0; // tried again, and told if it fails again
    } finally {
      const end = performance.now();
      if (end - start > QUICK_MS) this.#slowUntil = end + SLOW_FOR_MS;
    }
  }

  /** After a failed fsync for want of room nobody knows what the kernel has dropped: only a read-only disk is waited for. */
  #fsync(): Promise<void> {
    return this.#patiently(
      () => fsyncAsync(this.#descriptor),
      (error) => (codeOf(error) === "EROFS" ? findPause(error) : undefined),
    );
  }

  /** Waits until the disk can be written again, if that is all that is wrong. */
  async #patiently<T>(work: () => Promise<T>, pauseFor: typeof findPause): Promise<T> {
    let told: Pause | undefined;
    for (;;) {
      try {
        const result = await work();
        if (told) this.#onPause(told.over(this.path), false);
        return result;
      } catch (error) {
        const pause = pauseFor(error);
        if (!pause) throw error;
        if (!told) this.#onPause(pause.begins(this.path), true);
        told ??= pause;
        await systemClock.sleep(RETRY_MS, this.#giveUp);
      }
    }
  }

  #fail(error: unknown, waiting: Waiter[]): void {
    this.#failure = writeError(this.path, error);
    for (const waiter of waiting) waiter.reject(this.#failure);
  }

  #scheduleSync(): void {
    this.#syncing ??= this.#syncSoon();
  }

  async #syncSoon(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, SYNC_DELAY_MS);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#hurry = undefined;
    const waiting = this.#syncWaiting;
    this.#syncWaiting = [];
    this.#dirty = false;
    try {
      await this.#fsync();
      for (const waiter of waiting) waiter.resolve();
    } catch (error) {
      this.#fail(error, [...waiting, ...this.#syncWaiting]);
      this.#syncWaiting = [];
    }
    this.#syncing = undefined;
    // what was appended during the sync is not covered by it
    if (this.#syncWaiting.length > 0 || (this.#dirty && !this.#failure)) this.#scheduleSync();
  }
}

function newBatch(): Batch {
  const batch = {} as Batch;
  batch.written = new Promise((resolve, reject) => Object.assign(batch, { resolve, reject }));
  return batch;
}

type Pause = { begins(path: string): string; over(path: string): string };

const FULL: Pause = {
  begins: (path) => `No space left for ${path}: paused until there is room again`,
  over: (path) => `There is room again for ${path}: going on`,
};
const READ_ONLY: Pause = {
  begins: (path) => `The disk of ${path} became read-only: paused until it can be written again`,
  over: (path) => `The disk of ${path} can be written again: going on`,
};

/** What ends by itself or by the user's hand while the run waits; any other error of a disk ends the run. */
function findPause(error: unknown): Pause | undefined {
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") return FULL;
  return code === "EROFS" ? READ_ONLY : undefined;
}

function codeOf(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? code : undefined;
}

/** Disk errors are for the user to fix; what has been recorded so far is kept. */
function writeError(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === "EIO")
    return new UsageError(
      `The disk of ${path} fails (${messageOf(error)}). The run ends here; what it had recorded before is kept. Once the disk works, the same command continues`,
    );
  return code !== undefined ? new UsageError(`Cannot write to ${path}: ${messageOf(error)}`) : error;
}
