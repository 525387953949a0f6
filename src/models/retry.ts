// The one retry loop. It waits as long as a server asks and otherwise backs off with full jitter, gives up after a
// bounded number of attempts (if the connection was lost, after the time that a restart takes), and passes on permanent
// failures at once.
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
/** A server that restarts is away this long at most, loading its model included. */
const RESTART_MS = 90_000;
/** It is asked for every few seconds, so that it is soon found again: up to eight of them, as after the fifth failure. */
const RESTART_BACK_OFF = 5;
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
      const allowed = { failures: maxRetries, losses: maxRetries, waits: maxRetries * MAX_WAITS_PER_RETRY };
      let lostAt: number | undefined;
      for (let attempt = 1; ; attempt++) {
        try {
          return await client.complete(request, signal);
        } catch (error) {
          if (!(error instanceof ModelFailure) || !error.retryable || signal.aborted || park?.aborted) throw error;
          const isLocal = error.kind === "local"; // not the endpoint's fault: waited for without end
          if (isAway(error) && maxRetries > 0) lostAt ??= clock.elapsed();
          const isRestarting = lostAt !== undefined && clock.elapsed() - lostAt < RESTART_MS;
          if (!isLocal && allowed[budgetOf(error)]-- <= 0 && !isRestarting) throw giveUp(error, attempt);
          const asked = error.retryAfterMs ?? 0;
          if (asked > MAX_RETRY_AFTER_MS) throw refuseWait(error, asked);
          // how often a busy endpoint is asked is its gate's affair: the back-off only spreads those who come back
          const milliseconds = Math.max(asked, backOff(stepOf(error, attempt, isRestarting), random));
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

/** The connection was refused or broke, or the server is there again and not ready yet. */
function isAway({ kind, status, message }: ModelFailure): boolean {
  return kind === "network" || (status === 503 && /\bloading\b|starting up/i.test(message));
}

function budgetOf({ kind }: ModelFailure): "waits" | "losses" | "failures" {
  if (kind === "rate-limit" || kind === "unavailable") return "waits";
  return kind === "network" ? "losses" : "failures";
}

function stepOf(error: ModelFailure, attempt: number, isRestarting: boolean): number {
  if (error.kind === "local") return LOCAL_BACK_OFF;
  if (error.kind === "rate-limit") return 1;
  return isRestarting ? Math.min(attempt, RESTART_BACK_OFF) : attempt;
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
