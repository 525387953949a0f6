// A dialogue as people read it: what was said and done, in order, each call with its result, and at their places what is
// not among the messages: the user's and the setup's calls, summaries, rejected replies, the judge.
import {
  type ContextSummary,
  type Entry,
  isAside,
  type OtherCall,
  type ReplyEntry,
  type SummaryEntry,
  type ToolResultEntry,
  type TrajectoryMessage,
  type Usage,
  wellFormed,
} from "../../core/index.ts";
import { readUserText, toMessages } from "../../dialogue/index.ts";
import type { CallView, LongText, Mark, Moment, Spent } from "../api.ts";
import { describeFault, describeRejection } from "./fault-words.ts";

export type Told = {
  messages: readonly TrajectoryMessage[];
  /** how many of them were there before any model was asked */
  opening: number;
  others: readonly OtherCall[];
  summaries: readonly ContextSummary[];
  /** as they happened; none if no journal was kept, or if they are not those of the messages */
  entries: readonly Entry[];
  faults: readonly { type: string; [detail: string]: string }[];
  errors: ReadonlySet<string>;
  startedAt?: string;
};

type ReadMoments = { moments: Moment[] /** the texts that are too long to be sent unasked */; long: string[] };

/** Longer texts are sent in part; people ask for the rest. */
const MAX_TEXT = 20_000;
const HEAD = 4000;

export function toMoments(told: Told): ReadMoments {
  const builder = new Builder(told);
  if (told.entries.length > 0) builder.followEntries();
  else builder.followMessages();
  return { moments: builder.moments, long: builder.long };
}

/** Whether these entries are what the messages were made from, after the opening. */
export function areEntriesOf(messages: readonly TrajectoryMessage[], entries: readonly Entry[]): boolean {
  const made = toMessages([], entries);
  const opening = messages.length - made.length;
  return opening >= 0 && made.every(({ role }, at) => messages[opening + at]?.role === role);
}

class Builder {
  readonly moments: Moment[] = [];
  readonly long: string[] = [];
  readonly #told: Told;
  readonly #calls = new Map<string, CallView[]>();
  readonly #faults = new Map<string, Mark[]>();
  #turn = 0;
  #before: number | undefined;

  constructor(told: Told) {
    this.#told = told;
    this.#before = told.startedAt === undefined ? undefined : Date.parse(told.startedAt);
    for (const fault of told.faults)
      if (fault.call_id !== undefined)
        this.#faults.set(fault.call_id, [...(this.#faults.get(fault.call_id) ?? []), describeFault(fault)]);
  }

  followMessages(): void {
    const { messages } = this.#told;
    const isHere = (at: number) => (one: { after: number }) => Math.min(Math.max(one.after, 0), messages.length) === at;
    for (let at = 0; at <= messages.length; at++) {
      this.#addOthers(this.#told.others.filter(isHere(at)));
      for (const { content } of this.#told.summaries.filter(isHere(at)))
        this.#add({ kind: "summary", by: "summary", text: this.#cut(content), marks: [SUMMARY] });
      const message = messages[at];
      if (message) this.#addMessage(message, at);
    }
  }

  followEntries(): void {
    const { messages, opening, entries, others } = this.#told;
    this.#addOthers(others.filter(({ party }) => party === "setup"));
    for (let at = 0; at < opening; at++) this.#addMessage(messages[at] as TrajectoryMessage, at);
    let at = opening;
    for (const entry of entries) {
      const spent = this.#spend(entry);
      const message = toMessages([], [entry]).length > 0 ? messages[at] : undefined;
      if (message) this.#addMessage(message, at++, entry, spent);
      else this.#addBeside(entry, spent);
    }
  }

  #addMessage(message: TrajectoryMessage, at: number, entry?: Entry, spent?: Spent): void {
    if (message.role === "tool") {
      this.#addResult({ id: message.tool_call_id, content: message.content, at }, entry as ToolResultEntry, spent);
      return;
    }
    const isUser = message.role === "user";
    if (isUser) this.#turn++;
    const reply = entry?.type === "reply" ? entry : undefined;
    const given = reply?.toolCalls;
    this.#add({
      kind: "message",
      by: PARTIES[message.role] ?? "system",
      message: at,
      text: this.#cut(message.content),
      reasoning: this.#cutSome(isUser ? reply?.reasoning : message.reasoning_content),
      calls: isUser
        ? []
        : (message.tool_calls ?? []).map(({ id, function: called }, index) =>
            this.#open({ id: id ?? given?.[index]?.id ?? "", name: called.name, text: called.arguments }),
          ),
      marks: reply ? marksOf(reply) : [],
      spent,
    });
  }

  /** What is not among the messages. */
  #addBeside(entry: Entry, spent: Spent): void {
    if (entry.type === "verdict") {
      const text = `${entry.stop ? "The dialogue is over" : "The dialogue is not over"}: ${entry.reason}`;
      this.#add({ kind: "judge", by: "judge", text: this.#cut(text), spent });
    } else if (entry.type === "tool-result") {
      if (entry.by === "user") this.#addResult({ id: entry.callId, content: entry.content }, entry, spent);
      else if (entry.by === "setup" && !this.#calls.has(entry.callId)) {
        const call = this.#open({ id: entry.callId, name: entry.name, text: "" });
        this.#add({ kind: "calls", by: "setup", calls: [call] });
        this.#addResult({ id: entry.callId, content: entry.content }, entry, spent);
      }
    } else if (entry.rejected !== undefined) this.#addRejected(entry, spent);
    else if (entry.type === "summary")
      this.#add({ kind: "summary", by: "summary", text: this.#cut(entry.content), marks: [SUMMARY], spent });
    else if (isAside(entry))
      this.#add({
        kind: "calls",
        by: "user",
        text: this.#cutSome(entry.content),
        reasoning: this.#cutSome(entry.reasoning),
        calls: entry.toolCalls.map(({ id, name, arguments: text }) => this.#open({ id, name, text })),
        spent,
      });
    else this.#add({ kind: "message", by: entry.by, marks: marksOf(entry), spent }); // it only ended the dialogue
  }

  #addRejected(entry: ReplyEntry | SummaryEntry, spent: Spent): void {
    const by = entry.type === "summary" ? "summary" : entry.by;
    const what = entry.type === "summary" ? "summary" : `reply of the ${entry.by}`;
    const reason = describeRejection(entry.rejected ?? "");
    this.#add({
      kind: "rejected",
      by,
      text: this.#cut(entry.content),
      reasoning: this.#cutSome(entry.reasoning),
      calls: entry.toolCalls.map(({ id, name, arguments: text }) => ({
        ...{ id, name, arguments: this.#cut(text) },
        marks: [{ level: "note", text: "never made" }],
      })),
      marks: [{ level: "bad", text: `this ${what} was not used: ${reason}` }],
      spent,
    });
  }

  #addOthers(others: readonly OtherCall[]): void {
    for (const { party, id, name, arguments: text, content, is_error } of others) {
      const last = this.moments.at(-1);
      const call = this.#open({ id, name, text });
      if (last?.kind === "calls" && last.by === party) last.calls.push(call);
      else this.#add({ kind: "calls", by: party, calls: [call] });
      this.#addResult({ id, content, isError: is_error });
    }
  }

  /** To the first call of that id that has no result yet. */
  #addResult(
    { id, content, at, isError }: { id: string; content: string; at?: number; isError?: boolean },
    entry?: ToolResultEntry,
    spent?: Spent,
  ): void {
    const result: CallView["result"] = {
      message: at,
      content: this.#cut(content),
      isError: isError ?? entry?.isError ?? this.#told.errors.has(id),
      raw: this.#cutSome(entry?.raw),
      trace: entry?.trace,
      spent,
    };
    const call = this.#calls.get(id)?.find((other) => !other.result);
    if (call) call.result = result;
    else
      this.#add({
        kind: "result",
        by: "tool",
        message: at,
        text: result.content,
        marks: [{ level: "odd", text: "a result without a call" }],
        spent,
      });
  }

  #open({ id, name, text }: { id: string; name: string; text: string }): CallView {
    const call: CallView = { id, name, arguments: this.#cut(text), marks: this.#faults.get(id) ?? [] };
    this.#calls.set(id, [...(this.#calls.get(id) ?? []), call]);
    return call;
  }

  #add(moment: Partial<Moment> & Pick<Moment, "kind" | "by">): void {
    this.moments.push({ turn: this.#turn, calls: [], marks: [], ...moment });
  }

  #cutSome(text: string | undefined): LongText | undefined {
    return text ? this.#cut(text) : undefined;
  }

  #cut(text: string): LongText {
    if (text.length <= MAX_TEXT) return { text };
    const number = this.long.push(text) - 1;
    return { text: wellFormed(text.slice(0, HEAD)), length: text.length, number };
  }

  #spend(entry: Entry): Spent {
    const at = Date.parse(entry.at);
    const ms = this.#before === undefined || Number.isNaN(at) ? undefined : Math.max(0, at - this.#before);
    if (!Number.isNaN(at)) this.#before = at;
    return { at: entry.at, ms, ...usageOf(entry.usage) };
  }
}

/** Records from elsewhere hold other roles too. */
const PARTIES: { [role: string]: Moment["by"] } = { user: "user", assistant: "agent" };

const SUMMARY: Mark = {
  level: "odd",
  text: "the context was full: from here on, this summary stands for everything before it",
};

function usageOf(usage: Usage | undefined): Spent {
  if (!usage) return {};
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens, costUsd, scripted } = usage;
  return { inputTokens, outputTokens, cachedTokens, reasoningTokens, costUsd, scripted };
}

function marksOf(reply: ReplyEntry): Mark[] {
  const { by, contextFull, ignoredCalls, recovered, finish, served, content } = reply;
  const marks: Mark[] = [];
  const mark = (fault: { type: string; [detail: string]: string }) => marks.push(describeFault(fault));
  if (recovered) mark({ type: "recovered", by });
  if (contextFull) mark({ type: "context_full", by });
  if (ignoredCalls) mark({ type: "calls_with_tools_off", by, calls: ignoredCalls.map(({ name }) => name).join(", ") });
  if (served?.insteadOf !== undefined)
    mark({ type: "other_model", asked: served.insteadOf, answered: served.model ?? "another model" });
  if (finish === "length") marks.push({ level: "odd", text: "cut off by the longest reply that was asked for" });
  if (finish === "context-length") marks.push({ level: "odd", text: "cut off by the end of the context" });
  if (finish === "content-filter") marks.push({ level: "odd", text: "stopped by the provider's filter" });
  const end = by === "user" ? readUserText(content).end : undefined;
  if (end) marks.push({ level: "note", text: `ended the dialogue here (${end})` });
  return marks;
}
