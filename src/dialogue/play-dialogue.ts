// The loop: agent reply → tool calls, answered in call order → until the agent speaks to the user → user reply. It hands
// each entry to its caller and goes on when the caller is done with it, so that an entry can be made durable first. It knows
// nothing about files, terminals or queues.
import {
  ANSWER_REQUEST,
  type Clock,
  type Entry,
  type Environment,
  endWith,
  extend,
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
  type ToolResult,
  timestamp,
} from "../core/index.ts";
import { isTextCall, type ToolFormat } from "../models/index.ts";
import { admitResult, answerGroup, groupCalls, toResultEntry, withUniqueIds } from "./answer-calls.ts";
import { type ContextPolicy, ContextRoom } from "./context-room.ts";
import { readUserText } from "./end-tokens.ts";
import { askJudge } from "./judge.ts";
import { repairReply } from "./repair.ts";
import type { StopPolicy } from "./stop-conditions/index.ts";
import { TimeLimit } from "./time-limit.ts";
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

/** What becomes of an entry. A throw ends the dialogue. */
export type Keep = (entry: Entry) => Promise<void> | undefined;

/** How the dialogue ends, if it does. */
type End = Promise<Outcome | undefined>;
/** What a party said in the end, or how the rollout ends because of it. */
type Speech = Promise<ReplyEntry | Outcome>;

export async function playDialogue(setup: DialogueSetup, keep: Keep): Promise<Outcome> {
  const dialogue = new Dialogue(setup, keep);
  await dialogue.open();
  if (!dialogue.agentIsNext()) {
    const over = await dialogue.userTurn();
    if (over) return over;
  }
  for (;;) {
    const over = (await dialogue.agentTurn()) ?? (await dialogue.judgeTurn()) ?? (await dialogue.userTurn());
    if (over) return over;
  }
}

class Dialogue {
  readonly #setup: DialogueSetup;
  readonly #keep: Keep;
  readonly #entries: Entry[] = [];
  /** of the opening and of all replies */
  readonly #callIds: Set<string>;
  readonly #calls = { agent: 0, user: 0, judge: 0, summary: 0 };
  readonly #room: ContextRoom | undefined;
  readonly #startedAt: number;
  #turns = 0;

  constructor(setup: DialogueSetup, keep: Keep) {
    this.#setup = setup;
    this.#keep = keep;
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
  async open(): Promise<void> {
    for (const { id, name, result } of this.#setup.environment.opened ?? [])
      await this.#record(toResultEntry({ id, name }, admitResult(result), { at: this.#now(), by: "setup" }));
  }

  async agentTurn(): End {
    this.#turns++;
    const reply = await this.#speak("agent");
    if ("stopReason" in reply) return reply;
    return (
      this.#stop(true) ?? (reply.contextFull && endWith("context_overflow", { message: "no room for more turns" }))
    );
  }

  async userTurn(): End {
    const reply = await this.#speak("user");
    if ("stopReason" in reply) return reply;
    const { end } = readUserText(reply.content);
    return end && endWith(end);
  }

  async judgeTurn(): End {
    const { judge, query, signal } = this.#setup;
    if (!judge) return undefined;
    const origin = this.#origin("judge");
    const verdict = await askJudge(judge, { opening: query.messages, entries: this.#entries, origin }, signal);
    await this.#record({ ...verdict, at: this.#now() });
    return verdict.stop ? endWith("llm_judge", { message: verdict.reason }) : undefined;
  }

  /** Steps until the party speaks to the other. At the step limit it is asked once more with tools off. */
  async #speak(party: Party): Speech {
    const { environment, maxStepsPerTurn } = this.#setup;
    const canCall = party === "agent" || (environment.userTools ?? []).length > 0;
    for (let step = 0; ; step++) {
      const toolChoice = canCall && step < maxStepsPerTurn ? "auto" : "none";
      const reply = await (party === "agent" ? this.#replyInRoom(toolChoice) : this.#userReply(toolChoice));
      if ("stopReason" in reply || reply.toolCalls.length === 0) return reply;
      const over = (await this.#answer(reply.toolCalls, party)) ?? this.#stop(false);
      if (over) return over;
    }
  }

  /** The agent's reply; where the context is full, room is made for it first. */
  async #replyInRoom(toolChoice: "auto" | "none"): Speech {
    for (let isForced = false; ; isForced = true) {
      const made = await this.#makeRoom(isForced);
      if (made && made !== "answer") return made;
      const reply = await (made ? this.#agentReply("none", isForced ? "tight" : "last") : this.#agentReply(toolChoice));
      const canMend = this.#room && this.#room.policy.onFull !== "end" && this.#hasWorked();
      if (!("stopReason" in reply) || reply.stopReason !== "context_overflow" || made || isForced || !canMend)
        return reply;
    }
  }

  /** Undefined if the next request fits, as it is or after a summary; else how to go on. */
  async #makeRoom(isForced: boolean): Promise<Outcome | "answer" | undefined> {
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
      await this.#record(fault ? { ...summary, rejected: fault } : summary);
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
  async #userReply(toolChoice: "auto" | "none"): Speech {
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
        await this.#record({ ...reply, rejected: "content_filter" });
        return endWith("content_filter", { blame: "user" });
      }
      if (reply.finish === "context-length") {
        await this.#record({ ...reply, rejected: "context_overflow" });
        return endWith("context_overflow", { blame: "user", message: "the reply was cut by the end of the context" });
      }
      const fault = findUserFault(reply, this.#agentsLastText(), [...tools, ...userTools], toolChoice === "auto");
      if (!fault) {
        await this.#record(reply);
        return reply;
      }
      faults.push(fault);
      await this.#record({ ...reply, rejected: fault });
    }
    return endWith("user_fault", { blame: "user", message: faults.join(", ") });
  }

  /**
   * The agent's reply, or how the rollout ends because of it. What is no reply is asked for once more. `last`: it is to be
   * its last, for want of room.
   */
  async #agentReply(toolChoice: "auto" | "none", last?: LastAnswer): Speech {
    const limit = last ? "context_overflow" : "max_steps";
    let advice = "";
    for (let attempt = 0; ; attempt++) {
      const asked = await this.#ask("agent", this.#setup.agent, toolChoice, advice, last);
      const entry = this.#toEntry("agent", asked);
      const reply = withUniqueIds(last ? { ...entry, contextFull: true } : entry, this.#callIds);
      const spoke = reply.content.trim() !== "";
      const isDisguised = reply.toolCalls.length === 0 && isTextCall(reply.content, this.#setup.environment.tools);
      if (reply.finish === "content-filter") {
        await this.#record(reply);
        return endWith("content_filter", { blame: "agent" });
      }
      if (reply.finish === "context-length") {
        await this.#record({ ...reply, rejected: "context_overflow" });
        return endWith("context_overflow", { blame: "agent", message: "the reply was cut by the end of the context" });
      }
      if (reply.finish === "length") {
        await this.#record(isDisguised ? { ...reply, rejected: "text_call" } : reply);
        return endWith("truncated_reply", { blame: "agent", message: "the reply was cut by the token limit" });
      }
      if (toolChoice === "none" && reply.toolCalls.length > 0) {
        // never executed: a record must not hold calls without answers
        const spoken = { ...reply, toolCalls: [], ignoredCalls: reply.toolCalls };
        await this.#record(spoke ? spoken : { ...reply, rejected: "calls_with_tools_off" });
        return spoke ? spoken : endWith(limit, { blame: "agent" });
      }
      if (reply.malformed) {
        await this.#record({ ...reply, rejected: "malformed_reply" });
        if (attempt === 1)
          return endWith("malformed_reply", { blame: "agent", message: "the server could not parse it" });
        continue;
      }
      if (isDisguised) {
        await this.#record({ ...reply, rejected: "text_call" });
        if (attempt === 1) return endWith("text_call", { blame: "agent", message: "a tool call was written as text" });
        advice = adviceFor(this.#setup.agent, toolChoice, TEXT_CALL_ADVICE);
        continue;
      }
      if (spoke || reply.toolCalls.length > 0) {
        await this.#record(reply);
        return reply;
      }
      await this.#record({ ...reply, rejected: "empty_reply" });
      if (attempt === 1) return endWith(toolChoice === "none" ? limit : "empty_reply", { blame: "agent" });
    }
  }

  /** Within the rollout's time limit: what has not answered by then is given up, and the dialogue ends without it. */
  async #answer(calls: readonly ToolCall[], party: Party): End {
    const { stopPolicy, clock, environment } = this.#setup;
    const { maxMs } = stopPolicy;
    const by = party === "user" ? party : undefined;
    const limit = maxMs === undefined ? undefined : new TimeLimit(clock, maxMs - this.#elapsedMs(), this.#setup.signal);
    const signal = limit?.signal ?? this.#setup.signal;
    try {
      for (const group of groupCalls(environment, calls)) {
        const work = answerGroup({ environment, signal, by }, group);
        const results = limit ? await limit.within(work) : await work;
        if (!results) return this.#stop(false, Number(maxMs) + 1);
        for (let index = 0; index < group.length; index++) {
          const [call, result] = [group[index] as ToolCall, results[index] as ToolResult];
          await this.#record(toResultEntry(call, result, { at: this.#now(), by }));
        }
      }
      return undefined;
    } finally {
      limit?.end();
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
    this.#calls[party]++;
    try {
      const reply = await speaker.client.complete(request, this.#setup.signal);
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
      origin: extend(this.#setup.origin, { party, position: this.#calls[party] }),
    };
  }

  #toEntry(by: Party, reply: ModelReply): ReplyEntry {
    return { type: "reply", by, ...reply, at: this.#now() };
  }

  #record(entry: Entry): Promise<void> | undefined {
    this.#entries.push(entry);
    if (entry.type === "reply") for (const { id } of entry.toolCalls) this.#callIds.add(id);
    return this.#keep(entry);
  }

  #origin(party: ModelParty): RequestOrigin {
    return extend(this.#setup.origin, { party, position: this.#calls[party]++ });
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
