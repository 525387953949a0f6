// The same question three times: one answer of a model that draws chance is no verdict.
import type { ModelRequest } from "../../core/index.ts";
import { ModelFailure } from "../failure.ts";
import type { Answer, AskChanges, EndpointProbe } from "./endpoint.ts";

export type Samples = { answers: Answer[]; failures: ModelFailure[] };

const SAMPLES = 3;

/** A request that is refused is asked once: it would be refused again. What is then under way is cancelled. */
export async function takeSamples(
  probe: EndpointProbe,
  request: Partial<ModelRequest>,
  changes: AskChanges = {},
): Promise<Samples> {
  const taken: Samples = { answers: [], failures: [] };
  const enough = new AbortController();
  const signal = AbortSignal.any([probe.signal, enough.signal]);
  const takeOne = async () => {
    const answer = await probe.ask(request, { ...changes, signal }).catch((error: unknown) => {
      probe.signal.throwIfAborted();
      if (!enough.signal.aborted) throw error;
    });
    if (answer === undefined) return;
    if (!(answer instanceof ModelFailure)) taken.answers.push(answer);
    else taken.failures.push(answer);
    if (answer instanceof ModelFailure && isFinal(answer)) enough.abort();
  };
  await takeOne();
  if (!enough.signal.aborted) await Promise.all(Array.from({ length: SAMPLES - 1 }, takeOne));
  return taken;
}

function isFinal({ retryable, wrongSetup }: ModelFailure): boolean {
  return !retryable || wrongSetup;
}

/** ` (in 2 of 3 samples)`, or nothing if it was so in all. */
export function inSamples(count: number, { answers, failures }: Samples): string {
  const all = answers.length + failures.length;
  return count === all ? "" : ` (in ${count} of ${all} samples)`;
}

/** Why there is no answer, in words that tell a time-out from a closed door. */
export function describeFailure(failure: ModelFailure): string {
  const { kind, cause, message } = failure;
  if (kind !== "timeout") return message;
  const endpoint = /(https?:\/\/[^\s:]+(?::\d+)?[^\s:]*)/.exec(message)?.[1] ?? "the endpoint";
  const { code, message: limit } = cause as { code?: string; message: string };
  if (code !== "TIMEOUT") return `time-out: no connection to ${endpoint} (${limit})`;
  return `time-out: ${endpoint} took the request but did not answer in time (${limit})`;
}
