// Environments whose tools are a dataset's Python servers. A rollout's session lives in one Python process; if that
// process is lost, the session is opened on another and its calls are repeated, with the same results, since
// all randomness in a call follows from the rollout's seed and the call's number. The dialogue does not notice.
import { resolve } from "node:path";
import {
  type Environment,
  isErrorText,
  type JsonObject,
  parseJson,
  RolloutError,
  type StateChanges,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
  UsageError,
} from "../../core/index.ts";
import { failure, prepareCall } from "../arguments.ts";
import { capResult } from "../cap.ts";
import type { Toolbox } from "../naming.ts";
import { LostChild, type PythonChild } from "./child.ts";
import type { PythonPool } from "./pool.ts";

export type PythonDomain = {
  toolbox: Toolbox;
  /** in the combination's order: if several have a table, the first one's is used */
  servers: readonly { name: string; file: string }[];
  /** what the servers' constructors get: the server's name, or the fused name as the database folder writes it */
  domainName: string;
};

/** How often a request may crash its process before it is given up; crashes by other requests may hit it more often. */
const MAX_DEATHS = 2;
const MAX_LOSSES = 20;

export async function openPython(domain: PythonDomain, pool: PythonPool, seed: number): Promise<Environment> {
  const environment = new PythonEnvironment(domain, pool, seed);
  try {
    await environment.open();
  } catch (error) {
    await environment.close();
    throw error;
  }
  return environment;
}

type Asked = { request: JsonObject; reply: JsonObject };

class PythonEnvironment implements Environment {
  readonly #domain: PythonDomain;
  readonly #pool: PythonPool;
  readonly #seed: number;
  readonly #session: string;
  /** the answered calls, for replay */
  readonly #answered: Asked[] = [];
  #child: PythonChild | undefined;
  #line: Promise<unknown> = Promise.resolve();
  #calls = 0;
  #closed = false;
  #broken: RolloutError | undefined;

  constructor(domain: PythonDomain, pool: PythonPool, seed: number) {
    this.#domain = domain;
    this.#pool = pool;
    this.#seed = seed;
    this.#session = pool.nameSession(seed);
  }

  get tools(): ToolSpec[] {
    return this.#domain.toolbox.tools;
  }

  isReadOnly(toolName: string): boolean {
    return this.#domain.toolbox.resolve(toolName)?.spec.readOnly ?? true;
  }

  async open(): Promise<void> {
    await this.#persist("Loading its servers", async () => {});
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
      server: this.#domain.servers.findIndex(({ name }) => name === named.server),
      tool: named.tool,
      arguments: call.arguments.trim() || "{}",
      number,
    };
    const reply = await untilAborted(
      this.#inLine(() => {
        signal.throwIfAborted();
        return this.#ask(`${named.server}.${named.tool}`, request);
      }),
      signal,
    );
    return toResult(reply, this.#pool.resultLimit);
  }

  async state(): Promise<StateChanges> {
    const reply = await this.#inLine(() => this.#ask("Reading its tables", { op: "state", session: this.#session }));
    if (typeof reply.changes !== "string") {
      throw new RolloutError("tool", `The tables of ${this.#domain.domainName} cannot be read: ${reply.failed}`);
    }
    return parseJson(reply.changes) as StateChanges;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#pool.forgetSession(this.#session);
    const child = this.#child;
    if (!child) return;
    child.sessions--;
    // Not awaited: it comes after all earlier requests, which may take their full time limit.
    child.request({ op: "close", session: this.#session }, this.#pool.callTimeLimit).catch(() => {});
  }

  /** One request at a time, in the order they were made, so that a replay can repeat them. */
  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#line.then(work);
    this.#line = result.catch(() => {});
    return result;
  }

  async #ask(what: string, request: JsonObject): Promise<JsonObject> {
    const reply = await this.#persist(what, (child) => child.request(request, this.#pool.callTimeLimit));
    if (request.op === "call") this.#answered.push({ request, reply });
    return reply;
  }

  async #persist<T>(what: string, work: (child: PythonChild) => Promise<T>): Promise<T> {
    let deaths = 0;
    for (let losses = 1; ; losses++) {
      this.#mustBeOpen();
      try {
        return await work(await this.#seat());
      } catch (error) {
        if (!(error instanceof LostChild)) throw error;
        if (error.guilty && ++deaths === MAX_DEATHS) {
          throw new RolloutError("tool", `${what}: Python ${error.message}, ${deaths} times in a row`, {
            cause: error,
          });
        }
        if (losses === MAX_LOSSES) {
          throw new RolloutError("infrastructure", `${what}: Python ${error.message}`, {
            retryable: true,
            cause: error,
          });
        }
      }
    }
  }

  /** The process that holds the session; if it is lost, another one, with the session restored. */
  async #seat(): Promise<PythonChild> {
    if (this.#child && !this.#child.lost) return this.#child;
    const child = await this.#pool.takeSeat();
    this.#child = child;
    if (this.#closed) child.sessions--; // closed while waiting
    this.#mustBeOpen();
    const opened = await child.request(
      {
        op: "open",
        session: this.#session,
        seed: this.#seed,
        domain_name: this.#domain.domainName,
        servers: this.#domain.servers.map(({ name, file }) => ({ name, file: resolve(file) })),
      },
      this.#pool.loadTimeLimit,
    );
    if (opened.unusable !== undefined) throw loadError(opened);
    for (const { request, reply } of this.#answered) {
      this.#mustBeOpen();
      const again = await child.request(request, this.#pool.callTimeLimit);
      if (again.content !== reply.content || again.failed !== reply.failed) throw this.#differs(request);
    }
    return child;
  }

  #mustBeOpen(): void {
    if (this.#broken) throw this.#broken;
    if (this.#closed) throw new RolloutError("infrastructure", "The rollout's tools were closed", { retryable: true });
  }

  #differs(request: JsonObject): RolloutError {
    const message = `The Python process was lost, and ${request.tool} gave another result when its call was repeated`;
    this.#broken = new RolloutError("infrastructure", message, { retryable: true });
    return this.#broken;
  }
}

function toResult(reply: JsonObject, limit: number): ToolResult {
  if (typeof reply.content !== "string") {
    const failed = failure(`The tool failed: ${reply.failed}`, "tool_error");
    return typeof reply.trace === "string" ? { ...failed, trace: reply.trace } : failed;
  }
  const { content } = reply;
  const isError = isErrorText(content);
  return capResult({ content, isError, fault: isError ? "tool_error" : undefined }, limit);
}

function loadError(reply: JsonObject): UsageError {
  const missing = /ModuleNotFoundError|ImportError/.test(String(reply.unusable));
  const advice = missing ? " (--python PATH names a virtual environment that has it)" : "";
  const line = typeof reply.line === "number" ? { line: reply.line } : {};
  return new UsageError(`${reply.unusable}${advice}`, { file: String(reply.file), ...line });
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const abort = () => fail(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(done, fail).finally(() => signal.removeEventListener("abort", abort));
  });
}
