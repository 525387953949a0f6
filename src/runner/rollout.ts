// One rollout from plan to record: a fresh environment, the dialogue, every entry made durable before the
// next effect, one trajectory line at the end. An earlier attempt's entries are replayed, not paid for again.
import {
  contentHash,
  cutText,
  type Entry,
  type Environment,
  endWith,
  type ModelClient,
  messageOf,
  type Outcome,
  RolloutError,
  type RolloutEvent,
  recordKey,
  rolloutId,
  sumUsage,
  type Trajectory,
  timestamp,
  UsageError,
} from "../core/index.ts";
import { playDialogue, userSystemPrompt } from "../dialogue/index.ts";
import type { PlannedRollout } from "./plan.ts";
import type { PreparedDataset } from "./prepare-dataset.ts";
import { differsFromRecord, trustRecord, withRecord } from "./replay.ts";
import type { RunContext } from "./run-context.ts";
import { toTrajectory } from "./to-trajectory.ts";

/** Resolves, once the record is on disk, to how the dialogue ended; to undefined if it was parked. */
export type PlayedRollout = { written: Promise<Outcome | undefined> };

const PARKED: PlayedRollout = { written: Promise.resolve(undefined) };

export class Rollout {
  readonly #context: RunContext;
  readonly #planned: PlannedRollout;
  /** set: work in progress is abandoned at once */
  readonly #abort: AbortSignal;
  #entries: Entry[] = [];
  #startedAt = 0;

  constructor(context: RunContext, planned: PlannedRollout, abort: AbortSignal) {
    this.#context = context;
    this.#planned = planned;
    this.#abort = abort;
  }

  async play(): Promise<PlayedRollout> {
    try {
      const { key, recorded } = this.#planned;
      const played = await this.#playFrom(recorded);
      if (played !== "differs") return played;
      this.#context.note(`${rolloutId(key)} of ${key.dataset} could not be replayed as recorded and starts over`);
      return (await this.#playFrom([])) as PlayedRollout;
    } catch (error) {
      // what could not finish because the run was stopped has not failed: it continues later
      if (this.#abort.aborted || (this.#context.park.aborted && error instanceof RolloutError)) return PARKED;
      return { written: this.#fail(error) };
    }
  }

  /** Every entry is made durable before the next one is asked for. */
  async #playFrom(recorded: readonly Entry[]): Promise<PlayedRollout | "differs"> {
    const { dataset, query, seed, attempt, fingerprint } = this.#planned;
    const { folder, clock, park } = this.#context;
    this.#entries = [];
    this.#startedAt = clock.now();
    const continued = recorded.length;
    const opening = query.messages;
    await this.#record({ type: "rollout-start", at: this.#now(), attempt, fingerprint, continued, opening });
    let environment: Environment | undefined;
    try {
      environment = trustRecord(await dataset.openEnvironment(query, seed), recorded);
      const toolsHash = await folder.prompts.keepTools(environment.tools);
      const dialogue = this.#openDialogue(environment, recorded);
      let next = await dialogue.next().catch(toEnd);
      for (; !next.done; next = await dialogue.next().catch(toEnd)) {
        const index = this.#entries.length;
        const before = recorded[index];
        if (before && differsFromRecord(next.value, before)) return "differs";
        const entry = before ?? next.value;
        this.#entries.push(entry);
        if (before) continue;
        await this.#record({ type: "entry-end", index, entry });
        for (const text of remarksOn(entry, dataset)) this.#context.noteOnce(text);
        if (park.aborted) return PARKED;
      }
      const outcome = next.value;
      const trajectory = toTrajectory(this.#planned, {
        entries: this.#entries,
        outcome,
        startedAt: this.#startedAt,
        endedAt: clock.now(),
        tools: environment.tools,
        toolsHash,
        stateHash: contentHash(await environment.state()),
      });
      return { written: this.#finish(trajectory, outcome).catch((error) => this.#fail(error)) };
    } finally {
      await environment?.close().catch((error) => this.#context.note(`Tools could not be closed: ${messageOf(error)}`));
    }
  }

  #openDialogue(environment: Environment, recorded: readonly Entry[]): ReturnType<typeof playDialogue> {
    const { dataset, query, key, seed } = this.#planned;
    const { spec, agent, user, judge } = dataset;
    const script = dataset.scriptOf(query);
    const open = (party: "agent" | "user" | "judge", client: ModelClient) => withRecord(client, recorded, party);
    return playDialogue({
      query,
      origin: { ...key, seed, mode: spec.mode },
      environment,
      agent: {
        client: open("agent", agent.open(script)),
        system: dataset.agentSystem,
        reasoningSpan: agent.reasoningSpan,
      },
      user: user && { client: open("user", user.open(script)), system: userSystemPrompt(query, spec.user.prompt) },
      judge: judge && open("judge", judge.open(script)),
      maxStepsPerTurn: spec.maxStepsPerTurn,
      stopPolicy: dataset.stopPolicy,
      clock: this.#context.clock,
      signal: this.#abort,
    });
  }

  async #finish(trajectory: Trajectory, outcome: Outcome): Promise<Outcome> {
    await this.#context.folder.finish(trajectory);
    const { total_turns: turns, tool_call_count: toolCalls, timings } = trajectory.metadata;
    await this.#recordEnd(outcome, { turns, toolCalls, durationMs: timings.duration_ms });
    return outcome;
  }

  /** Whatever went wrong ends this rollout only, unless it concerns the whole run: its setup, or its disk. */
  async #fail(reason: unknown): Promise<Outcome> {
    if (reason instanceof UsageError) throw reason;
    const { key, attempt } = this.#planned;
    const error = reason instanceof RolloutError ? reason : unexpected(reason);
    const { stopReason, message, kind } = error;
    if (error !== reason)
      this.#context.noteOnce(`${rolloutId(key)} of ${key.dataset} failed: ${cutText(message, 200)}`);
    const own = error.own ? undefined : false;
    const outcome: Outcome = { success: false, stopReason, blame: "infrastructure", message, kind, own };
    await this.#context.folder.fail({
      ...recordKey(key),
      attempt,
      error: error.message,
      kind: error.kind,
      boundary: error.boundary,
      own: error.own,
      entries: this.#entries.length,
      at: this.#now(),
      stack: stackOf(error),
    });
    const durationMs = this.#context.clock.now() - this.#startedAt;
    await this.#recordEnd(outcome, { turns: 0, toolCalls: 0, durationMs });
    return outcome;
  }

  async #recordEnd(outcome: Outcome, counts: { turns: number; toolCalls: number; durationMs: number }): Promise<void> {
    const { attempt, fingerprint } = this.#planned;
    const usage = sumUsage(this.#entries);
    await this.#record({ type: "rollout-end", at: this.#now(), attempt, fingerprint, outcome, usage, ...counts });
  }

  /** Into the journal, then to the watchers. */
  #record(event: RolloutEvent): Promise<void> {
    return this.#context.record({ ...event, ...this.#planned.key });
  }

  #now(): string {
    return timestamp(this.#context.clock);
  }
}

/** Some errors end the dialogue normally: the context is full, the provider refuses. */
function toEnd(error: unknown): IteratorReturnResult<Outcome> {
  if (!(error instanceof RolloutError) || error.stopReason === "infrastructure") throw error;
  return { done: true, value: endWith(error.stopReason, { blame: error.boundary, message: error.message }) };
}

/** A bug of ours, or of code that a dataset or a library user brings. */
function unexpected(reason: unknown): RolloutError {
  const message = reason instanceof Error ? `${reason.name}: ${messageOf(reason)}` : messageOf(reason);
  return new RolloutError("infrastructure", message, { kind: "exception", cause: reason });
}

/** Of the innermost cause that is an exception and no failure of ours. */
function stackOf(error: RolloutError): string | undefined {
  let cause: unknown = error;
  while (cause instanceof RolloutError) cause = cause.cause;
  return cause instanceof Error && typeof cause.stack === "string" ? cutText(cause.stack, 4000) : undefined;
}

/** What a reply shows about its endpoint, for people to know once. */
function remarksOn(entry: Entry, dataset: PreparedDataset): string[] {
  if (entry.type !== "reply") return [];
  const { rejected, served, by } = entry;
  const remarks: string[] = [];
  if (rejected === "text_call") remarks.push(adviseOnTextCalls(dataset));
  if (served?.insteadOf !== undefined)
    remarks.push(`the ${by}'s endpoint was asked for ${served.insteadOf} and answers as ${served.model}`);
  return remarks;
}

/** Most often the server has no parser for the model's way of calling tools. */
function adviseOnTextCalls({ agent, spec }: PreparedDataset): string {
  const remedy = spec.agent.settings.recoverTextCalls
    ? "and not all of them can be recovered; see what it writes in metadata.faults of the records"
    : "start the server with a tool-call parser (vLLM: --enable-auto-tool-choice --tool-call-parser NAME), or set recover_text_calls: true for the agent";
  return `${agent.id} writes tool calls as text: ${remedy}`;
}
