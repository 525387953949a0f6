// One process that runs a bridge: Python's or ours. Requests are answered in order; only the first in line is being worked
// on, so only its time limit runs, and if the process ends or hangs, that request is to blame. All other waiting requests
// are lost without blame and can be made again elsewhere. A reply counts only with its request's number and a seal that
// the bridge alone can make: whatever else servers manage to write to the channel is dropped and counted.
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { isObject, type JsonObject, parseJson } from "../../core/index.ts";
import { makeTempFolder } from "../../files/index.ts";

const MAX_START_MS = 60_000;
const MAX_NOISE = 4096;
/** bytes of a reply: no bridge writes one nearly as long */
const MAX_LINE = 256 * 1024 * 1024;

/** The process is gone. `guilty` says whether the rejected request was the one being worked on. */
export class LostChild extends Error {
  override name = "LostChild";
  readonly guilty: boolean;
  constructor(message: string, guilty: boolean) {
    super(message);
    this.guilty = guilty;
  }
}

type Streams = [
  stdin: null,
  stdout: Readable,
  stderr: Readable,
  lifeline: Writable,
  requests: Writable,
  replies: Readable,
];

type Waiting = {
  number: number;
  session: unknown;
  isCall: boolean;
  timeLimit: number;
  resolve(reply: JsonObject): void;
  reject(error: Error): void;
};

export type Launch = {
  /** the program and its arguments; `folder` is the process's own */
  command(folder: string): [program: string, ...args: string[]];
  environment: NodeJS.ProcessEnv;
  /** in the name of its own folder */
  kind: string;
};

export class ServerChild {
  /** open sessions: the pool increments it, the holder of a session decrements it */
  sessions = 0;
  /** what it was given sessions of */
  readonly domains = new Set<string>();
  /** settles when the process and everything it started are gone */
  readonly gone: Promise<void>;
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #onDropped: (session: unknown) => void;
  readonly #key = randomBytes(32).toString("hex");
  readonly #waiting: Waiting[] = [];
  #requests = 0;
  /** sessions that were given a place here and have not asked for anything yet */
  #expected = 0;
  readonly #watching = new Set<() => void>();
  #firstSince = 0;
  #callsMeasured = 0;
  #meanCallMs = 0;
  #lastSession: unknown;
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #noise = "";
  #timer: NodeJS.Timeout | undefined;
  #reason: string | undefined;
  #lost: string | undefined;

  /** `onDropped` gets the session that was being served when something was written that is no reply. */
  constructor(launch: Launch, onDropped: (session: unknown) => void) {
    this.#onDropped = onDropped;
    this.#folder = makeTempFolder(launch.kind);
    const [program, ...args] = launch.command(this.#folder);
    this.#process = spawn(program, args, {
      cwd: this.#folder,
      env: { ...launch.environment, TMPDIR: this.#folder },
      detached: true, // its own process group: Ctrl-C is ours to handle, and what servers start dies with them
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe"],
    });
    if (!this.#process.stdout) {
      this.#process.on("error", () => {}); // said again, later
      rmSync(this.#folder, { recursive: true, force: true });
      throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
    }
    this.gone = this.#watch();
    this.#send({ key: this.#key }, MAX_START_MS).catch(() => {}); // its answer says that it is ready; requests may follow
  }

  get lost(): boolean {
    return this.#lost !== undefined;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  request(request: JsonObject, timeLimit: number): Promise<JsonObject> {
    if (this.#lost !== undefined) return Promise.reject(new LostChild(this.#lost, false));
    return this.#send(request, timeLimit);
  }

  /** Requests that are not answered yet, or will be made at once. */
  get waiting(): number {
    return this.#waiting.length + this.#expected;
  }

  /** Counts a session that is about to arrive. */
  expect(): void {
    this.sessions++;
    this.#expected++;
  }

  arrive(): void {
    this.#expected--;
    this.#tellWatching();
  }

  /** Settles when `waiting` becomes less, or the process is gone. */
  progress(): Promise<void> {
    return new Promise((resolve) => this.#watching.add(resolve));
  }

  #tellWatching(): void {
    for (const tell of this.#watching) tell();
    this.#watching.clear();
  }

  /** How long it has been working on the same request. */
  get servingMs(): number {
    return this.#waiting.length === 0 ? 0 : performance.now() - this.#firstSince;
  }

  /** What late calls took, as the process itself measured it; undefined after too few. */
  get meanCallMs(): number | undefined {
    return this.#callsMeasured < ENOUGH_CALLS ? undefined : this.#meanCallMs;
  }

  /** Whether a request of this session is the one being worked on. */
  isServing(session: string): boolean {
    return this.#waiting[0]?.session === session;
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

  #send(request: JsonObject, timeLimit: number): Promise<JsonObject> {
    const number = this.#requests++;
    this.#streams().requests?.write(`${JSON.stringify({ ...request, n: number })}\n`);
    const isCall = request.op === "call";
    return new Promise((resolve, reject) => {
      this.#waiting.push({ number, session: request.session, isCall, timeLimit, resolve, reject });
      if (this.#waiting.length === 1) this.#limitFirst();
    });
  }

  #limitFirst(): void {
    clearTimeout(this.#timer);
    this.#firstSince = performance.now();
    const first = this.#waiting[0];
    if (!first) return;
    const seconds = first.timeLimit / 1000;
    this.#timer = setTimeout(() => this.kill(`did not answer within ${seconds} s`), first.timeLimit);
  }

  #streams() {
    const [, stdout, stderr, lifeline, requests, replies] = this.#process.stdio as unknown as Streams;
    return { stdout, stderr, lifeline, requests, replies };
  }

  async #watch(): Promise<void> {
    const { stdout, stderr, lifeline, requests, replies } = this.#streams();
    const streams = [stdout, stderr, lifeline, requests, replies].filter((stream) => stream); // none if it cannot start
    for (const stream of streams) stream.on("error", () => {}); // `exit` reports it
    replies?.on("data", (chunk: Buffer) => this.#receive(chunk));
    for (const noise of [stdout, stderr])
      noise?.on("data", (chunk: Buffer) => {
        this.#noise = (this.#noise + chunk.toString("utf8")).slice(-MAX_NOISE);
      });
    // Replies may still arrive after the process has ended, and show which request was the last.
    const drained = new Promise((resolve) => replies?.once("close", resolve));
    replies?.once("close", () => this.kill()); // ended or no longer usable
    const how = await new Promise<string>((resolve) => {
      this.#process.once("error", (error) => resolve(`could not be started: ${error.message}`));
      this.#process.once("exit", (code, signal) =>
        resolve(signal ? `was ended by ${signal}` : `ended with exit code ${code}`),
      );
    });
    this.kill(how);
    if (this.#process.pid !== undefined) await drained;
    this.#bury();
    for (const stream of streams) stream.destroy();
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
    this.#tellWatching();
  }

  #receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#partial.push(chunk.subarray(start, end));
      const line = this.#partial.length === 1 ? (this.#partial[0] as Buffer) : Buffer.concat(this.#partial);
      this.#partial = [];
      this.#partialBytes = 0;
      if (line.length > 0) this.#read(line); // a bridge begins each reply on a line of its own
      start = end + 1;
    }
    if (start < chunk.length) this.#partial.push(chunk.subarray(start));
    this.#partialBytes += chunk.length - start;
    if (this.#partialBytes > MAX_LINE) this.kill("filled the channel of its replies");
  }

  #read(line: Buffer): void {
    const first = this.#waiting[0];
    const reply = first && this.#unseal(line, first);
    if (reply) {
      this.#waiting.shift();
      this.#lastSession = first.session;
      this.#limitFirst();
      first.resolve(reply);
      this.#tellWatching();
      return;
    }
    this.#onDropped(first?.session ?? this.#lastSession);
    // what looks like the reply but is not as the bridge wrote it: no other will come
    if (first && line.toString("latin1", 0, 24).startsWith(`${first.number} `)) this.kill("spoilt its own reply");
  }

  /** `number seal microseconds body`; undefined if that is not what the bridge wrote for this number. */
  #unseal(line: Buffer, { number, isCall }: Waiting): JsonObject | undefined {
    const head = `${number} `;
    const start = head.length + SEAL_LENGTH + 1;
    if (line.length < start || line.toString("latin1", 0, head.length) !== head) return undefined;
    const payload = line.subarray(start);
    if (line.toString("latin1", head.length, start - 1) !== sealOf(this.#key, number, payload)) return undefined;
    const space = payload.indexOf(32);
    if (isCall) this.#measure(Number(payload.toString("latin1", 0, space)) / 1000);
    if (payload[space + 1] === RAW) return { content: payload.toString("utf8", space + 2) };
    const reply = parseJson(payload.toString("utf8", space + 1));
    return isObject(reply) ? (reply as JsonObject) : undefined;
  }

  #measure(ms: number): void {
    this.#meanCallMs += (ms - this.#meanCallMs) * Math.max(NEWEST, 1 / ++this.#callsMeasured);
  }
}

const ENOUGH_CALLS = 8;
/** the least weight of the newest call in their mean */
const NEWEST = 0.05;
const RAW = "=".charCodeAt(0);

const SEAL_LENGTH = 32;

export function sealOf(key: string, number: number, payload: Buffer | string): string {
  return createHmac("sha256", key).update(`${number} `).update(payload).digest("hex").slice(0, SEAL_LENGTH);
}
