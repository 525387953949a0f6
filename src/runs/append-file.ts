// An append-only file of lines. An append has happened when the kernel has the bytes (coalesced per tick); it is durable
// after an fsync, at most 100 ms behind in the default mode. A torn tail is cut off before anything is appended.
import { close, fstatSync, fsync, ftruncateSync, mkdirSync, openSync, write } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { scanLines } from "./lines.ts";

export type SyncMode = "batch" | "always" | "never";
const SYNC_DELAY_MS = 100;
const FULL_DISK_RETRY_MS = 2000;

export type AppendOptions = {
  sync: SyncMode;
  /** where the last complete line ends, if a scan has found that already */
  completeBytes?: number;
  /** told once each time the disk is full; writing goes on by itself when there is room again */
  onPause?: (message: string) => void;
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

export class AppendFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #sync: SyncMode;
  #pending: string[] = [];
  #waiting: Waiter[] = [];
  #syncWaiting: Waiter[] = [];
  #flushing: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  #dirty = false;
  #failure: unknown;
  readonly #onPause: (message: string) => void;

  constructor(path: string, options: AppendOptions) {
    this.path = path;
    this.#sync = options.sync;
    this.#onPause = options.onPause ?? (() => {});
    mkdirSync(dirname(path), { recursive: true });
    const end = options.completeBytes ?? scanLines(path, () => {});
    this.#descriptor = openSync(path, "a");
    if (fstatSync(this.#descriptor).size > end) ftruncateSync(this.#descriptor, end);
  }

  /** Resolves when the write has returned; with `always`, when it has been synced. */
  append(line: string): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#pending.push(line);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Resolves when everything appended before the call is on disk. */
  async synced(): Promise<void> {
    if (this.#flushing) await this.#flushing;
    if (this.#failure) throw this.#failure;
    if (this.#sync === "never" || !(this.#dirty || this.#syncing)) return;
    await new Promise<void>((resolve, reject) => {
      this.#syncWaiting.push({ resolve, reject });
      this.#scheduleSync();
    });
  }

  async close(): Promise<void> {
    try {
      if (this.#flushing) await this.#flushing;
      while (this.#syncing) await this.#syncing;
      if (this.#dirty && this.#sync !== "never" && !this.#failure) await fsyncAsync(this.#descriptor);
    } finally {
      await closeAsync(this.#descriptor);
    }
  }

  async #flush(): Promise<void> {
    await new Promise(setImmediate); // what else is appended in this tick goes into the same write
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
        for (const waiter of waiting) waiter.resolve();
      } catch (error) {
        this.#failure = error;
        for (const waiter of [...waiting, ...this.#waiting]) waiter.reject(error);
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
        told = false;
      } catch (error) {
        if (!isFullDisk(error)) throw error;
        if (!told) this.#onPause(`No space left for ${this.path}: paused until there is room again`);
        told = true;
        await new Promise((resolve) => setTimeout(resolve, FULL_DISK_RETRY_MS));
      }
    }
  }

  #scheduleSync(): void {
    this.#syncing ??= this.#syncSoon();
  }

  async #syncSoon(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, SYNC_DELAY_MS));
    const waiting = this.#syncWaiting;
    this.#syncWaiting = [];
    this.#dirty = false;
    try {
      await fsyncAsync(this.#descriptor);
      for (const waiter of waiting) waiter.resolve();
    } catch (error) {
      this.#failure = error;
      for (const waiter of waiting) waiter.reject(error);
    }
    this.#syncing = undefined;
    // what came while the sync was under way is not covered by it
    if (this.#syncWaiting.length > 0 || (this.#dirty && !this.#failure)) this.#scheduleSync();
  }
}

function isFullDisk(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOSPC" || code === "EDQUOT";
}
