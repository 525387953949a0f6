// The loop: agent reply → tool calls, answered in call order → until the agent speaks to the user → user reply. It yields
// each entry and continues only when the next one is asked for, so that its consumer can make an entry durable first.
// It knows nothing about files, terminals or queues.
import {
  type Clock,
  type Entry,
  type Environment,
  endWith,
  type ModelClient,
  type ModelReply,
  type Outcome,
  type Party,
  type Query,
  type ReasoningSpan,
  type ReplyEntry,
  type RequestOrigin,
  RolloutError,
  type ToolCall,
  timestamp,
} from "../core/index.ts";
import { isTextCall } from "../models/index.ts";
import { answerCalls, toResultEntry, withUniqueIds } from "./answer-calls.ts";
import { readUserText } from "./end-tokens.ts";
import { askJudge } from "./judge.ts";
import { repairReply } from "./repair.ts";
import type { StopPolicy } from "./stop-conditions/index.ts";
import { findUserFault, type UserFault } from "./user-faults.ts";
import { viewFor } from "./view.ts";

type Speaker = { client: ModelClient; system: string; reasoningSpan?: ReasoningSpan };

export type DialogueSetup = {
  query: Query;
  origin: Omit<RequestOrigin, "party" | "position">;
  environment: Environment;
  agent: Speaker;
  /** not needed if `maxTurns` is 1 */
  user?: Speaker;
  judge?: ModelClient;
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
const USER_CALL_ADVICE = {
  auto: "\n\nYour last reply was a tool call written as text. Call your own tools through the tool interface, or write what the user says, in plain words.",
  none: "\n\nYour last reply was a tool call. You are the user: write only what the user says, in plain words.",
};

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
  readonly #calls = { agent: 0, user: 0, judge: 0 };
  readonly #startedAt: number;
  #turns = 0;

  constructor(setup: DialogueSetup) {
    this.#setup = setup;
    this.#startedAt = setup.clock.elapsed();
  }

  agentIsNext(): boolean {
    const last = this.#setup.query.messages.at(-1)?.role;
    return last === "user" || last === "tool";
  }

  /** What was called before the first word, for the record. */
  async *opening(): Entries {
    for (const { id, name, result } of this.#setup.environment.opened ?? [])
      yield* this.#record(toResultEntry({ id, name }, result, { at: this.#now(), by: "setup" }));
    return undefined;
  }

  async *agentTurn(): Entries {
    this.#turns++;
    const reply = yield* this.#speak("agent");
    return "stopReason" in reply ? reply : this.#stop(true);
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
    yield* this.#record({ ...verdict, at: this.#now() });
    return verdict.stop ? endWith("llm_judge", { message: verdict.reason }) : undefined;
  }

  /** Steps until the party speaks to the other. At the step limit it is asked once more with tools off. */
  async *#speak(party: Party): Speech {
    const { environment, maxStepsPerTurn } = this.#setup;
    const canCall = party === "agent" || (environment.userTools ?? []).length > 0;
    for (let step = 0; ; step++) {
      const toolChoice = canCall && step < maxStepsPerTurn ? "auto" : "none";
      const reply = yield* party === "agent" ? this.#agentReply(toolChoice) : this.#userReply(toolChoice);
      if ("stopReason" in reply || reply.toolCalls.length === 0) return reply;
      const over = (yield* this.#answer(reply.toolCalls, party)) ?? this.#stop(false);
      if (over) return over;
    }
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
      const advice = faults.at(-1) === "user_calls_tool" ? USER_CALL_ADVICE[toolChoice] : "";
      const asked = await this.#ask("user", user, toolChoice, advice);
      const reply = withUniqueIds(this.#toEntry("user", asked), query.messages, this.#entries);
      if (reply.finish === "content-filter") {
        yield* this.#record({ ...reply, rejected: "content_filter" });
        return endWith("content_filter", { blame: "user" });
      }
      if (reply.finish === "context-length") {
        yield* this.#record({ ...reply, rejected: "context_overflow" });
        return endWith("context_overflow", { blame: "user", message: "the reply was cut by the end of the context" });
      }
      const fault = findUserFault(reply, this.#agentsLastText(), [...tools, ...userTools], toolChoice === "auto");
      if (!fault) {
        yield* this.#record(reply);
        return reply;
      }
      faults.push(fault);
      yield* this.#record({ ...reply, rejected: fault });
    }
    return endWith("user_fault", { blame: "user", message: faults.join(", ") });
  }

  /** The agent's reply, or how the rollout ends because of it. What is no reply is asked for once more. */
  async *#agentReply(toolChoice: "auto" | "none"): Speech {
    let advice = "";
    for (let attempt = 0; ; attempt++) {
      const asked = await this.#ask("agent", this.#setup.agent, toolChoice, advice);
      const reply = withUniqueIds(this.#toEntry("agent", asked), this.#setup.query.messages, this.#entries);
      const spoke = reply.content.trim() !== "";
      const isDisguised = reply.toolCalls.length === 0 && isTextCall(reply.content, this.#setup.environment.tools);
      if (reply.finish === "content-filter") {
        yield* this.#record(reply);
        return endWith("content_filter", { blame: "agent" });
      }
      if (reply.finish === "context-length") {
        yield* this.#record({ ...reply, rejected: "context_overflow" });
        return endWith("context_overflow", { blame: "agent", message: "the reply was cut by the end of the context" });
      }
      if (reply.finish === "length") {
        yield* this.#record(isDisguised ? { ...reply, rejected: "text_call" } : reply);
        return endWith("truncated_reply", { blame: "agent", message: "the reply was cut by the token limit" });
      }
      if (toolChoice === "none" && reply.toolCalls.length > 0) {
        // never executed: a record must not hold calls without answers
        const spoken = { ...reply, toolCalls: [], ignoredCalls: reply.toolCalls };
        yield* this.#record(spoke ? spoken : { ...reply, rejected: "calls_with_tools_off" });
        return spoke ? spoken : endWith("max_steps", { blame: "agent" });
      }
      if (reply.malformed) {
        yield* this.#record({ ...reply, rejected: "malformed_reply" });
        if (attempt === 1)
          return endWith("malformed_reply", { blame: "agent", message: "the server could not parse it" });
        continue;
      }
      if (isDisguised) {
        yield* this.#record({ ...reply, rejected: "text_call" });
        if (attempt === 1) return endWith("text_call", { blame: "agent", message: "a tool call was written as text" });
        advice = TEXT_CALL_ADVICE[toolChoice];
        continue;
      }
      if (spoke || reply.toolCalls.length > 0) {
        yield* this.#record(reply);
        return reply;
      }
      yield* this.#record({ ...reply, rejected: "empty_reply" });
      if (attempt === 1) return endWith(toolChoice === "none" ? "max_steps" : "empty_reply", { blame: "agent" });
    }
  }

  /** Within the rollout's time limit: what has not answered by then is given up, and the dialogue ends without it. */
  async *#answer(calls: readonly ToolCall[], party: Party): Entries {
    const { signal, stopPolicy, clock, environment } = this.#setup;
    const { maxMs } = stopPolicy;
    const answering = { environment, clock, signal, by: party === "user" ? party : undefined };
    if (maxMs === undefined) {
      for await (const result of answerCalls(answering, calls)) yield* this.#record(result);
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
        yield* this.#record(first.value);
      }
    } finally {
      done.abort();
    }
  }

  /** Advice for one call goes into its system prompt: some templates refuse two user messages in a row. */
  async #ask(
    party: "agent" | "user",
    speaker: Speaker,
    toolChoice: "auto" | "none",
    advice: string,
  ): Promise<ModelReply> {
    const { query, environment, signal } = this.#setup;
    const reply = await speaker.client.complete(
      {
        system: speaker.system + advice,
        messages: viewFor(party, query.messages, this.#entries, speaker.reasoningSpan),
        tools: party === "agent" ? environment.tools : (environment.userTools ?? []),
        toolChoice,
        origin: this.#origin(party),
      },
      signal,
    );
    return repairReply(reply);
  }

  #toEntry(by: "agent" | "user", reply: ModelReply): ReplyEntry {
    return { type: "reply", by, ...reply, at: this.#now() };
  }

  async *#record(entry: Entry): AsyncGenerator<Entry, void, void> {
    this.#entries.push(entry);
    yield entry;
  }

  #origin(party: "agent" | "user" | "judge"): RequestOrigin {
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
