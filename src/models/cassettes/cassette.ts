// Model calls, recorded and played back: each by its key (dataset, query, rollout, party, position), so that repeated
// rollouts are never answered by one another's recording, and only for the request that it was recorded for.
import {
  type Blame,
  type LoopReason,
  type ModelClient,
  type ModelReply,
  type RequestOrigin,
  RolloutError,
} from "../../core/index.ts";
import { FAILURE_KINDS, type FailureKind, ModelFailure } from "../failure.ts";
import { type ClientFacts, createFingerprinter, differenceOf, type RequestFingerprint } from "./fingerprint.ts";

export type CallKey = Pick<RequestOrigin, "dataset" | "queryId" | "rollout" | "party" | "position">;

/** One line of a cassette: a call, what was asked, and the reply or failure it ended with. */
export type RecordedCall = {
  query_id: string;
  rollout: number;
  party: CallKey["party"];
  position: number;
  request: RequestFingerprint;
  reply?: ModelReply;
  failure?: RecordedFailure;
};

type RecordedFailure = {
  message: string;
  boundary: Blame;
  stop_reason: LoopReason;
  kind?: FailureKind;
  status?: number;
};

/** Where recorded calls are kept; if a key has several, the last one counts. */
export interface CassetteStore {
  find(key: CallKey): Promise<RecordedCall | undefined>;
  keep(dataset: string, call: RecordedCall): Promise<void>;
}

/**
 * Records a client's final answer, after its retries and waits. A call that its caller aborted, or that was never made
 * because the endpoint was down or the run stopped, is not recorded.
 */
export function withCassette(client: ModelClient, store: CassetteStore, facts: ClientFacts): ModelClient {
  const fingerprint = createFingerprinter(facts);
  return {
    ...client,
    async complete(request, signal) {
      const { dataset, queryId: query_id, rollout, party, position } = request.origin;
      const call = { query_id, rollout, party, position, request: fingerprint(request) };
      try {
        const reply = await client.complete(request, signal);
        await store.keep(dataset, { ...call, reply });
        return reply;
      } catch (error) {
        const wasMade =
          error instanceof RolloutError && !(error instanceof ModelFailure && error.kind === "unavailable");
        if (wasMade) await store.keep(dataset, { ...call, failure: toRecord(error) });
        throw error;
      }
    },
  };
}

/** A client that answers only from a cassette: no network, no key. */
export function createReplayClient(store: CassetteStore, facts: ClientFacts): ModelClient {
  const fingerprint = createFingerprinter(facts);
  return {
    id: facts.model.id,
    async complete(request, signal) {
      signal.throwIfAborted();
      const call = await store.find(request.origin);
      if (!call) throw replayError(request.origin, "is not on the cassette");
      const difference = differenceOf(call.request, fingerprint(request));
      if (difference)
        throw replayError(request.origin, `was recorded for another request; what differs: ${difference}`);
      if (call.failure) throw toFailure(call.failure);
      if (!call.reply) throw replayError(request.origin, "has no reply on the cassette");
      return call.reply;
    },
  };
}

function replayError({ dataset, queryId, rollout, party, position }: CallKey, problem: string): RolloutError {
  const key = `call ${position + 1} of the ${party} in rollout ${rollout} of "${queryId}" (${dataset})`;
  return new RolloutError("infrastructure", `replay: ${key} ${problem}`);
}

function toRecord(error: RolloutError): RecordedFailure {
  const { message, boundary, stopReason: stop_reason } = error;
  if (!(error instanceof ModelFailure)) return { message, boundary, stop_reason };
  const { kind, status } = error;
  return { message, boundary, stop_reason, kind, status };
}

function toFailure({ message, boundary, stop_reason: stopReason, kind, status }: RecordedFailure): RolloutError {
  return kind && FAILURE_KINDS.includes(kind)
    ? new ModelFailure(kind, message, { boundary, stopReason, status })
    : new RolloutError(boundary, message, { stopReason });
}
