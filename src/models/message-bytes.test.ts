import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChatMessage } from "../core/index.ts";
import { type Body, createMessageWriter } from "./message-bytes.ts";

const AROUND = { before: ['{"größe":', Buffer.from("[")], after: ["]", Buffer.from("}")] };
const asJson = (message: ChatMessage) => JSON.stringify(message);

function naively(messages: readonly ChatMessage[], write = asJson): string {
  return `{"größe":[${messages
    .map(write)
    .filter((text) => text !== "")
    .join(",")}]}`;
}

const message = (content: string): ChatMessage => ({ role: "user", content });

test("a body says the same whether its beginning was written before or not: dialogues that grow and change, by turns", () => {
  const step = fc.record({
    dialogue: fc.nat(2),
    texts: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 3 }),
    changed: fc.option(fc.nat(8)),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const writer = createMessageWriter(asJson);
      const opening = message("the same query"); // rollouts of one query begin with the same message
      const dialogues: ChatMessage[][] = [[opening], [opening], [opening]];
      for (const { dialogue, texts, changed } of steps) {
        const before = (dialogues[dialogue] as ChatMessage[]).map((one, at) => (at === changed ? { ...one } : one));
        const messages = [...before, ...texts.map(message)];
        dialogues[dialogue] = messages;
        expect(writer(messages, AROUND).bytes.toString()).toBe(naively(messages));
      }
    }),
  );
});

test("what is still on its way stays as it was written, whatever is written after it", () => {
  const step = fc.record({ dialogue: fc.nat(3), size: fc.nat(20_000), isAnswered: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const writer = createMessageWriter(asJson);
      const dialogues: ChatMessage[][] = [[], [], [], []];
      const onTheirWay: { body: Body; text: string }[] = [];
      for (const [n, { dialogue, size, isAnswered }] of steps.entries()) {
        const messages = [...(dialogues[dialogue] as ChatMessage[]), message(String(n).repeat(size))];
        dialogues[dialogue] = messages;
        const body = writer(messages, AROUND);
        expect(body.bytes.toString()).toBe(naively(messages));
        if (isAnswered) body.release();
        else onTheirWay.push({ body, text: naively(messages) });
        for (const { body, text } of onTheirWay) expect(body.bytes.toString()).toBe(text);
      }
    }),
    { numRuns: 30 },
  );
});

test("bytes are used again once a body was answered and the next of its dialogue is written", () => {
  const writer = createMessageWriter(asJson);
  const [a, b, c] = ["a", "b", "c"].map(message) as [ChatMessage, ChatMessage, ChatMessage];
  const bodies: Body[] = [];
  for (const messages of [[a], [a, b], [a, b, c]]) {
    const body = writer(messages, AROUND);
    body.release();
    bodies.push(body);
  }
  const [first, second, third] = bodies.map(({ bytes }) => bytes.buffer);
  expect(third).toBe(first);
  expect(second).not.toBe(first);
});

test("each message is written once, as long as nothing before it changes", () => {
  const written: string[] = [];
  const writer = createMessageWriter((one) => {
    written.push(one.content);
    return asJson(one);
  });
  const [a, b, c, d] = ["a", "b", "c", "d"].map(message) as [ChatMessage, ChatMessage, ChatMessage, ChatMessage];
  writer([a, b], AROUND);
  writer([a, b, c], AROUND);
  writer([a, b, c], AROUND); // asked again
  expect(written).toEqual(["a", "b", "c"]);
  const cleared = message("a, cleared");
  expect(writer([cleared, b, c, d], AROUND).bytes.toString()).toBe(naively([cleared, b, c, d]));
  expect(written.slice(3)).toEqual(["a, cleared", "b", "c", "d"]);
  expect(writer([cleared, b, c, d], { before: ["<"], after: [">"] }).bytes.toString()).toBe(
    `<${[cleared, b, c, d].map(asJson).join(",")}>`,
  );
});

test("what stands before the first message that changed is copied, and what follows it is written again", () => {
  const written: string[] = [];
  const writer = createMessageWriter((one) => {
    written.push(one.content);
    return asJson(one);
  });
  const [a, thought, c, d] = ["a", "thought", "c", "d"].map(message) as [
    ChatMessage,
    ChatMessage,
    ChatMessage,
    ChatMessage,
  ];
  const cleared = message("cleared");
  for (const messages of [
    [a, thought, c],
    [a, cleared, c, d],
    [a, cleared, c, d, c],
  ])
    expect(writer(messages, AROUND).bytes.toString()).toBe(naively(messages));
  expect(written).toEqual(["a", "thought", "c", "cleared", "c", "d", "c"]);
});

test("messages of no value or of several, and no messages at all", () => {
  const write = (one: ChatMessage) => Array.from(one.content, (letter) => JSON.stringify(letter)).join(",");
  const writer = createMessageWriter(write);
  let messages: ChatMessage[] = [];
  expect(writer(messages, AROUND).bytes.toString()).toBe(naively([], write));
  for (const text of ["", "", "ab", "", "c", "", "déf"]) {
    messages = [...messages, message(text)];
    expect(writer(messages, AROUND).bytes.toString()).toBe(naively(messages, write));
  }
});
