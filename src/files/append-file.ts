// An append-only file of lines. An append has happened when the kernel has the bytes (coalesced per tick); it is durable
// after an fsync, at most 100 ms behind in the default mode. A torn tail is cut off before anything is appended.
import { close, existsSync, fstatSync, fsync, ftruncateSync, mkdirSync, openSync, write } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { messageOf, redactWritten, systemClock, UsageError } from "../core/index.ts";
import { scanLines } from "./lines.ts";
import { syncFolder } from "./write-whole.ts";

export type SyncMode = "batch" | "always" | "never";
const SYNC_DELAY_MS = 100;
const FULL_DISK_RETRY_MS = 2000;

export type AppendOptions = {
  sync: SyncMode;
  /** where the last complete line ends, if a scan has found that already */
  completeBytes?: number;
  /** called once when the disk is full, and again when writing resumes because there is room */
  onPause?: (message: string) => void;
  /** once aborted, a full disk is no longer waited for */
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

type Waiter = { durable: boolean; resolve(): void; reject(error: unknown): void };

export class AppendFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #sync: SyncMode;
  #pending: string[] = [];
  #waiting: Waiter[] = [];
  #syncWaiting: Waiter[] = [];
  #flushing: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #dirty = false;
  #failure: unknown;
  readonly #onPause: (message: string) => void;
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
      this.#syncWaiting.push({ durable: true, resolve, reject });
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
    return new Promise((resolve, reject) => {
      this.#waiting.push({ durable, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  async #flush(): Promise<void> {
    await new Promise(setImmediate); // anything else appended in this tick goes into the same write
    while (this.#pending.length > 0) {
      const bytes = Buffer.from(this.#pending.join(""));
      const waiting = this.#waiting;
      this.#pending = [];
      this.#waiting = [];
      try {
        await this.#writeAll(bytes);
        this.#dirty = true;
        if (this.#sync === "always") {
          await fsyncAsync(this.#descriptor);
          this.#dirty = false;
        } else if (this.#sync === "batch") this.#scheduleSync();
        for (const waiter of waiting) {
          if (waiter.durable) this.#syncWaiting.push(waiter);
          else waiter.resolve();
        }
      } catch (error) {
        this.#fail(error, [...waiting, ...this.#waiting]);
        this.#waiting = [];
        this.#pending = [];
      }
    }
    this.#flushing = undefined;
  }

  /** A full disk is waited out: what was written stays, and the rest follows without a gap. */
  async #writeAll(bytes: Buffer): Promise<void> {
    let told = false;
    for (let done = 0; done < bytes.length; ) {
      try {
        done += (await writeAsync(this.#descriptor, bytes, done, bytes.length - done)).bytesWritten;
        if (told) this.#onPause(`There is room again for ${this.path}: going on`);
        told = false;
      } catch (error) {
        if (!isFullDisk(error)) throw error;
        if (!told) this.#onPause(`No space left for ${this.path}: paused until there is room again`);
        told = true;
        await systemClock.sleep(FULL_DISK_RETRY_MS, this.#giveUp);
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
      await fsyncAsync(this.#descriptor);
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

function isFullDisk(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOSPC" || code === "EDQUOT";
}

/** Disk errors are for the user to fix; what has been recorded so far is kept. */
function writeError(path: string, error: unknown): unknown {
  const isSystems = typeof (error as NodeJS.ErrnoException).code === "string";
  return isSystems ? new UsageError(`Cannot write to ${path}: ${messageOf(error)}`) : error;
}
