// The one retry loop. It waits as long as a server asks and otherwise backs off with full jitter, gives up after a
// bounded number of attempts, and passes on permanent failures at once.
import type { Clock, ModelClient, Random, RequestOrigin } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";

export type RetryOptions = {
  clock: Clock;
  random: Pick<Random, "next">;
  /** attempts after the first; default 5, 0 for none */
  maxRetries?: number;
  onWait?: ((wait: RetryWait) => void) | undefined;
  /** a wait of `onWait` is over, or given up */
  onWaited?: ((error: ModelFailure) => void) | undefined;
  /** once aborted, nothing is retried */
  park?: AbortSignal;
};

export type RetryWait = { origin: RequestOrigin; error: ModelFailure; attempt: number; milliseconds: number };

const MAX_RETRIES = 5;
const FIRST_BACK_OFF_MS = 500;
const MAX_BACK_OFF_MS = 30_000;
/** Descriptors come free within seconds: up to two of them, as after the third failure. */
const LOCAL_BACK_OFF = 3;
/** An endpoint that asks for more than this is not coming back during this run. */
export const MAX_RETRY_AFTER_MS = 600_000;
/** A busy endpoint is not a broken one: waits may happen this many times as often as failures. */
const MAX_WAITS_PER_RETRY = 10;

export function withRetry(client: ModelClient, options: RetryOptions): ModelClient {
  const { clock, random, park } = options;
  const maxRetries = options.maxRetries ?? MAX_RETRIES;
  return {
    id: client.id,
    async complete(request, signal) {
      const allowed = { failures: maxRetries, waits: maxRetries * MAX_WAITS_PER_RETRY };
      for (let attempt = 1; ; attempt++) {
        try {
          return await client.complete(request, signal);
        } catch (error) {
          if (!(error instanceof ModelFailure) || !error.retryable || signal.aborted || park?.aborted) throw error;
          const isLocal = error.kind === "local"; // not the endpoint's fault: waited for without end
          const budget = error.kind === "rate-limit" || error.kind === "unavailable" ? "waits" : "failures";
          if (!isLocal && allowed[budget]-- <= 0) throw giveUp(error, attempt);
          const asked = error.retryAfterMs ?? 0;
          if (asked > MAX_RETRY_AFTER_MS) throw refuseWait(error, asked);
          // how often a busy endpoint is asked is its gate's affair: the back-off only spreads those who come back
          const step = isLocal ? LOCAL_BACK_OFF : error.kind === "rate-limit" ? 1 : attempt;
          const milliseconds = Math.max(asked, backOff(step, random));
          options.onWait?.({ origin: request.origin, error, attempt, milliseconds });
          await clock
            .sleep(milliseconds, park ? AbortSignal.any([signal, park]) : signal)
            .catch((reason) => {
              throw signal.aborted ? reason : error;
            })
            .finally(() => options.onWaited?.(error));
        }
      }
    },
  };
}

function backOff(attempt: number, random: Pick<Random, "next">): number {
  return random.next() * Math.min(MAX_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (attempt - 1));
}

function giveUp(error: ModelFailure, attempts: number): ModelFailure {
  if (attempts === 1) return error;
  return error.restate({ message: `${error.message} (${attempts} attempts)`, retryable: false });
}

function refuseWait(error: ModelFailure, milliseconds: number): ModelFailure {
  const seconds = Math.round(milliseconds / 1000);
  return error.restate({ message: `${error.message} (asks to wait ${seconds} s)`, retryable: false });
}
