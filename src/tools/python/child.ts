// One Python process running bridge.py. Requests are answered in order; only the first in line is being worked on, so
// only its time limit runs, and if the process ends or hangs, that request is to blame. All other waiting
// requests are lost without blame and can be made again elsewhere.
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { isObject, type JsonObject, parseJson } from "../../core/index.ts";
import { makeTempFolder } from "../../files/index.ts";

const BRIDGE = fileURLToPath(new URL("./bridge.py", import.meta.url));
const MAX_START_MS = 60_000;
const MAX_NOISE = 4096;

/** The process is gone. `guilty` says whether the rejected request was the one being worked on. */
export class LostChild extends Error {
  override name = "LostChild";
  readonly guilty: boolean;
  constructor(message: string, guilty: boolean) {
    super(message);
    this.guilty = guilty;
  }
}

type Streams = [requests: Writable, replies: Readable, noise: Readable, lifeline: Writable];

type Waiting = {
  timeLimit: number;
  resolve(reply: JsonObject): void;
  reject(error: Error): void;
};

export type ChildOptions = { python: string; environment: NodeJS.ProcessEnv; clockStart?: number };

export class PythonChild {
  /** open sessions: the pool increments it, the holder of a session decrements it */
  sessions = 0;
  /** settles when the process and everything it started are gone */
  readonly gone: Promise<void>;
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #waiting: Waiting[] = [];
  #partial: Buffer[] = [];
  #noise = "";
  #timer: NodeJS.Timeout | undefined;
  #reason: string | undefined;
  #lost: string | undefined;

  constructor(options: ChildOptions) {
    this.#folder = makeTempFolder("python");
    this.#process = spawn(
      options.python,
      [BRIDGE, ...(options.clockStart === undefined ? [] : [String(options.clockStart)])],
      {
        cwd: this.#folder,
        env: { ...options.environment, TMPDIR: this.#folder },
        detached: true, // its own process group: Ctrl-C is ours to handle, and what servers start dies with them
        stdio: ["pipe", "pipe", "pipe", "pipe"],
      },
    );
    if (!this.#process.stdin) {
      this.#process.on("error", () => {}); // said again, later
      rmSync(this.#folder, { recursive: true, force: true });
      throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
    }
    this.gone = this.#watch();
    this.#enqueue(MAX_START_MS).catch(() => {}); // its first line says that it is ready; requests may already follow
  }

  get lost(): boolean {
    return this.#lost !== undefined;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  request(request: JsonObject, timeLimit: number): Promise<JsonObject> {
    if (this.#lost !== undefined) return Promise.reject(new LostChild(this.#lost, false));
    const reply = this.#enqueue(timeLimit);
    (this.#process.stdin as Writable).write(`${JSON.stringify(request)}\n`);
    return reply;
  }

  /** Ends the process and everything it started, at once. */
  kill(reason?: string): void {
    this.#reason ??= reason;
    if (this.#process.pid === undefined) return;
    try {
      process.kill(-this.#process.pid, "SIGKILL");
    } catch {
      this.#process.kill("SIGKILL"); // no such group: it has ended or has not started
    }
  }

  #enqueue(timeLimit: number): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ timeLimit, resolve, reject });
      if (this.#waiting.length === 1) this.#limitFirst();
    });
  }

  #limitFirst(): void {
    clearTimeout(this.#timer);
    const first = this.#waiting[0];
    if (!first) return;
    const seconds = first.timeLimit / 1000;
    this.#timer = setTimeout(() => this.kill(`did not answer within ${seconds} s`), first.timeLimit);
  }

  async #watch(): Promise<void> {
    const [stdin, stdout, stderr, lifeline] = this.#process.stdio as unknown as Streams;
    for (const stream of [stdin, stdout, stderr, lifeline]) stream.on("error", () => {}); // `exit` reports it
    stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    stderr.on("data", (chunk: Buffer) => {
      this.#noise = (this.#noise + chunk.toString("utf8")).slice(-MAX_NOISE);
    });
    // Replies may still arrive after the process has ended, and show which request was the last.
    const drained = new Promise((resolve) => stdout.once("close", resolve));
    stdout.once("close", () => this.kill()); // ended or no longer usable
    const how = await new Promise<string>((resolve) => {
      this.#process.once("error", (error) => resolve(`could not be started: ${error.message}`));
      this.#process.once("exit", (code, signal) =>
        resolve(signal ? `was ended by ${signal}` : `ended with exit code ${code}`),
      );
    });
    this.kill(how);
    if (this.#process.pid !== undefined) await drained;
    this.#bury();
    for (const stream of [stdin, stdout, stderr, lifeline]) stream.destroy();
    await rm(this.#folder, { recursive: true, force: true }).catch(() => {}); // a server may have locked it
  }

  #bury(): void {
    clearTimeout(this.#timer);
    const lines = this.#noise.trim().split(/\r?\n/).slice(-3).join(" | ").slice(-600);
    const message = `${this.#reason}${lines ? ` (its last words: ${lines})` : ""}`;
    this.#lost = message;
    this.#waiting.splice(0).forEach((waiting, index) => {
      waiting.reject(new LostChild(message, index === 0));
    });
  }

  #receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#partial.push(chunk.subarray(start, end));
      const line = this.#partial.length === 1 ? (this.#partial[0] as Buffer) : Buffer.concat(this.#partial);
      this.#partial = [];
      this.#answer(parseJson(line.toString("utf8")));
      start = end + 1;
    }
    if (start < chunk.length) this.#partial.push(chunk.subarray(start));
  }

  #answer(reply: unknown): void {
    const first = isObject(reply) ? this.#waiting.shift() : undefined;
    this.#limitFirst();
    if (first) first.resolve(reply as JsonObject);
    else this.kill("wrote to its private channel");
  }
}
