// A person's seat in a dialogue: a model in code that waits for somebody to answer. The terminal and the page both look at
// it and answer through it; the loop, the journal and the record know it as the model `human`.
import {
  type ChatMessage,
  type Entry,
  isAside,
  type ModelReply,
  type ModelRequest,
  NO_USAGE,
  type Party,
  RolloutError,
  type RunEvent,
  redactDeep,
  type ToolSpec,
} from "../core/index.ts";
import { readUserText } from "../dialogue/index.ts";
import { checkArguments, unknownTool } from "../tools/index.ts";
import type { SeatItem, SeatView } from "./api.ts";

/** The name of the model, in configs and records. */
export const HUMAN = "human";

export type SeatAnswer = { content: string; calls: { name: string; arguments: string }[] };

type Asked = { request: ModelRequest; resolve(reply: ModelReply): void; reject(error: Error): void };

export class Seat {
  readonly party: Party;
  #asked: Asked | undefined;
  #base: SeatItem[] = [];
  /** what happened since the person was asked last */
  #since: SeatItem[] = [];
  #request: ModelRequest | undefined;
  #place: SeatView["place"];
  #greets = true;
  #notice: string | undefined;
  #over: SeatView["over"];
  #isLeft = false;
  readonly #listeners = new Set<() => void>();

  constructor(party: Party) {
    this.party = party;
  }

  /** The model in code. */
  readonly complete = (request: ModelRequest, signal: AbortSignal): Promise<ModelReply> =>
    new Promise((resolve, reject) => {
      if (this.#isLeft) return reject(leftError());
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      this.#request = request;
      this.#base = toItems(request.messages, this.party, this.#greets);
      this.#since = [];
      this.#asked = { request, resolve, reject };
      this.#tell();
    });

  /** What is wrong with the answer, in a sentence; undefined if it was taken. */
  answer({ content, calls }: SeatAnswer, position?: number): string | undefined {
    const asked = this.#asked;
    if (!asked) return this.#over ? "The dialogue is over." : "It is the other side's turn: wait for its answer.";
    if (position !== undefined && position !== asked.request.origin.position)
      return "This was answered already: look at what came since.";
    const problem = findProblem(asked.request, { content, calls });
    if (problem) return problem;
    this.#asked = undefined;
    const { origin } = asked.request;
    asked.resolve({
      content,
      toolCalls: calls.map((call, index) => ({ id: `${HUMAN}_${this.party}_${origin.position}_${index}`, ...call })),
      usage: NO_USAGE,
      finish: calls.length > 0 ? "tool-calls" : "stop",
    });
    this.#tell();
    return undefined;
  }

  /** The person goes: what is being asked stays open in the journal. */
  leave(): void {
    this.#isLeft = true;
    this.#asked?.reject(leftError());
    this.#asked = undefined;
    this.#tell();
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onEvent(event: RunEvent): void {
    if (event.type === "rollout-start") {
      const { dataset, queryId, opening } = event;
      this.#place = { dataset, queryId };
      this.#greets = opening?.[0]?.role === "assistant";
    } else if (event.type === "entry-end") {
      const { entry } = event;
      const isOwn = entry.type === "reply" && entry.by === this.party;
      if (isOwn) this.#notice = entry.rejected && describeRejection(entry.rejected);
      this.#since.push(...entryItems(entry, this.party));
    } else if (event.type === "rollout-end") {
      const { success, stopReason, message } = event.outcome;
      this.#over = { success, stopReason, message };
    } else if (event.type === "run-start") this.#over = undefined;
    else return;
    this.#tell();
  }

  get view(): SeatView {
    const { tools = [], system = "", toolChoice } = this.#request ?? {};
    return redactDeep({
      party: this.party,
      place: this.#place,
      system: this.party === "user" ? scenarioOf(system) : system,
      tools: tools.map(({ name, description, parameters }: ToolSpec) => ({ name, description, parameters })),
      items: [...this.#base, ...this.#since],
      notice: this.#notice,
      asked: this.#asked && { position: this.#asked.request.origin.position, canCall: toolChoice === "auto" },
      over: this.#over,
      isLeft: this.#isLeft,
    });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Without what simulated users are told besides, where it can be told apart. */
function scenarioOf(system: string): string {
  return system.split(/^# Scenario\n+/m).at(-1) ?? system;
}

/** What a person mistypes is no data: it is said at once, and nothing is recorded. */
function findProblem({ tools, toolChoice }: ModelRequest, { content, calls }: SeatAnswer): string | undefined {
  if (calls.length === 0) return content.trim() === "" ? "Say something, or call a tool." : undefined;
  if (tools.length === 0) return "There are no tools on this seat.";
  if (toolChoice === "none") return "No tool can be called now: answer in plain words.";
  for (const call of calls) {
    const spec = tools.find(({ name }) => name === call.name);
    if (!spec) {
      const names = tools.map(({ name }) => name);
      return errorOf(unknownTool(call.name, names).content);
    }
    const checked = checkArguments(spec, call.arguments);
    if (!checked.ok) return errorOf(checked.result.content);
  }
  return undefined;
}

function errorOf(content: string): string {
  return (JSON.parse(content) as { error: string }).error;
}

const REJECTIONS: { [reason: string]: string } = {
  user_speaks_as_assistant: "it sounds like the agent; you are the one who needs help",
  user_repeats_agent: "it repeats the agent's words",
  user_calls_tool: "it looks like a tool call written as text",
  text_call: "it looks like a tool call written as text; use /call or the form",
};

function describeRejection(reason: string): string {
  return `Your last answer was not passed on: ${REJECTIONS[reason] ?? reason}. Answer again.`;
}

function leftError(): RolloutError {
  return new RolloutError("infrastructure", "The person left the seat; the rollout goes on when somebody takes it", {
    kind: "seat_left",
  });
}

/** In the user's view the two have changed roles, and the greeting that only models need is left out. */
function toItems(messages: readonly ChatMessage[], party: Party, greets: boolean): SeatItem[] {
  const shown = party === "user" && !greets ? messages.slice(1) : messages;
  const other: Party = party === "agent" ? "user" : "agent";
  return shown.map((message): SeatItem => {
    if (message.role === "tool")
      return { by: "tool", text: message.content, tool: message.name, isError: message.isError };
    if (message.role === "user") return { by: other, text: message.content };
    const calls = message.toolCalls?.map(({ name, arguments: text }) => ({ name, arguments: text }));
    return { by: party, text: message.content, ...(calls && { calls }) };
  });
}

/** What this party gets to see of an entry, as its next request will have it. */
function entryItems(entry: Entry, party: Party): SeatItem[] {
  if (entry.type === "tool-result") {
    const by = entry.by ?? "agent";
    return by === party ? [{ by: "tool", text: entry.content, tool: entry.name, isError: entry.isError }] : [];
  }
  if (entry.type !== "reply" || entry.rejected) return [];
  if (isAside(entry) && party === "agent") return [];
  const isOwn = entry.by === party;
  if (!isOwn && (entry.toolCalls.length > 0 || entry.content.trim() === "")) return [];
  const calls = entry.toolCalls.map(({ name, arguments: text }) => ({ name, arguments: text }));
  const { text, end } = entry.by === "user" ? readUserText(entry.content) : { text: entry.content, end: undefined };
  return [{ by: entry.by, text, ...(end && { end }), ...(calls.length > 0 && { calls }) }];
}
