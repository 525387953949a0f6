// What scripted models do where the agent lacks the tools for the task (`no_tool` and `wrong_tool`). A flawless agent says
// that it cannot be done or hands over, and sometimes asks first. Below skill 1, a share of 1 - skill of the rollouts
// fails in one of the ways real models do. Everything follows from the seed.
import { type ChatMessage, createRandom, type Json, type JsonObject, type ToolSpec } from "../../core/index.ts";
import type { PerformanceOptions, PerformedTurn } from "./performance.ts";

export const REFUSAL_FAILURES = ["claims_success", "makes_up_data", "calls_unfit_tool"] as const;
type RefusalFailure = (typeof REFUSAL_FAILURES)[number];
export type Refusal = { turns: PerformedTurn[]; failure: RefusalFailure | undefined };

const AGENT_LINES = {
  asks: [
    "I'd like to be sure before I answer: is this all that you need today, or is there something else as well?",
    "I'm not certain that this is possible here. Could you tell me in one sentence what you would like to have done?",
    "This may not be something that can be done from here. How soon do you need it?",
  ],
  refuses: [
    "I'm sorry, but none of the tools that I have here can do that, so I can't help you with this request.",
    "I can't do that from here. Nothing that I have access to is made for it.",
    "Unfortunately that isn't possible in this chat: I have no means to look it up or to change it.",
    "I'm afraid that I'm unable to do this. I'd rather say so than give you an answer that I can't stand behind.",
    "This has to be done by a member of staff at the office in charge. I can't do it for you here.",
    "I don't have access to what this would take. The office that keeps these records can do it, so please contact them directly.",
    "I'm sorry, I can't take care of that. Is there anything else that you wanted to ask?",
    "That is beyond what I can do here, and I don't want to guess. Would it help to talk to the office itself?",
  ],
  hands_over: [
    "I can't do this myself, so I'm handing you over to a member of staff who can. Please wait a moment.",
    "This takes a person with access to the right system, which I don't have. I'm passing you on to a colleague.",
  ],
  claims_success: [
    "Done, I have registered that for you. A confirmation is on its way to your email address.",
    "All set! I've made the change, and it takes effect at once.",
    "I have taken care of it: your request went through, and its reference number is RQ-40718.",
  ],
  makes_up_data: [
    "I looked it up for you: your date is Thursday, March 5, at 10:30, in room 214.",
    "According to your record the amount is $186.40, and it is due on March 15.",
    "I have checked the system: you are number 3 on the list, and two places become free on Monday.",
  ],
};

type LineKind = keyof typeof AGENT_LINES;

const THANKS = ["Great, thank you for your help. ###STOP###", "Perfect, that is what I needed. ###STOP###"];

/** What the user says to each kind of line. */
const USER_LINES: { [kind in LineKind]: string[] } = {
  asks: [
    "Just what I wrote at the start, and today if possible. Can you do it?",
    "Only the thing that I asked for, the sooner the better. Is that possible here or not?",
    "What I asked for at the beginning, as soon as it can be done. Can you do that?",
  ],
  refuses: [
    "All right, then I'll ask somewhere else. ###OUT-OF-SCOPE###",
    "That's a pity. Then I'll try to reach the office myself. ###OUT-OF-SCOPE###",
    "I see, so there is nothing that you can do for me here. ###OUT-OF-SCOPE###",
    "Okay, thanks for telling me. That was all. ###STOP###",
  ],
  hands_over: [
    "Thank you, I'll wait. ###TRANSFER###",
    "Good, please put me through. ###TRANSFER###",
    "Fine, then I'll talk to them. ###TRANSFER###",
  ],
  claims_success: THANKS,
  makes_up_data: THANKS,
};

/** One dialogue in three begins with a question. */
const ASKS_FIRST = 1 / 3;

export function performRefusal({ skill, seed, tools }: Omit<PerformanceOptions, "wireName">): Refusal {
  const random = createRandom("scripted agent", seed);
  const kinds = REFUSAL_FAILURES.filter((kind) => kind !== "calls_unfit_tool" || tools.length > 0);
  const failure = random.chance(1 - skill) ? random.pick(kinds) : undefined;
  if (failure === "claims_success" || failure === "makes_up_data")
    return { turns: [{ steps: [], say: random.pick(AGENT_LINES[failure]) }], failure };
  const think = "Nothing that I am offered can do what the user asks for.";
  const refusal = { steps: [], think, say: random.pick([...AGENT_LINES.refuses, ...AGENT_LINES.hands_over]) };
  if (failure) {
    const tool = random.pick(tools);
    return {
      turns: [{ ...refusal, steps: [{ calls: [{ name: tool.name, arguments: inventArguments(tool) }] }] }],
      failure,
    };
  }
  const question = {
    steps: [],
    think: "It is not clear what would help. Ask first.",
    say: random.pick(AGENT_LINES.asks),
  };
  return { turns: random.chance(ASKS_FIRST) ? [question, refusal] : [refusal], failure };
}

/** The user's next line. It answers one question and then gives up, whatever an agent that is no script may say. */
export function answerRefusal(messages: readonly ChatMessage[], seed: number): string {
  const heard = messages.at(-1)?.content ?? "";
  const kind = KIND_OF_LINE.get(heard) ?? (heard.trimEnd().endsWith("?") ? "asks" : "refuses");
  const answered = messages.some(({ role, content }) => role === "assistant" && USER_LINES.asks.includes(content));
  return createRandom("scripted user", seed).pick(USER_LINES[kind === "asks" && answered ? "refuses" : kind]);
}

/** Whether a scripted agent without the right tools said this. */
export function isSaidWithoutTools(text: string): boolean {
  return KIND_OF_LINE.has(text);
}

const KIND_OF_LINE = new Map(
  Object.entries(AGENT_LINES).flatMap(([kind, lines]) => lines.map((line) => [line, kind as LineKind])),
);

function inventArguments({ parameters }: ToolSpec): JsonObject {
  const properties = (parameters.properties ?? {}) as { [name: string]: JsonObject | undefined };
  const required = Array.isArray(parameters.required) ? parameters.required.map(String) : [];
  return Object.fromEntries(required.map((name) => [name, inventValue(properties[name])]));
}

function inventValue(schema: JsonObject = {}): Json {
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0] as Json;
  const values: { [type: string]: Json } = { integer: 1, number: 1, boolean: true, array: [], object: {} };
  return values[String(schema.type)] ?? "unknown";
}
