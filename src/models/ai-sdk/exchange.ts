// The HTTP side of one call: a `fetch` for a provider package that posts over our own connections and time limits, and
// remembers the outcome. Packages wrap errors in their own ways; the failure noted here is the one that counts.
import { type Clock, isTooDeep, type JsonObject } from "../../core/index.ts";
import {
  type FailureContext,
  failureOfDepth,
  failureOfStatus,
  failureOfTransport,
  type ModelFailure,
  retryAfter,
} from "../failure.ts";
import type { Dispatchers } from "../http.ts";
import { type Answer, type PostLimits, post } from "../post.ts";

/** Never sent: a package without a key would look for one in the process's environment. */
export const NO_KEY = "no-key";

export type Exchange = {
  fetch: typeof globalThis.fetch;
  /** why the last request failed */
  failure(): ModelFailure | undefined;
  /** the text of the last successful answer */
  answer(): string | undefined;
  /** and its headers */
  headers(): Answer["headers"];
};

export type ExchangeCall = {
  dispatchers: Dispatchers;
  clock: Clock;
  context: FailureContext;
  limits: PostLimits;
  signal: AbortSignal;
  /** the address for what a package asks for */
  locate(asked: URL): URL;
  /** instead of the package's own */
  headers: { [name: string]: string };
  edit?: ((body: JsonObject) => JsonObject) | undefined;
};

export function createExchange(call: ExchangeCall): Exchange {
  const { dispatchers, clock, context, limits, signal, headers, edit, locate } = call;
  // a package may make several requests for one reply; together they stay within the limit
  const deadline = clock.elapsed() + limits.totalMs;
  let failure: ModelFailure | undefined;
  let answered: Answer | undefined;

  function failWith(reason: ModelFailure): never {
    failure = reason;
    throw reason;
  }

  return {
    failure: () => failure,
    answer: () => answered?.text,
    headers: () => answered?.headers ?? {},
    async fetch(input, init) {
      const url = locate(new URL(String(input)));
      const text = String(init?.body ?? "");
      const body = edit ? JSON.stringify(edit(JSON.parse(text) as JsonObject)) : text;
      const target = {
        origin: url.origin,
        path: url.pathname + url.search,
        headers: { ...headersOf(init?.headers), ...headers },
        limits: { ...limits, totalMs: Math.max(1, deadline - clock.elapsed()) },
      };
      const answer = await post(dispatchers.for(url), { target, body }, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        return failWith(failureOfTransport(context, error));
      });
      const { status } = answer;
      if (status < 200 || status >= 300) {
        const retryAfterMs = retryAfter(answer.headers, clock.now());
        failWith(failureOfStatus(context, { status, text: answer.text, retryAfterMs }));
      }
      if (isTooDeep(answer.text)) failWith(failureOfDepth(context));
      answered = answer;
      return new Response(answer.text, { headers: { "content-type": "application/json" } });
    },
  };
}

function headersOf(given: RequestInit["headers"]): { [name: string]: string } {
  const headers = Object.fromEntries(new Headers(given));
  for (const [name, value] of Object.entries(headers))
    if (value === NO_KEY || value === `Bearer ${NO_KEY}`) delete headers[name];
  return headers;
}
