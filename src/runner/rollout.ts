// One rollout from plan to record: a fresh environment, the dialogue, every entry made durable before the next effect, one
// trajectory line at the end. An earlier attempt's entries are replayed, not paid for again.
import {
  contentHash,
  cutText,
  type Entry,
  type Environment,
  endWith,
  extend,
  type ModelParty,
  messageOf,
  type Outcome,
  RolloutError,
  type RolloutEvent,
  recordKey,
  redactText,
  rolloutId,
  sumUsage,
  type Trajectory,
  timestamp,
  UsageError,
} from "../core/index.ts";
import { type DialogueSetup, playDialogue, userSystemPrompt } from "../dialogue/index.ts";
import { type ClientSource, PromptInDoubt } from "../models/index.ts";
import type { PlannedRollout } from "./plan.ts";
import { remarksOn } from "./remarks.ts";
import { announceCalls, differsFromRecord, trustRecord, watchCalls, withRecord } from "./replay.ts";
import type { RunContext } from "./run-context.ts";
import { LostRollout } from "./store.ts";
import { toTrajectory } from "./to-trajectory.ts";

/** `written` resolves, once the record is on disk, to how the dialogue ended; to undefined if it was parked or put off. */
export type PlayedRollout = {
  written: Promise<Outcome | undefined>;
  /** it stopped on the way, and may go on from where it stands */
  isParked?: boolean;
  /** to be played after the others, from where it stands */
  putOff?: PlannedRollout;
};

const NOT_HERE: PlayedRollout = { written: Promise.resolve(undefined) };
const PARKED: PlayedRollout = { ...NOT_HERE, isParked: true };

export class Rollout {
  readonly #context: RunContext;
  readonly #planned: PlannedRollout;
  /** set: work in progress is abandoned at once */
  readonly #abort: AbortSignal;
  #entries: Entry[] = [];
  #startedAt = 0;
  /** on the clock that durations are measured with */
  #began = 0;

  constructor(context: RunContext, planned: PlannedRollout, abort: AbortSignal) {
    this.#context = context;
    this.#planned = planned;
    this.#abort = abort;
  }

  async play(): Promise<PlayedRollout> {
    try {
      const { key, recorded, ended } = this.#planned;
      const played = await this.#playFrom(recorded, ended?.entries === recorded.length ? ended.outcome : undefined);
      if (played !== "differs") return played;
      this.#context.note(`${rolloutId(key)} of ${key.dataset} could not be replayed as recorded and starts over`);
      return (await this.#playFrom([])) as PlayedRollout;
    } catch (error) {
      if (error instanceof LostRollout) return NOT_HERE;
      // what could not finish because the run was stopped has not failed: it continues later
      if (this.#abort.aborted || (this.#context.park.aborted && error instanceof RolloutError)) return PARKED;
      if (error instanceof PromptInDoubt)
        return { ...NOT_HERE, putOff: { ...this.#planned, recorded: [...this.#entries] } };
      return { written: this.#fail(error) };
    }
  }

  async #playFrom(recorded: readonly Entry[], ended?: Outcome): Promise<PlayedRollout | "differs"> {
    const { query, attempt, fingerprint } = this.#planned;
    const { store, clock } = this.#context;
    this.#entries = [];
    this.#startedAt = clock.now();
    this.#began = clock.elapsed();
    const continued = recorded.length;
    const opening = query.messages;
    await this.#record({ type: "rollout-start", at: this.#now(), attempt, fingerprint, continued, opening });
    let environment: Environment | undefined;
    try {
      const opened = await this.#openEnvironment();
      if (!opened) return PARKED;
      environment = this.#withLog(opened, recorded);
      if (query.systemPrompt !== undefined)
        await store.prompts.keepSystem(this.#planned.dataset.systemOf(query).system);
      const toolsHash = await store.prompts.keepTools(environment.tools);
      const userToolsHash = environment.userTools && (await store.prompts.keepTools(environment.userTools));
      const outcome = await this.#playDialogue(environment, recorded, ended);
      if (outcome === "differs") return outcome;
      if (outcome === "parked") return PARKED;
      const trajectory = toTrajectory(this.#planned, {
        entries: this.#entries,
        outcome,
        startedAt: this.#startedAt,
        endedAt: clock.now(),
        durationMs: this.#durationMs(),
        tools: environment.tools,
        toolsHash,
        userToolsHash,
        stateHash: contentHash(await environment.state()),
      });
      return { written: this.#finish(trajectory, outcome).catch((error) => this.#fail(error)) };
    } finally {
      await environment?.close().catch((error) => this.#context.note(`Tools could not be closed: ${messageOf(error)}`));
    }
  }

  /** Undefined if the run is parked while its tools are still starting. */
  async #openEnvironment(): Promise<Environment | undefined> {
    const { dataset, query, seed, key } = this.#planned;
    const opening = this.#context.calls.during(key, dataset.openEnvironment({ query, seed, rollout: key.rollout }));
    const opened = await this.#context.unlessParked(opening);
    if (!opened) opening.then((late) => late.close()).catch(() => {});
    return opened;
  }

  /** A rollout that starts over makes new calls, under new keys. */
  #withLog(opened: Environment, recorded: readonly Entry[]): Environment {
    const { telemetry } = this.#context;
    const { key } = this.#planned;
    const environment = telemetry
      ? watchCalls(opened, recorded, (call, send) => telemetry.watchCall(key, call, send))
      : opened;
    const sent = recorded.length > 0 ? this.#planned.sent : new Map();
    const record = (callId: string, sentAs: string) => this.#record({ type: "call-start", callId, key: sentAs });
    const watched = this.#context.calls.watchTools(environment, key);
    return trustRecord(announceCalls(watched, { sent, record }), recorded);
  }

  async #playDialogue(environment: Environment, recorded: readonly Entry[], ended?: Outcome): Promise<Halted> {
    if (ended && recorded.length === 0) return ended;
    try {
      const take = (entry: Entry) => this.#take(entry, recorded, ended);
      return await playDialogue(this.#setUp(environment, recorded), take);
    } catch (error) {
      return error instanceof Halt ? error.as : toEnd(error);
    }
  }

  /** Entries of an earlier attempt come out again; a new one is kept. */
  #take(entry: Entry, recorded: readonly Entry[], ended?: Outcome): Promise<void> | undefined {
    const index = this.#entries.length;
    const before = recorded[index];
    if (before && differsFromRecord(entry, before)) throw new Halt("differs");
    this.#entries.push(before ?? entry);
    if (!before) return this.#keep(index, entry);
    // one whose record was damaged has nothing more to say
    if (ended && this.#entries.length === recorded.length) throw new Halt(ended);
    return undefined;
  }

  /** Nothing follows an entry before it would survive a kill: a tool may be what brings the process down. */
  async #keep(index: number, entry: Entry): Promise<void> {
    const { dataset, queryId, rollout } = this.#planned.key;
    await this.#context.record({ type: "entry-end", index, entry, dataset, queryId, rollout });
    for (const text of remarksOn(entry, this.#planned.dataset)) this.#context.noteOnce(text);
    if (this.#context.park.aborted) throw new Halt("parked");
  }

  #setUp(environment: Environment, recorded: readonly Entry[]): DialogueSetup {
    const { dataset, query, key, seed } = this.#planned;
    const { spec, agent, user, judge, context } = dataset;
    const script = dataset.scriptOf(query);
    const open = (party: ModelParty, source: ClientSource) => {
      const client = this.#context.calls.watchModel(source.open(script), key, party);
      return withRecord(this.#context.telemetry?.watchClient(client, source) ?? client, recorded, party);
    };
    return {
      query,
      origin: extend(key, { seed, mode: spec.mode }),
      environment,
      agent: {
        client: open("agent", agent),
        system: dataset.systemOf(query).system,
        reasoningSpan: agent.reasoningSpan,
        toolFormat: agent.toolFormat,
      },
      user: user && {
        client: open("user", user),
        system: userSystemPrompt(query, spec.user.prompt),
        toolFormat: user.toolFormat,
      },
      judge: judge && open("judge", judge),
      context: context && { ...context, summariser: open("summary", context.summariser) },
      maxStepsPerTurn: spec.maxStepsPerTurn,
      stopPolicy: dataset.stopPolicy,
      clock: this.#context.clock,
      signal: this.#abort,
    };
  }

  async #finish(trajectory: Trajectory, outcome: Outcome): Promise<Outcome> {
    await this.#context.store.finish(trajectory);
    const { total_turns: turns, tool_call_count: toolCalls, timings } = trajectory.metadata;
    await this.#recordEnd(outcome, { turns, toolCalls, durationMs: timings.duration_ms });
    return outcome;
  }

  /** Whatever went wrong ends this rollout only, unless it concerns the whole run: its setup, or its disk. */
  async #fail(reason: unknown): Promise<Outcome> {
    if (reason instanceof UsageError || reason instanceof LostRollout) throw reason;
    const { key, attempt } = this.#planned;
    const error = reason instanceof RolloutError ? reason : unexpected(reason);
    const { stopReason, kind } = error;
    const message = redactText(error.message);
    if (error !== reason)
      this.#context.noteOnce(`${rolloutId(key)} of ${key.dataset} failed: ${cutText(message, 200)}`);
    const own = error.own ? undefined : false;
    const outcome: Outcome = { success: false, stopReason, blame: "infrastructure", message, kind, own };
    await this.#context.store.fail({
      ...recordKey(key),
      attempt,
      error: message,
      kind: error.kind,
      boundary: error.boundary,
      own: error.own,
      entries: this.#entries.length,
      at: this.#now(),
      stack: stackOf(error),
    });
    await this.#recordEnd(outcome, { turns: 0, toolCalls: 0, durationMs: this.#durationMs() });
    return outcome;
  }

  async #recordEnd(outcome: Outcome, counts: { turns: number; toolCalls: number; durationMs: number }): Promise<void> {
    const { attempt, fingerprint } = this.#planned;
    const usage = sumUsage(this.#entries);
    const entries = this.#entries.length;
    const end = { at: this.#now(), attempt, fingerprint, outcome, usage, entries, ...counts };
    await this.#record({ type: "rollout-end", ...end });
  }

  /** Into the journal, then to the watchers. */
  #record(event: RolloutEvent): Promise<void> {
    return this.#context.record(extend(event, this.#planned.key));
  }

  #durationMs(): number {
    return Math.round(this.#context.clock.elapsed() - this.#began);
  }

  #now(): string {
    return timestamp(this.#context.clock);
  }
}

/** How a dialogue ended, or why it goes no further: it was stopped on the way, or does not repeat what is recorded. */
type Halted = Outcome | "parked" | "differs";

/** Leaves a dialogue that is not over. */
class Halt extends Error {
  readonly as: Halted;
  constructor(as: Halted) {
    super("the dialogue goes no further");
    this.as = as;
  }
}

/** Some errors end the dialogue normally: the context is full, the provider refuses. */
function toEnd(error: unknown): Outcome {
  if (!(error instanceof RolloutError) || error.stopReason === "infrastructure") throw error;
  return endWith(error.stopReason, { blame: error.boundary, message: error.message });
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
  return cause instanceof Error && typeof cause.stack === "string" ? cutText(redactText(cause.stack), 4000) : undefined;
}
