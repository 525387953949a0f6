import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChatMessage } from "../core/index.ts";
import { createMessageWriter } from "./message-bytes.ts";

const AROUND = { before: ['{"größe":', Buffer.from("[")], after: ["]", Buffer.from("}")] };
const asJson = (message: ChatMessage) => JSON.stringify(message);

function naively(messages: readonly ChatMessage[], write = asJson): string {
  return `{"größe":[${messages
    .map(write)
    .filter((text) => text !== "")
    .join(",")}]}`;
}

const message = (content: string): ChatMessage => ({ role: "user", content });

test("a body says the same whether its beginning was written before or not: dialogues that grow, by turns", () => {
  const step = fc.record({ dialogue: fc.nat(2), texts: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 3 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const writer = createMessageWriter(asJson);
      const opening = message("the same query"); // rollouts of one query begin with the same message
      const dialogues: ChatMessage[][] = [[opening], [opening], [opening]];
      for (const { dialogue, texts } of steps) {
        const messages = [...(dialogues[dialogue] as ChatMessage[]), ...texts.map(message)];
        dialogues[dialogue] = messages;
        expect(writer(messages, AROUND).toString()).toBe(naively(messages));
      }
    }),
  );
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
  expect(writer([cleared, b, c, d], AROUND).toString()).toBe(naively([cleared, b, c, d]));
  expect(written.slice(3)).toEqual(["a, cleared", "b", "c", "d"]);
  expect(writer([cleared, b, c, d], { before: ["<"], after: [">"] }).toString()).toBe(
    `<${[cleared, b, c, d].map(asJson).join(",")}>`,
  );
});

test("messages of no value or of several, and no messages at all", () => {
  const write = (one: ChatMessage) => Array.from(one.content, (letter) => JSON.stringify(letter)).join(",");
  const writer = createMessageWriter(write);
  let messages: ChatMessage[] = [];
  expect(writer(messages, AROUND).toString()).toBe(naively([], write));
  for (const text of ["", "", "ab", "", "c", "", "déf"]) {
    messages = [...messages, message(text)];
    expect(writer(messages, AROUND).toString()).toBe(naively(messages, write));
  }
});
