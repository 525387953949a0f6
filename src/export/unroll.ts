// One dialogue as the rows that are learnt from it: whole, one row for each turn of the agent, or one for each reply.
// A row holds exactly what the agent had before it: reasoning of earlier turns is cleared, as it was on the wire.
import type { AgentMessage, DialogueMessage, TrainingDialogue } from "./training-dialogue.ts";

export const UNROLL_MODES = ["turn", "step", "dialogue"] as const;
export type Unroll = (typeof UNROLL_MODES)[number];

export type Part = {
  dialogue: TrainingDialogue;
  /** how many messages come before what is learnt; undefined for a whole dialogue */
  context: number | undefined;
  /** what the part adds to its record's id */
  mark: string;
};

/** Parts end with the last message that is learnt; a part without one is left out. */
export function unroll(dialogue: TrainingDialogue, mode: Unroll): Part[] {
  if (mode === "dialogue") return whole(dialogue);
  const spans = mode === "turn" ? turnsOf(dialogue.messages) : stepsOf(dialogue.messages);
  return spans.flatMap(({ turn, context, end, mark }) => {
    const messages = dialogue.messages.slice(0, end).map((message, index): DialogueMessage => {
      if (message.role !== "assistant") return message;
      const loss = index >= context && isLearnt(message);
      return index < turn ? { ...message, reasoning: undefined, loss } : { ...message, loss };
    });
    const learnt = endWithLearnt(messages);
    return learnt.length > context ? [{ dialogue: { ...dialogue, messages: learnt }, context, mark }] : [];
  });
}

export function learntOf(messages: readonly DialogueMessage[]): AgentMessage[] {
  return messages.filter((message) => message.role === "assistant").filter(isLearnt);
}

function whole(dialogue: TrainingDialogue): Part[] {
  const messages = endWithLearnt(dialogue.messages);
  return messages.length > 0 ? [{ dialogue: { ...dialogue, messages }, context: undefined, mark: "" }] : [];
}

/** Nothing is learnt from what comes after: the user's thanks, results that nobody read, replies without loss. */
function endWithLearnt(messages: DialogueMessage[]): DialogueMessage[] {
  const last = messages.findLastIndex((message) => message.role === "assistant" && isLearnt(message));
  return last === messages.length - 1 ? messages : messages.slice(0, last + 1);
}

/** An empty reply teaches nothing. */
function isLearnt({ loss, content, calls }: AgentMessage): boolean {
  return loss !== false && (content.trim() !== "" || calls.length > 0);
}

/** `turn`: from where on reasoning is kept; `context`: from where on is learnt. */
type Span = { turn: number; context: number; end: number; mark: string };

/** From one user message to the next; what an agent says before any user is a turn of its own. */
function turnsOf(messages: readonly DialogueMessage[]): Span[] {
  const starts = messages.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  const opening = starts[0] === 0 ? [] : [{ turn: 0, context: 0, end: starts[0] ?? messages.length }];
  const turns = starts.map((start, index) => ({
    turn: start,
    context: start + 1,
    end: starts[index + 1] ?? messages.length,
  }));
  return [...opening, ...turns].map((span, index) => ({ ...span, mark: `@${index + 1}` }));
}

function stepsOf(messages: readonly DialogueMessage[]): Span[] {
  return turnsOf(messages).flatMap(({ turn, context, end, mark }) => {
    const replies = messages
      .slice(context, end)
      .flatMap(({ role }, index) => (role === "assistant" ? [context + index] : []));
    return replies.map((reply, index) => ({ turn, context: reply, end: reply + 1, mark: `${mark}.${index + 1}` }));
  });
}
