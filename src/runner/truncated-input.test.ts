import { expect, test } from "vitest";
import { type Entry, NO_USAGE } from "../core/index.ts";
import { findTruncatedInput } from "./truncated-input.ts";

const reply = (by: "agent" | "user", inputTokens: number, content = "Yes."): Entry => ({
  ...{ type: "reply", by, content, toolCalls: [], finish: "stop", at: "" },
  usage: { ...NO_USAGE, inputTokens },
});
const result = (content: string): Entry => ({
  ...{ type: "tool-result", callId: "c", name: "find", content, isError: false, at: "" },
});
const dialogue = (entries: Entry[]) => ({ system: "s".repeat(4000), tools: [], opening: [], entries });

test("a request that came to far fewer tokens than it had characters was cut", () => {
  const entries = [reply("agent", 1000), result("r".repeat(20_000)), reply("agent", 1100), reply("agent", 1100)];
  expect(findTruncatedInput(dialogue(entries))).toEqual([
    { type: "truncated_input", sent_characters: "24004", counted_tokens: "1100" },
  ]);
});

test("usual counts, short requests, missing counts and the user's own requests are no sign of it", () => {
  expect(
    findTruncatedInput(dialogue([reply("agent", 1000), result("r".repeat(20_000)), reply("agent", 5000)])),
  ).toEqual([]);
  expect(findTruncatedInput(dialogue([reply("agent", 5)]))).toEqual([]);
  expect(findTruncatedInput(dialogue([result("r".repeat(20_000)), reply("agent", 0), reply("user", 50)]))).toEqual([]);
});
