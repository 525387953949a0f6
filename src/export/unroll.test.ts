import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentMessage, DialogueMessage, TrainingDialogue } from "./training-dialogue.ts";
import { learntOf, UNROLL_MODES, unroll } from "./unroll.ts";

const says = (content: string, reasoning?: string, loss?: boolean): AgentMessage => ({
  role: "assistant",
  content,
  reasoning,
  calls: [],
  ...(loss === undefined ? {} : { loss }),
});
const calling = (id: string, reasoning?: string): AgentMessage => ({
  role: "assistant",
  content: "",
  reasoning,
  calls: [{ id, name: "f", arguments: "{}" }],
});
const user = (content: string): DialogueMessage => ({ role: "user", content });
const result = (callId: string): DialogueMessage => ({ role: "tool", content: "1", callId, name: "f" });
const dialogue = (...messages: DialogueMessage[]): TrainingDialogue => ({ system: "S", tools: [], messages });

const TWO_TURNS = dialogue(
  user("one"),
  calling("a", "first"),
  result("a"),
  says("A.", "second"),
  user("two"),
  says("B.", "third"),
  user("thanks"),
);

describe("by turn", () => {
  test("each turn has the context it had: earlier reasoning cleared, its own kept, its own messages learnt", () => {
    const [first, second, ...none] = unroll(TWO_TURNS, "turn");
    expect(none).toEqual([]);
    expect(first).toMatchObject({ context: 1, mark: "@1" });
    expect(first?.dialogue.messages).toEqual([
      user("one"),
      { ...calling("a", "first"), loss: true },
      result("a"),
      { ...says("A.", "second"), loss: true },
    ]);
    expect(second).toMatchObject({ context: 5, mark: "@2" });
    expect(second?.dialogue.messages).toEqual([
      user("one"),
      { ...calling("a"), reasoning: undefined, loss: false },
      result("a"),
      { ...says("A."), reasoning: undefined, loss: false },
      user("two"),
      { ...says("B.", "third"), loss: true },
    ]);
  });

  test("what an agent says before any user is a turn of its own", () => {
    const parts = unroll(dialogue(says("Hello."), user("one"), says("A.")), "turn");
    expect(parts.map(({ mark, context }) => [mark, context])).toEqual([
      ["@1", 0],
      ["@2", 2],
    ]);
  });

  test("a turn ends with the last message that is learnt: an empty reply, results and flagged replies are cut off", () => {
    const [part] = unroll(dialogue(user("one"), says("A."), calling("a"), result("a"), says(" ")), "turn");
    expect(part?.dialogue.messages).toHaveLength(3);
    expect(unroll(dialogue(user("one"), says("A.", undefined, false)), "turn")).toEqual([]);
  });
});

test("by step, each reply is one row and the only one learnt", () => {
  const parts = unroll(TWO_TURNS, "step");
  expect(parts.map(({ mark, context }) => [mark, context])).toEqual([
    ["@1.1", 1],
    ["@1.2", 3],
    ["@2.1", 5],
  ]);
  expect(parts[1]?.dialogue.messages[1]).toMatchObject({ reasoning: "first", loss: false });
});

test("a whole dialogue ends with what is learnt", () => {
  const [part] = unroll(TWO_TURNS, "dialogue");
  expect(part).toMatchObject({ context: undefined, mark: "" });
  expect(part?.dialogue.messages).toHaveLength(6);
  const flagged = dialogue(user("one"), says("A.", undefined, true), user("two"), says("B.", undefined, false));
  expect(unroll(flagged, "dialogue")[0]?.dialogue.messages).toHaveLength(2);
});

test("whatever the dialogue, every reply that says something is learnt exactly once, in every way", () => {
  const step = fc.record({ reasoning: fc.option(fc.string({ minLength: 1 })), calls: fc.nat(2), content: fc.string() });
  const turn = fc.record({ user: fc.string(), steps: fc.array(step, { maxLength: 4 }) });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 4 }), fc.boolean(), (turns, thanks) => {
      let number = 0;
      const messages = turns.flatMap(({ user: words, steps }): DialogueMessage[] => [
        user(words),
        ...steps.flatMap(({ reasoning, calls, content }): DialogueMessage[] => {
          const made = Array.from({ length: calls }, () => ({ id: `${number++}`, name: "f", arguments: "{}" }));
          const reply: AgentMessage = { role: "assistant", content, reasoning: reasoning ?? undefined, calls: made };
          return [reply, ...made.map(({ id }) => result(id))];
        }),
      ]);
      const all = dialogue(...messages, ...(thanks ? [user("thanks")] : []));
      const texts = (replies: AgentMessage[]) =>
        replies.map(({ content, reasoning, calls }) => JSON.stringify([content, reasoning, calls]));
      const expected = texts(learntOf(all.messages));
      for (const mode of UNROLL_MODES) {
        const parts = unroll(all, mode);
        expect(parts.flatMap((part) => texts(learntOf(part.dialogue.messages)))).toEqual(expected);
        for (const part of parts) expect(part.dialogue.messages.at(-1)?.role).toBe("assistant");
      }
    }),
  );
});
