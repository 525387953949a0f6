// Rows from several rollouts of a query: the better with the worse, cut where the agent first differs; or each one
// with a verdict. Call ids do not count as a difference: every rollout makes up its own.
import { canonicalJson } from "../core/index.ts";
import { endWithAgent, type Judged, type Pair } from "./formats/format.ts";
import type { ExportRecord } from "./record.ts";
import type { DialogueMessage, TrainingDialogue } from "./training-dialogue.ts";

export type Candidate = { record: ExportRecord; dialogue: TrainingDialogue };

const UNPAIRED = "no rollout of its query to pair it with";

/** Best with worst, each rollout in at most one pair; those without a partner are listed by reason. */
export function makePairs(candidates: readonly Candidate[]): { pairs: Pair[]; unpaired: string[] } {
  const waiting = candidates.toSorted((a, b) => scoreOf(b) - scoreOf(a) || a.record.rollout - b.record.rollout);
  const pairs: Pair[] = [];
  const unpaired: string[] = [];
  while (waiting.length > 0) {
    const chosen = waiting.shift() as Candidate;
    let reason = UNPAIRED;
    const partner = waiting.findLastIndex((rejected) => {
      if (scoreOf(rejected) >= scoreOf(chosen)) return false;
      const pair = makePair(chosen, rejected);
      if (typeof pair === "string") reason = pair;
      else pairs.push(pair);
      return typeof pair !== "string";
    });
    if (partner === -1) unpaired.push(reason);
    else waiting.splice(partner, 1);
  }
  return { pairs, unpaired };
}

function makePair(better: Candidate, worse: Candidate): Pair | string {
  const [a, b] = [better.dialogue, worse.dialogue];
  if (a.system !== b.system || canonicalJson(a.tools) !== canonicalJson(b.tools))
    return "its pair had another system prompt or other tools";
  const [chosen, rejected] = [endWithAgent(a.messages).messages, endWithAgent(b.messages).messages];
  let same = 0;
  while (same < chosen.length && same < rejected.length && isSame(chosen, rejected, same)) same++;
  const [first, second] = [chosen[same], rejected[same]];
  if (!first || !second) return "one of the pair is the beginning of the other";
  if (first.role !== "assistant" || second.role !== "assistant")
    return `the pair first differs in what ${first.role === "tool" || second.role === "tool" ? "a tool" : "the user"} said`;
  const prompt = { ...a, messages: chosen.slice(0, same) };
  if (!prompt.messages.some(({ role }) => role === "user")) return "the pair differs before the user speaks";
  return {
    prompt,
    chosen: chosen.slice(same),
    rejected: rejected.slice(same),
    records: { chosen: better.record, rejected: worse.record },
  };
}

export function judge({ record, dialogue }: Candidate, desirable: number): Judged | string {
  const { messages } = endWithAgent(dialogue.messages);
  const user = messages.findIndex(({ role }) => role === "user");
  const agent = messages.findIndex(({ role }, index) => role === "assistant" && index > user);
  if (user === -1 || agent === -1) return "the agent answers no user";
  return {
    prompt: { ...dialogue, messages: messages.slice(0, agent) },
    completion: messages.slice(agent),
    label: (record.score as number) >= desirable,
    record,
  };
}

function isSame(a: DialogueMessage[], b: DialogueMessage[], index: number): boolean {
  return (
    canonicalJson(withoutIds(a[index] as DialogueMessage)) === canonicalJson(withoutIds(b[index] as DialogueMessage))
  );
}

function withoutIds(message: DialogueMessage): object {
  if (message.role === "tool") return { role: "tool", name: message.name, content: message.content };
  if (message.role === "user") return message;
  const { loss: _, ...said } = message;
  return { ...said, calls: message.calls.map(({ name, arguments: given }) => [name, given]) };
}

function scoreOf({ record }: Candidate): number {
  return record.score as number;
}
