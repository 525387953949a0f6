// The loop: agent reply → tool calls, answered in call order → until the agent speaks to the user → user reply. It yields
// each entry and continues only when the next one is asked for, so that its consumer can make an entry durable first.
// It knows nothing about files, terminals or queues.
import {
  ANSWER_REQUEST,
  type Clock,
  type Entry,
  type Environment,
  endWith,
  type ModelClient,
  type ModelParty,
  type ModelReply,
  type ModelRequest,
  NO_USAGE,
  type Outcome,
  type Party,
  type Query,
  type ReasoningSpan,
  type ReplyEntry,
  type RequestOrigin,
  RolloutError,
  type SummaryEntry,
  type ToolCall,
  timestamp,
} from "../core/index.ts";
import { isTextCall, type ToolFormat } from "../models/index.ts";
import { answerCalls, toResultEntry, withUniqueIds } from "./answer-calls.ts";
import { type ContextPolicy, ContextRoom } from "./context-room.ts";
import { readUserText } from "./end-tokens.ts";
import { askJudge } from "./judge.ts";
import { repairReply } from "./repair.ts";
import type { StopPolicy } from "./stop-conditions/index.ts";
import { findUserFault, type UserFault } from "./user-faults.ts";
import { viewFor } from "./view.ts";

type Speaker = { client: ModelClient; system: string; reasoningSpan?: ReasoningSpan; toolFormat?: ToolFormat };

export type DialogueSetup = {
  query: Query;
  origin: Omit<RequestOrigin, "party" | "position">;
  environment: Environment;
  agent: Speaker;
  /** not needed if `maxTurns` is 1 */
  user?: Speaker;
  judge?: ModelClient;
  /** how long the agent's context is, if something is to happen before it is full */
  context?: ContextPolicy;
  maxStepsPerTurn: number;
  stopPolicy: StopPolicy;
  clock: Clock;
  signal: AbortSignal;
};

/** More than a timer can count would be no time at all. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const TEXT_CALL_ADVICE = {
  auto: "\n\nYour last reply was a tool call written as text, which nobody can run. Call tools through the tool interface only, or answer the user in plain words.",
  none: "\n\nYour last reply was a tool call written as text. No tool can be called now: answer the user in plain words.",
};
/** For models whose tools are described in their system prompt. */
const FORMAT_ADVICE =
  "\n\nYour last reply was a tool call that is not in the format described below. Keep to it exactly, or answer in plain words.";
const USER_CALL_ADVICE = {
  auto: "\n\nYour last reply was a tool call written as text. Call your own tools through the tool interface, or write what the user says, in plain words.",
  none: "\n\nYour last reply was a tool call. You are the user: write only what the user says, in plain words.",
};

const OVERFLOWED: ModelReply = { content: "", toolCalls: [], usage: NO_USAGE, finish: "context-length" };

/** The last answer for want of room; tight: more than fits was tried already. */
type LastAnswer = "last" | "tight";

function adviceFor({ toolFormat }: Speaker, toolChoice: "auto" | "none", native: typeof TEXT_CALL_ADVICE): string {
  return toolChoice === "auto" && toolFormat && toolFormat !== "native" ? FORMAT_ADVICE : native[toolChoice];
}

type Entries = AsyncGenerator<Entry, Outcome | undefined, void>;
/** What a party said in the end, or how the rollout ends because of it. */
type Speech = AsyncGenerator<Entry, ReplyEntry | Outcome, void>;

export async function* playDialogue(setup: DialogueSetup): AsyncGenerator<Entry, Outcome, void> {
  const dialogue = new Dialogue(setup);
  yield* dialogue.opening();
  if (!dialogue.agentIsNext()) {
    const over = yield* dialogue.userTurn();
    if (over) return over;
  }
  for (;;) {
    const over = (yield* dialogue.agentTurn()) ?? (yield* dialogue.judgeTurn()) ?? (yield* dialogue.userTurn());
    if (over) return over;
  }
}

class Dialogue {
  readonly #setup: DialogueSetup;
  readonly #entries: Entry[] = [];
  /** of the opening and of all replies */
  readonly #callIds: Set<string>;
  readonly #calls = { agent: 0, user: 0, judge: 0, summary: 0 };
  readonly #room: ContextRoom | undefined;
  readonly #startedAt: number;
  #turns = 0;

  constructor(setup: DialogueSetup) {
    this.#setup = setup;
    this.#callIds = new Set(
      setup.query.messages.flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : [])),
    );
    this.#room = setup.context && new ContextRoom(setup.context);
    this.#startedAt = setup.clock.elapsed();
  }

  agentIsNext(): boolean {
    const last = this.#setup.query.messages.at(-1)?.role;
    return last === "user" || last === "tool";
  }

  /** What was called before the first word, for the record. */
  async *opening(): Entries {
    for (const { id, name, result } of this.#setup.environment.opened ?? [])
      yield this.#record(toResultEntry({ id, name }, result, { at: this.#now(), by: "setup" }));
    return undefined;
  }

  async *agentTurn(): Entries {
    this.#turns++;
    const reply = yield* this.#speak("agent");
    if ("stopReason" in reply) return reply;
    return (
      this.#stop(true) ?? (reply.contextFull && endWith("context_overflow", { message: "no room for more turns" }))
    );
  }

  async *userTurn(): Entries {
    const reply = yield* this.#speak("user");
    if ("stopReason" in reply) return reply;
    const { end } = readUserText(reply.content);
    return end && endWith(end);
  }

  async *judgeTurn(): Entries {
    const { judge, query, signal } = this.#setup;
    if (!judge) return undefined;
    const origin = this.#origin("judge");
    const verdict = await askJudge(judge, { opening: query.messages, entries: this.#entries, origin }, signal);
    yield this.#record({ ...verdict, at: this.#now() });
    return verdict.stop ? endWith("llm_judge", { message: verdict.reason }) : undefined;
  }

  /** Steps until the party speaks to the other. At the step limit it is asked once more with tools off. */
  async *#speak(party: Party): Speech {
    const { environment, maxStepsPerTurn } = this.#setup;
    const canCall = party === "agent" || (environment.userTools ?? []).length > 0;
    for (let step = 0; ; step++) {
      const toolChoice = canCall && step < maxStepsPerTurn ? "auto" : "none";
      const reply = yield* party === "agent" ? this.#replyInRoom(toolChoice) : this.#userReply(toolChoice);
      if ("stopReason" in reply || reply.toolCalls.length === 0) return reply;
      const over = (yield* this.#answer(reply.toolCalls, party)) ?? this.#stop(false);
      if (over) return over;
    }
  }

  /** The agent's reply; where the context is full, room is made for it first. */
  async *#replyInRoom(toolChoice: "auto" | "none"): Speech {
    for (let isForced = false; ; isForced = true) {
      const made = yield* this.#makeRoom(isForced);
      if (made && made !== "answer") return made;
      const reply = yield* made ? this.#agentReply("none", isForced ? "tight" : "last") : this.#agentReply(toolChoice);
      const canMend = this.#room && this.#room.policy.onFull !== "end" && this.#hasWorked();
      if (!("stopReason" in reply) || reply.stopReason !== "context_overflow" || made || isForced || !canMend)
        return reply;
    }
  }

  /** Undefined if the next request fits, as it is or after a summary; else how to go on. */
  async *#makeRoom(isForced: boolean): AsyncGenerator<Entry, Outcome | "answer" | undefined, void> {
    const room = this.#room;
    if (!room || !this.#hasWorked()) return undefined;
    const request = this.#request("agent", this.#setup.agent, "auto");
    if (!isForced && !room.isFull(request)) return undefined;
    const { onFull } = room.policy;
    if (onFull === "answer") return onFull;
    if (onFull === "end") return endWith("context_overflow", { blame: "agent", message: room.describe(request) });
    const after = (summary: SummaryEntry) =>
      this.#request("agent", this.#setup.agent, "auto", { entries: [...this.#entries, summary] });
    const bare = after({ type: "summary", content: "", toolCalls: [], usage: NO_USAGE, finish: "stop", at: "" });
    if (room.isFull(bare))
      return endWith("context_overflow", { blame: "agent", message: `without any work, ${room.describe(bare)}` });
    for (let attempt = 0; attempt < 2; attempt++) {
      const asked = { ...request, toolChoice: "none" as const, origin: this.#origin("summary") };
      const reply = await room.summarise(asked, isForced, this.#setup.signal);
      const summary: SummaryEntry = { type: "summary", ...repairReply(reply), at: this.#now() };
      const fault = room.findFault(summary, after(summary));
      yield this.#record(fault ? { ...summary, rejected: fault } : summary);
      if (fault === "content_filter") return endWith(fault, { blame: "agent" });
      if (!fault) return undefined;
    }
    return endWith("context_overflow", { blame: "agent", message: "two summaries made no room" });
  }

  /** Whether there is anything since the last summary that another one could shorten. */
  #hasWorked(): boolean {
    const last = this.#entries.findLast(
      (entry) => (entry.type === "summary" || (entry.type === "reply" && entry.by === "agent")) && !entry.rejected,
    );
    return last?.type === "reply";
  }

  /** A reply that may not be shown to the agent is asked for again, at most twice. */
  async *#userReply(toolChoice: "auto" | "none"): Speech {
    const { user, query, environment } = this.#setup;
    const { tools, userTools = [] } = environment;
    if (!user) {
      throw new RolloutError("infrastructure", `query "${query.id}" has no user message to answer, and no user model`);
    }
    const faults: UserFault[] = [];
    while (faults.length < 3) {
      const advice = faults.at(-1) === "user_calls_tool" ? adviceFor(user, toolChoice, USER_CALL_ADVICE) : "";
      const asked = await this.#ask("user", user, toolChoice, advice);
      const reply = withUniqueIds(this.#toEntry("user", asked), this.#callIds);
      if (reply.finish === "content-filter") {
        yield this.#record({ ...reply, rejected: "content_filter" });
        return endWith("content_filter", { blame: "user" });
      }
      if (reply.finish === "context-length") {
        yield this.#record({ ...reply, rejected: "context_overflow" });
        return endWith("context_overflow", { blame: "user", message: "the reply was cut by the end of the context" });
      }
      const fault = findUserFault(reply, this.#agentsLastText(), [...tools, ...userTools], toolChoice === "auto");
      if (!fault) {
        yield this.#record(reply);
        return reply;
      }
      faults.push(fault);
      yield this.#record({ ...reply, rejected: fault });
    }
    return endWith("user_fault", { blame: "user", message: faults.join(", ") });
  }

  /**
   * The agent's reply, or how the rollout ends because of it. What is no reply is asked for once more. `last`: it is to be
   * its last, for want of room.
   */
  async *#agentReply(toolChoice: "auto" | "none", last?: LastAnswer): Speech {
    const limit = last ? "context_overflow" : "max_steps";
    let advice = "";
    for (let attempt = 0; ; attempt++) {
      const asked = await this.#ask("agent", this.#setup.agent, toolChoice, advice, last);
      const entry: ReplyEntry = { ...this.#toEntry("agent", asked), ...(last && { contextFull: true }) };
      const reply = withUniqueIds(entry, this.#callIds);
      const spoke = reply.content.trim() !== "";
      const isDisguised = reply.toolCalls.length === 0 && isTextCall(reply.content, this.#setup.environment.tools);
      if (reply.finish === "content-filter") {
        yield this.#record(reply);
        return endWith("content_filter", { blame: "agent" });
      }
      if (reply.finish === "context-length") {
        yield this.#record({ ...reply, rejected: "context_overflow" });
        return endWith("context_overflow", { blame: "agent", message: "the reply was cut by the end of the context" });
      }
      if (reply.finish === "length") {
        yield this.#record(isDisguised ? { ...reply, rejected: "text_call" } : reply);
        return endWith("truncated_reply", { blame: "agent", message: "the reply was cut by the token limit" });
      }
      if (toolChoice === "none" && reply.toolCalls.length > 0) {
        // never executed: a record must not hold calls without answers
        const spoken = { ...reply, toolCalls: [], ignoredCalls: reply.toolCalls };
        yield this.#record(spoke ? spoken : { ...reply, rejected: "calls_with_tools_off" });
        return spoke ? spoken : endWith(limit, { blame: "agent" });
      }
      if (reply.malformed) {
        yield this.#record({ ...reply, rejected: "malformed_reply" });
        if (attempt === 1)
          return endWith("malformed_reply", { blame: "agent", message: "the server could not parse it" });
        continue;
      }
      if (isDisguised) {
        yield this.#record({ ...reply, rejected: "text_call" });
        if (attempt === 1) return endWith("text_call", { blame: "agent", message: "a tool call was written as text" });
        advice = adviceFor(this.#setup.agent, toolChoice, TEXT_CALL_ADVICE);
        continue;
      }
      if (spoke || reply.toolCalls.length > 0) {
        yield this.#record(reply);
        return reply;
      }
      yield this.#record({ ...reply, rejected: "empty_reply" });
      if (attempt === 1) return endWith(toolChoice === "none" ? limit : "empty_reply", { blame: "agent" });
    }
  }

  /** Within the rollout's time limit: what has not answered by then is given up, and the dialogue ends without it. */
  async *#answer(calls: readonly ToolCall[], party: Party): Entries {
    const { signal, stopPolicy, clock, environment } = this.#setup;
    const { maxMs } = stopPolicy;
    const answering = { environment, clock, signal, by: party === "user" ? party : undefined };
    if (maxMs === undefined) {
      for await (const result of answerCalls(answering, calls)) yield this.#record(result);
      return undefined;
    }
    const [late, done] = [new AbortController(), new AbortController()];
    const results = answerCalls({ ...answering, signal: AbortSignal.any([signal, late.signal]) }, calls);
    const timeUp = clock.sleep(Math.min(Math.max(0, maxMs - this.#elapsedMs()), MAX_TIMER_MS), done.signal).then(
      () => "time is up" as const,
      () => new Promise<never>(() => {}), // answered in time
    );
    try {
      for (;;) {
        const next = results.next();
        const first = await Promise.race([next, timeUp]);
        if (first === "time is up") {
          next.catch(() => {});
          late.abort(new RolloutError("tool", "the rollout's time is up"));
          return this.#stop(false, maxMs + 1);
        }
        if (first.done) return undefined;
        yield this.#record(first.value);
      }
    } finally {
      done.abort();
    }
  }

  /** Advice for one call goes into its system prompt: some templates refuse two user messages in a row. */
  async #ask(
    party: Party,
    speaker: Speaker,
    toolChoice: "auto" | "none",
    advice: string,
    last?: LastAnswer,
  ): Promise<ModelReply> {
    const room = party === "agent" ? this.#room : undefined;
    const whole = this.#request(party, speaker, toolChoice, { advice });
    const request = room && last ? room.fit(whole, ANSWER_REQUEST, last === "tight") : whole;
    const origin = this.#origin(party);
    try {
      const reply = await speaker.client.complete({ ...request, origin }, this.#setup.signal);
      room?.learn(request, reply);
      return repairReply(reply);
    } catch (error) {
      // in the record, so that a resume finds the same way out
      const isFull = error instanceof RolloutError && error.stopReason === "context_overflow";
      if (isFull && room && room.policy.onFull !== "end" && this.#hasWorked()) return OVERFLOWED;
      throw error;
    }
  }

  #request(
    party: Party,
    { system, reasoningSpan }: Speaker,
    toolChoice: "auto" | "none",
    { advice = "", entries = this.#entries }: { advice?: string; entries?: readonly Entry[] } = {},
  ): ModelRequest {
    const { query, environment } = this.#setup;
    return {
      system: system + advice,
      messages: viewFor(party, query.messages, entries, reasoningSpan),
      tools: party === "agent" ? environment.tools : (environment.userTools ?? []),
      toolChoice,
      origin: { ...this.#setup.origin, party, position: this.#calls[party] },
    };
  }

  #toEntry(by: Party, reply: ModelReply): ReplyEntry {
    return { type: "reply", by, ...reply, at: this.#now() };
  }

  #record(entry: Entry): Entry {
    this.#entries.push(entry);
    if (entry.type === "reply") for (const { id } of entry.toolCalls) this.#callIds.add(id);
    return entry;
  }

  #origin(party: ModelParty): RequestOrigin {
    return { ...this.#setup.origin, party, position: this.#calls[party]++ };
  }

  #elapsedMs(): number {
    return this.#setup.clock.elapsed() - this.#startedAt;
  }

  #stop(turnEnded: boolean, atLeastMs = 0): Outcome | undefined {
    const elapsedMs = Math.max(this.#elapsedMs(), atLeastMs);
    return this.#setup.stopPolicy({ entries: this.#entries, turns: this.#turns, turnEnded, elapsedMs });
  }

  #agentsLastText(): string | undefined {
    const last = this.#entries.findLast((entry) => entry.type === "reply" && entry.by === "agent" && !entry.rejected);
    if (last?.type === "reply") return last.content;
    return this.#setup.query.messages.findLast((message) => message.role === "assistant" && !message.tool_calls)
      ?.content;
  }

  #now(): string {
    return timestamp(this.#setup.clock);
  }
}
