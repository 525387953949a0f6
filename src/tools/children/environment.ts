// Environments whose tools run in child processes: a dataset's Python servers, and others on request. A rollout's session
// lives in one process; if that is lost, the session is opened on another and its calls are repeated, with the same
// results, since all randomness in a call follows from the rollout's seed and the call's number. The dialogue does not
// notice.
import {
  type Environment,
  isErrorText,
  isTooDeep,
  type JsonObject,
  MAX_JSON_DEPTH,
  parseJson,
  RolloutError,
  type StateChanges,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
  UsageError,
} from "../../core/index.ts";
import { failure, prepareCall } from "../arguments.ts";
import type { Toolbox } from "../naming.ts";
import { LostChild, type ServerChild } from "./child.ts";
import type { ChildPool } from "./pool.ts";

export type ChildDomain = {
  toolbox: Toolbox;
  /** in the combination's order */
  servers: readonly string[];
  name: string;
  /** what the bridge needs to open a session */
  opening: JsonObject;
  /** its calls leave nothing behind, and may cost or be answered differently another time: none is ever made again */
  stateless?: boolean;
};

/** How often a request may crash its process before it is given up; crashes by other requests may hit it more often. */
const MAX_DEATHS = 2;
const MAX_LOSSES = 20;

export async function openInChild(domain: ChildDomain, pool: ChildPool, seed: number): Promise<Environment> {
  const environment = new ChildEnvironment(domain, pool, seed);
  try {
    await environment.open();
  } catch (error) {
    await environment.close();
    throw error;
  }
  return environment;
}

type Asked = { request: JsonObject; reply: JsonObject };

class ChildEnvironment implements Environment {
  readonly #domain: ChildDomain;
  readonly #pool: ChildPool;
  readonly #seed: number;
  readonly #session: string;
  /** what is loaded for it, as the pool knows it */
  readonly #servers: string;
  /** the answered calls, for replay */
  readonly #answered: Asked[] = [];
  #child: ServerChild | undefined;
  #line: Promise<unknown> = Promise.resolve();
  #calls = 0;
  #closed = false;
  #broken: RolloutError | undefined;

  constructor(domain: ChildDomain, pool: ChildPool, seed: number) {
    this.#domain = domain;
    this.#pool = pool;
    this.#seed = seed;
    this.#session = pool.nameSession(seed, domain.name);
    this.#servers = JSON.stringify(domain.opening);
  }

  get tools(): ToolSpec[] {
    return this.#domain.toolbox.tools;
  }

  isReadOnly(toolName: string): boolean {
    return this.#domain.toolbox.resolve(toolName)?.spec.readOnly ?? true;
  }

  /** Shows whether the servers can be loaded; where they were before, the session gets its process with its first call. */
  async open(): Promise<void> {
    await this.#pool.loadOnce(this.#servers, () => this.#persist("Loading its servers", async () => {}));
  }

  async call(call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    signal.throwIfAborted();
    const number = this.#calls++; // before anything is awaited, so that numbers follow the order of the calls
    const prepared = prepareCall(this.#domain.toolbox, call);
    if (!prepared.ok) return prepared.result;
    const { named } = prepared;
    const request = {
      op: "call",
      session: this.#session,
      server: this.#domain.servers.indexOf(named.server),
      tool: named.tool,
      arguments: call.arguments.trim() || "{}",
      number,
    };
    const asked = this.#inLine(() => this.#ask(`${named.server}.${named.tool}`, request, signal));
    return toResult(await untilAborted(asked, signal, () => this.#leave()));
  }

  /** A trusted call keeps its number: what later calls draw from chance must not be what it drew. */
  trust(): boolean {
    if (this.#domain.stateless) this.#calls++;
    return this.#domain.stateless ?? false;
  }

  async state(): Promise<StateChanges> {
    if (this.#domain.stateless) return {};
    const reply = await this.#inLine(() => this.#readTables());
    if (typeof reply.changes !== "string") {
      throw new RolloutError("tool", `The tables of ${this.#domain.name} cannot be read: ${reply.failed}`);
    }
    if (isTooDeep(reply.changes))
      throw new RolloutError(
        "tool",
        `The tables of ${this.#domain.name} are nested deeper than ${MAX_JSON_DEPTH} levels`,
      );
    return parseJson(reply.changes) as StateChanges;
  }

  /** Calls alone change them. */
  async #readTables(): Promise<JsonObject> {
    this.#mustBeOpen();
    if (this.#answered.length === 0) return { changes: "{}" };
    return this.#ask("Reading its tables", { op: "state", session: this.#session });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#giveUpSeat();
    this.#pool.forgetSession(this.#session);
  }

  #giveUpSeat(): void {
    const child = this.#child;
    this.#child = undefined;
    if (!child) return;
    child.sessions--;
    // Not awaited: it comes after all earlier requests, which may take their full time limit.
    child.request({ op: "close", session: this.#session }, this.#pool.callTimeLimit).catch(() => {});
  }

  /** What an aborted call did is not part of the dialogue: the session goes on elsewhere, without it. */
  #leave(): void {
    const child = this.#child;
    this.#giveUpSeat();
    if (child?.isServing(this.#session)) child.kill("was ended in the middle of a call that was given up");
    this.#line = Promise.resolve();
  }

  /** One request at a time, in the order they were made, so that a replay can repeat them. */
  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#line.then(work);
    this.#line = result.catch(() => {});
    return result;
  }

  async #ask(what: string, request: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const reply = await this.#persist(what, (child) => child.request(request, this.#pool.callTimeLimit), signal);
    signal?.throwIfAborted();
    if (typeof reply.broken === "string")
      throw this.#break(new RolloutError("tool", reply.broken, { cause: reply.stack }));
    if (request.op === "call" && !this.#domain.stateless) this.#answered.push({ request, reply });
    return reply;
  }

  async #persist<T>(what: string, work: (child: ServerChild) => Promise<T>, signal?: AbortSignal): Promise<T> {
    let deaths = 0;
    for (let losses = 1; ; losses++) {
      signal?.throwIfAborted();
      this.#mustBeOpen();
      try {
        const child = await this.#seat(signal);
        signal?.throwIfAborted();
        return await work(child);
      } catch (error) {
        if (!(error instanceof LostChild)) throw error;
        const message = `${what}: ${this.#pool.what} ${error.message}`;
        if (error.guilty && ++deaths === MAX_DEATHS) {
          throw new RolloutError("tool", `${message}, ${deaths} times in a row`, { cause: error });
        }
        if (losses === MAX_LOSSES) throw new RolloutError("infrastructure", message, { retryable: true, cause: error });
      }
    }
  }

  /** The process that holds the session; if it is lost, another one, with the session restored. */
  async #seat(signal: AbortSignal | undefined): Promise<ServerChild> {
    if (this.#child && !this.#child.lost) return this.#child;
    const child = await this.#pool.takeSeat(this.#servers);
    child.arrive();
    if (this.#closed || signal?.aborted) child.sessions--; // closed or given up while waiting
    signal?.throwIfAborted();
    this.#mustBeOpen();
    this.#child = child;
    const opened = await child.request(
      {
        op: "open",
        session: this.#session,
        seed: this.#seed,
        ...this.#domain.opening,
      },
      this.#pool.loadTimeLimit,
    );
    if (opened.unusable !== undefined) throw loadError(opened);
    for (const { request, reply } of this.#answered) {
      signal?.throwIfAborted();
      this.#mustBeOpen();
      const again = await child.request(request, this.#pool.callTimeLimit);
      signal?.throwIfAborted();
      if (again.content !== reply.content || again.failed !== reply.failed) throw this.#differs(request);
    }
    return child;
  }

  #mustBeOpen(): void {
    if (this.#broken) throw this.#broken;
    if (this.#closed) throw new RolloutError("infrastructure", "The rollout's tools were closed", { retryable: true });
  }

  #differs(request: JsonObject): RolloutError {
    const message = `The ${this.#pool.what} process was lost, and ${request.tool} gave another result when its call was repeated`;
    return this.#break(new RolloutError("infrastructure", message, { retryable: true }));
  }

  #break(error: RolloutError): RolloutError {
    this.#broken = error;
    return error;
  }
}

/** Our own bridge sends results as they are; Python's sends a text, or what failed. */
function toResult({ content, failed, isError, fault, trace }: JsonObject): ToolResult {
  const traced = typeof trace === "string" ? { trace } : {};
  if (typeof content !== "string") return { ...failure(`The tool failed: ${failed}`, "tool_error"), ...traced };
  if (typeof isError === "boolean") return { content, isError, fault: fault as ToolResult["fault"], ...traced };
  const isWrong = isErrorText(content);
  return { content, isError: isWrong, fault: isWrong ? "tool_error" : undefined };
}

export function loadError(reply: JsonObject): UsageError {
  const missing = /ModuleNotFoundError|ImportError/.test(String(reply.unusable));
  const advice = missing ? " (--python PATH names a virtual environment that has it)" : "";
  const line = typeof reply.line === "number" ? { line: reply.line } : {};
  return new UsageError(`${reply.unusable}${advice}`, { file: String(reply.file), ...line });
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal, leave: () => void): Promise<T> {
  return new Promise((done, fail) => {
    const abort = () => {
      leave();
      fail(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    work.then(done, fail).finally(() => signal.removeEventListener("abort", abort));
  });
}
