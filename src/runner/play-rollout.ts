// One rollout from its planned place to its record: a fresh environment, the dialogue, every entry made safe before the
// next effect, one trajectory line at the end. An earlier attempt's entries are replayed, not paid for again.
import {
  type Clock,
  contentHash,
  type Entry,
  type Environment,
  ended,
  type ModelClient,
  messageOf,
  type Outcome,
  type Query,
  RolloutError,
  type RolloutKey,
  type RunEvent,
  rolloutId,
  type Trajectory,
  timestamp,
} from "../core/index.ts";
import { playDialogue, usageOf, userSystemPrompt } from "../dialogue/index.ts";
import type { RunFolder } from "../runs/index.ts";
import type { PreparedDataset } from "./prepare.ts";
import { differsFromRecord, trusting, withRecord } from "./replay.ts";
import { toTrajectory } from "./to-trajectory.ts";

export type PlannedRollout = {
  key: RolloutKey;
  seed: number;
  fingerprint: string;
  attempt: number;
  /** entries of an attempt that was cut off */
  recorded: Entry[];
  drift: boolean;
};

export type RolloutSurroundings = {
  folder: RunFolder;
  clock: Clock;
  /** no further entry is begun once this is set */
  park: AbortSignal;
  /** what is under way is given up at once */
  abort: AbortSignal;
  emit(event: RunEvent): void;
};

/** How the dialogue ended, or undefined where it was parked; `written` resolves when its record is on disk. */
export type PlayedRollout = { outcome: Outcome | undefined; written: Promise<void> };

export async function playRollout(
  dataset: PreparedDataset,
  query: Query,
  planned: PlannedRollout,
  surroundings: RolloutSurroundings,
): Promise<PlayedRollout> {
  const { clock, emit, folder } = surroundings;
  const startedAt = clock.now();
  const { key, attempt, fingerprint } = planned;
  const start = {
    type: "rollout-start" as const,
    ...key,
    at: timestamp(clock),
    attempt,
    fingerprint,
    continued: planned.recorded.length,
  };
  await folder.record(start);
  emit(start);
  const entries: Entry[] = [];
  let environment: Environment | undefined;
  try {
    environment = trusting(await dataset.openEnvironment(query, planned.seed), planned.recorded);
    const toolsHash = await dataset.keepTools(environment.tools);
    const outcome = await play(dataset, query, planned, surroundings, environment, entries);
    if (outcome === "differs") {
      const message = `${rolloutId(key)} of ${key.dataset} could not be replayed as recorded and starts over`;
      emit({ type: "run-note", at: timestamp(clock), message });
      await environment.close();
      environment = undefined;
      return await playRollout(dataset, query, { ...planned, recorded: [] }, surroundings);
    }
    if (outcome === "parked") return { outcome: undefined, written: Promise.resolve() };
    const stateHash = contentHash(await environment.state());
    const endedAt = clock.now();
    const trajectory = toTrajectory({
      dataset,
      query,
      planned,
      entries,
      outcome,
      startedAt,
      endedAt,
      tools: environment.tools,
      toolsHash,
      stateHash,
    });
    return { outcome, written: finish(trajectory, outcome, planned, entries, surroundings) };
  } catch (error) {
    const isLeft = surroundings.abort.aborted || (surroundings.park.aborted && error instanceof RolloutError);
    // what could not finish once the run was stopped has not failed: it is gone on with later
    if (isLeft) return { outcome: undefined, written: Promise.resolve() };
    if (!(error instanceof RolloutError)) throw error;
    return { outcome: outcomeOf(error), written: fail(error, planned, entries, surroundings, startedAt) };
  } finally {
    await environment?.close();
  }
}

async function play(
  dataset: PreparedDataset,
  query: Query,
  planned: PlannedRollout,
  { folder, clock, park, abort, emit }: RolloutSurroundings,
  environment: Environment,
  entries: Entry[],
): Promise<Outcome | "parked" | "differs"> {
  const { spec } = dataset;
  const script = dataset.scriptOf(query);
  const open = (party: "agent" | "user" | "judge", client: ModelClient) => withRecord(client, planned.recorded, party);
  const dialogue = playDialogue({
    query,
    origin: { ...planned.key, seed: planned.seed, mode: spec.mode },
    environment,
    agent: {
      client: open("agent", dataset.agent.open(script)),
      system: dataset.agentSystem,
      reasoningSpan: dataset.agent.reasoningSpan,
    },
    ...(dataset.user
      ? { user: { client: open("user", dataset.user.open(script)), system: userSystemPrompt(query, spec.user.prompt) } }
      : {}),
    ...(dataset.judge ? { judge: open("judge", dataset.judge.open(script)) } : {}),
    maxStepsPerTurn: spec.maxStepsPerTurn,
    stopConditions: dataset.stopConditions,
    clock,
    signal: abort,
  });
  for (;;) {
    const next = await dialogue.next().catch(endOf);
    if (next.done) return next.value;
    const recorded = planned.recorded[entries.length];
    if (recorded && differsFromRecord(next.value, recorded)) return "differs";
    const event = { type: "entry-end" as const, ...planned.key, index: entries.length, entry: recorded ?? next.value };
    entries.push(event.entry);
    if (recorded) continue;
    await folder.record(event);
    emit(event);
    if (park.aborted) return "parked";
  }
}

/** Some errors are an end of the dialogue like any other: the context is full, the provider refuses. */
function endOf(error: unknown): IteratorReturnResult<Outcome> {
  if (!(error instanceof RolloutError) || error.stopReason === "infrastructure") throw error;
  return { done: true, value: ended(error.stopReason, { blame: error.boundary, message: error.message }) };
}

async function finish(
  trajectory: Trajectory,
  outcome: Outcome,
  planned: PlannedRollout,
  entries: Entry[],
  surroundings: RolloutSurroundings,
): Promise<void> {
  const { folder, clock, emit } = surroundings;
  await folder.finish(trajectory);
  const { total_turns: turns, tool_call_count: toolCalls, timings } = trajectory.metadata;
  const { key, attempt, fingerprint } = planned;
  const end = {
    type: "rollout-end" as const,
    ...key,
    at: timestamp(clock),
    attempt,
    fingerprint,
    outcome,
    turns,
    toolCalls,
    usage: usageOf(entries),
    durationMs: timings.duration_ms,
  };
  await folder.record(end);
  emit(end);
}

async function fail(
  error: RolloutError,
  planned: PlannedRollout,
  entries: Entry[],
  surroundings: RolloutSurroundings,
  startedAt: number,
): Promise<void> {
  const { folder, clock, emit } = surroundings;
  const { key, attempt, fingerprint } = planned;
  const at = timestamp(clock);
  const { queryId: query_id, rollout, dataset } = key;
  await folder.fail({
    id: rolloutId(key),
    query_id,
    rollout,
    dataset,
    attempt,
    error: error.message,
    boundary: error.boundary,
    entries: entries.length,
    at,
  });
  const end = {
    type: "rollout-end" as const,
    ...key,
    at,
    attempt,
    fingerprint,
    outcome: outcomeOf(error),
    turns: 0,
    toolCalls: 0,
    usage: usageOf(entries),
    durationMs: clock.now() - startedAt,
  };
  await folder.record(end);
  emit(end);
}

function outcomeOf(error: RolloutError): Outcome {
  return { success: false, stopReason: error.stopReason, blame: "infrastructure", message: messageOf(error) };
}
