// One POST on the hot path, directly on undici's dispatch: no streams and no signals beyond the caller's own. Ends with
// the whole answer, with the caller's reason for aborting, or with an error that names the limit that was exceeded.
import type { Dispatcher } from "undici";
import { onAbort } from "../core/index.ts";

export type PostTarget = {
  origin: string;
  path: string;
  headers: { [name: string]: string };
  limits: PostLimits;
};

export type PostLimits = {
  /** the whole call, connecting included */
  totalMs: number;
  /** between two pieces of an answer that has begun */
  idleMs: number;
};

export type Answer = { status: number; headers: { [name: string]: string | string[] | undefined }; text: string };

class PostTimeout extends Error {
  readonly code = "TIMEOUT";
}

/** `parts` is not kept: a body that outlived its sending would cost more to collect than to write. */
export function post(
  dispatcher: Dispatcher,
  parts: { target: PostTarget; body: string | Buffer },
  signal: AbortSignal,
): Promise<Answer> {
  const { origin, path, headers, limits } = parts.target;
  const exchange = new Exchange(limits, signal);
  if (signal.aborted) return exchange.answer;
  try {
    const { body } = parts;
    dispatcher.dispatch({ origin, path, method: "POST", headers, body, headersTimeout: 0, bodyTimeout: 0 }, exchange);
  } catch (error) {
    exchange.fail(error);
  }
  return exchange.answer;
}

/** More than any model says in one reply: a server that floods is cut off. */
const MAX_REPLY_MB = 16;
/** Of an answer that is no reply, the start says enough. */
const MAX_ERROR_BYTES = 1 << 20;

class TooLarge extends Error {
  readonly code = "TOO_LARGE";
}

let begun: Exchange[] = [];

/** Asks each exchange whose answer has begun in this turn of the event loop, once all that has arrived was read. */
function waitForMore(exchange: Exchange): void {
  if (begun.push(exchange) > 1) return;
  setImmediate(() => {
    const all = begun;
    begun = [];
    for (const each of all) each.onPart();
  });
}

/** Handles undici's callbacks for one request, and settles its promise. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  readonly limits: PostLimits;
  #leave: (() => void) | undefined;
  #resolve!: (answer: Answer) => void;
  #reject!: (reason: unknown) => void;
  #isSettled = false;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Answer["headers"] = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  #total: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: PostLimits, signal: AbortSignal) {
    this.limits = limits;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (signal.aborted) {
      this.fail(signal.reason);
      return;
    }
    this.#leave = onAbort(signal, () => this.fail(signal.reason));
    this.#total = setTimeout(failLate, limits.totalMs, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(abortError());
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Answer["headers"]): void {
    // an informational 1xx answer may come first; the last one counts
    this.#status = status;
    this.#headers = headers;
    waitForMore(this);
  }

  /** Most answers come whole: a timer is for those of which a part is still missing. */
  onPart(): void {
    const { idleMs } = this.limits;
    if (this.#isSettled) return;
    this.#idle ??= setTimeout(() => this.fail(timeoutError("the next piece of the answer", idleMs)), idleMs);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#idle?.refresh();
    const isReply = this.#status >= 200 && this.#status < 300;
    if (isReply && this.#bytes > MAX_REPLY_MB << 20) this.fail(new TooLarge(`more than ${MAX_REPLY_MB} MB`));
    if (!isReply && this.#bytes > MAX_ERROR_BYTES) {
      this.onResponseEnd();
      this.#controller?.abort(abortError());
    }
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    this.#settle();
    const whole = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#bytes);
    this.#resolve({ status: this.#status, headers: this.#headers, text: whole.toString() });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** May run before undici hands over a controller: a call can be aborted while it is still connecting. */
  fail(reason: unknown): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#reject(reason);
    this.#controller?.abort(abortError());
  }

  #settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#total);
    clearTimeout(this.#idle);
    this.#leave?.();
  }
}

function failLate(exchange: Exchange): void {
  exchange.fail(timeoutError("the whole call", exchange.limits.totalMs));
}

function abortError(): Error {
  return new Error("the call was given up");
}

function timeoutError(what: string, milliseconds: number): PostTimeout {
  // what is left of a limit is no round number
  const seconds = milliseconds < 1000 ? Math.round(milliseconds) / 1000 : Math.round(milliseconds / 100) / 10;
  return new PostTimeout(`${what} took longer than ${seconds} s`);
}
