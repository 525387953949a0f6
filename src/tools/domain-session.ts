// One rollout's session with servers written in TypeScript or JavaScript: what their tools see, what a call comes to, and
// what becomes of a call that never ends or of code that fails after its call.
import {
  hexFrom,
  isErrorValue,
  type JsonObject,
  messageOf,
  RolloutError,
  type StateChanges,
  type ToolResult,
} from "../core/index.ts";
import { failure } from "./arguments.ts";
import type { DomainServer, ToolContext } from "./domain-server.ts";
import { findNonJson } from "./json-value.ts";
import { callAs } from "./stray-errors.ts";
import type { Database, OpenDatabase } from "./tables.ts";

export type SessionOptions = {
  servers: ReadonlyMap<string, DomainServer>;
  database: Database;
  /** milliseconds for one call; none in a child process, which is ended from outside */
  timeLimit?: number;
};

export type SessionCall = { server: string; tool: string; args: JsonObject; number: number; signal?: AbortSignal };

export class DomainSession {
  readonly #options: SessionOptions;
  readonly #seed: number;
  readonly #database: OpenDatabase;
  readonly #memories = new Map<string, ToolContext["session"]>();
  /** how to give up each call that is waiting for its tool */
  readonly #waiting = new Set<(error: unknown) => void>();
  #failed: RolloutError | undefined;
  #closed = false;

  constructor(options: SessionOptions, seed: number) {
    this.#options = options;
    this.#seed = seed;
    this.#database = options.database.open();
  }

  /** Rejects only where the rollout is to end: the tool is late, its code failed outside of a call, or it was aborted. */
  async call({ server: name, tool, args, number, signal }: SessionCall): Promise<ToolResult> {
    if (this.#failed) throw this.#failed;
    const server = this.#options.servers.get(name) as DomainServer;
    const handler = (Object.hasOwn(server.reads, tool) ? server.reads : server.writes)[tool] as (
      context: ToolContext,
      args: JsonObject,
    ) => unknown;
    const context = this.#context(name, server, number);
    const caller = { tool: `${name}.${tool}`, fail: (error: RolloutError) => this.#fail(error) };
    let answer: Promise<ToolResult>;
    try {
      const value = callAs(caller, () => handler(context, args));
      if (!isPromise(value)) return toToolResult(value);
      answer = Promise.resolve(value).then(toToolResult).catch(toFailure);
    } catch (error) {
      return toFailure(error);
    }
    return this.#wait(answer, caller.tool, signal);
  }

  state(): StateChanges {
    if (this.#failed) throw this.#failed;
    return this.#database.changes();
  }

  close(): void {
    this.#closed = true;
  }

  #fail(error: RolloutError): boolean {
    this.#failed ??= error;
    for (const giveUp of this.#waiting) giveUp(this.#failed);
    return !this.#closed;
  }

  #wait(answer: Promise<ToolResult>, tool: string, signal: AbortSignal | undefined): Promise<ToolResult> {
    return new Promise((done, reject) => {
      const { timeLimit } = this.#options;
      const expire = () =>
        this.#fail(new RolloutError("tool", `${tool} did not answer within ${Number(timeLimit) / 1000} s`));
      const timer = timeLimit === undefined ? undefined : setTimeout(expire, timeLimit);
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.#waiting.delete(giveUp);
      };
      const giveUp = (error: unknown) => {
        leave();
        reject(error);
      };
      const abort = () => giveUp(signal?.reason);
      this.#waiting.add(giveUp);
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) abort();
      answer.then((result) => {
        leave();
        done(result);
      }, giveUp);
    });
  }

  #context(name: string, server: DomainServer, callNumber: number): ToolContext {
    let session = this.#memories.get(name);
    if (!session) {
      session = {};
      this.#memories.set(name, session);
    }
    let ids = 0;
    return {
      table: (table) => this.#database.table(table),
      session,
      today: server.today,
      now: () => momentOf(server.today, this.#seed, callNumber),
      newId: (prefix) => `${prefix}-${hexFrom(8, this.#seed, callNumber, ids++)}`,
    };
  }
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

export function toToolResult(value: unknown): ToolResult {
  const odd = findNonJson(value);
  const content = odd !== undefined ? undefined : typeof value === "string" ? value : JSON.stringify(value ?? null);
  if (content === undefined) {
    const message = `The tool returned ${odd ?? "something that writes itself as nothing"}, which is not JSON`;
    return { ...failure(message, "tool_error"), trace: message };
  }
  const isError = isErrorValue(value);
  return { content, isError, fault: isError ? "tool_error" : undefined };
}

/** Whatever was thrown; the trace ends where our own code begins. */
function toFailure(error: unknown): ToolResult {
  const message = messageOf(error);
  return { ...failure(`The tool failed: ${message}`, "tool_error"), trace: traceOf(error) ?? message };
}

function traceOf(error: unknown): string | undefined {
  try {
    const lines = error instanceof Error ? String(error.stack).split("\n") : [];
    const ours = lines.findIndex((line) => line.includes("/domain-session."));
    return lines.length === 0 ? undefined : lines.slice(0, ours === -1 ? undefined : ours).join("\n");
  } catch {
    return undefined;
  }
}

/** Between nine and four o'clock, a minute later with every call. */
function momentOf(today: string, seed: number, callNumber: number): string {
  const minutes = 9 * 60 + (seed % 360) + Math.min(callNumber, 480);
  const clock = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
  return `${today}T${clock}:00Z`;
}
