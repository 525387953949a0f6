// MCP over the standard streams of a supervised child: one JSON message per line. Anything else is skipped and reported
// once; a message or a flood beyond the limit ends the child, so that no server can use up our memory or CPU.
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isObject, type JsonObject } from "../../core/index.ts";
import { hideArguments, keepInAnswer, showArguments } from "./message-text.ts";
import { Supervised, type SupervisedOptions } from "./supervise.ts";

/** bytes of one message, and of everything that arrives between two answers */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_STDERR_TAIL = 2000;
const NEWLINE = 10;

export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: SupervisedOptions;
  readonly #onGarbage: (line: string) => void;
  #child: Supervised | undefined;
  #pending: Buffer[] = [];
  #bytesSinceAnswer = 0;
  #garbageSeen = false;
  #stderr = "";
  #end: string | undefined;
  readonly #maxBytes: number;

  constructor(options: SupervisedOptions, onGarbage: (line: string) => void, maxBytes = MAX_MESSAGE_BYTES) {
    this.#options = options;
    this.#onGarbage = onGarbage;
    this.#maxBytes = maxBytes;
  }

  /** Why the server is gone, with the last of its stderr; undefined while it is alive. */
  get end(): string | undefined {
    const said = this.#stderr.trim();
    return this.#end && said ? `${this.#end}; it wrote: ${said}` : this.#end;
  }

  async start(): Promise<void> {
    const child = new Supervised(this.#options);
    this.#child = child;
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_TAIL);
    });
    const drained = new Promise((resolve) => child.stdout.once("close", resolve));
    void child.exited.then(async (how) => {
      await drained; // an answer may still be on its way
      this.#end ??= how;
      this.onclose?.();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#child || this.#end) throw new Error("the server is not running");
    this.#child.stdin.write(`${showArguments(JSON.stringify(hideArguments(message)))}\n`);
  }

  /** Resolves when no process is left. */
  async close(graceMs = 1000): Promise<void> {
    this.#end ??= "was closed";
    await this.#child?.stop(graceMs);
  }

  #read(chunk: Buffer): void {
    if (this.#end) return;
    this.#bytesSinceAnswer += chunk.length;
    if (this.#bytesSinceAnswer > this.#maxBytes) {
      this.#overflow();
      return;
    }
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      this.#pending.push(chunk.subarray(from, to));
      const line = Buffer.concat(this.#pending).toString("utf8");
      this.#pending = [];
      from = to + 1;
      this.#receive(line);
    }
    if (from < chunk.length) this.#pending.push(chunk.subarray(from));
  }

  #receive(line: string): void {
    if (line.trim() === "") return;
    const message = parseAny(line);
    if (!isObject(message) || message.jsonrpc !== "2.0") {
      if (!this.#garbageSeen) this.#onGarbage(line);
      this.#garbageSeen = true;
      return;
    }
    if (message.id !== undefined && message.method === undefined) this.#bytesSinceAnswer = 0;
    this.onmessage?.(keepInAnswer(message, line) as unknown as JSONRPCMessage);
  }

  #overflow(): void {
    this.#end = `wrote more than ${this.#maxBytes / 1024 / 1024} MB without an answer`;
    this.#pending = [];
    this.#child?.kill();
  }
}

/** At any depth: an answer that is too deep for us still has an id to refuse it by. */
function parseAny(line: string): JsonObject | undefined {
  try {
    return JSON.parse(line) as JsonObject;
  } catch {
    return undefined;
  }
}
