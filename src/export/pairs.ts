// Rows for preference training, whose learnt part is one reply of the agent: the better rollout of a query with a worse
// one, where the agent first differs; or every reply with its rollout's verdict. No trainer masks tool results or the
// user's words inside such rows, so none are in them. Call ids do not count as a difference: every rollout makes up its own.
import { canonicalJson } from "../core/index.ts";
import type { Judged, Pair } from "./formats/format.ts";
import type { ExportRecord } from "./record.ts";
import type { AgentMessage, DialogueMessage, TrainingDialogue } from "./training-dialogue.ts";
import { type Part, unroll } from "./unroll.ts";

export type Candidate = { record: ExportRecord; dialogue: TrainingDialogue };

const UNPAIRED = "no rollout of its query to pair it with";

/**
 * Best with worst, each rollout in at most one pair. `take` takes a pair, or says why it cannot: then it uses up nobody.
 * Returns the reasons of those without a partner.
 */
export function makePairs(candidates: readonly Candidate[], take: (pair: Pair) => string | undefined): string[] {
  const waiting = candidates.toSorted((a, b) => scoreOf(b) - scoreOf(a) || a.record.rollout - b.record.rollout);
  const unpaired: string[] = [];
  while (waiting.length > 0) {
    const chosen = waiting.shift() as Candidate;
    let reason = UNPAIRED;
    const partner = waiting.findLastIndex((rejected) => {
      if (scoreOf(rejected) >= scoreOf(chosen)) return false;
      const pair = makePair(chosen, rejected);
      const problem = typeof pair === "string" ? pair : take(pair);
      reason = problem ?? reason;
      return problem === undefined;
    });
    if (partner === -1) unpaired.push(reason);
    else waiting.splice(partner, 1);
  }
  return unpaired;
}

function makePair(better: Candidate, worse: Candidate): Pair | string {
  const [a, b] = [better.dialogue, worse.dialogue];
  if (a.system !== b.system || canonicalJson(a.tools) !== canonicalJson(b.tools))
    return "its pair had another system prompt or other tools";
  let same = 0;
  while (same < a.messages.length && same < b.messages.length && isSame(a.messages, b.messages, same)) same++;
  const [first, second] = [a.messages[same], b.messages[same]];
  if (!first || !second) return "one of the pair is the beginning of the other";
  if (first.role !== "assistant" || second.role !== "assistant")
    return `the pair first differs in what ${first.role === "tool" || second.role === "tool" ? "a tool" : "the user"} said`;
  const part = partOf(a, same);
  if (!part?.prompt.messages.some(({ role }) => role === "user")) return "the pair differs before the user speaks";
  return {
    prompt: part.prompt,
    chosen: first,
    rejected: second,
    records: { chosen: better.record, rejected: worse.record },
  };
}

/** Each reply of a rollout under the rollout's verdict. */
export function judge({ record, dialogue }: Candidate, desirable: number): { judged: Judged; mark: string }[] {
  const label = (record.score as number) >= desirable;
  return unroll(dialogue, "step").flatMap((part) => {
    const { prompt, reply } = splitPart(part);
    if (!prompt.messages.some(({ role }) => role === "user")) return [];
    return [{ judged: { prompt, completion: reply, label, record }, mark: part.mark }];
  });
}

function partOf(
  dialogue: TrainingDialogue,
  index: number,
): { prompt: TrainingDialogue; reply: AgentMessage } | undefined {
  const part = unroll(dialogue, "step").find(({ context }) => context === index);
  return part && splitPart(part);
}

function splitPart({ dialogue }: Part): { prompt: TrainingDialogue; reply: AgentMessage } {
  const reply = dialogue.messages.at(-1) as AgentMessage;
  return { prompt: { ...dialogue, messages: dialogue.messages.slice(0, -1) }, reply };
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
