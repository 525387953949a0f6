import { expect, test } from "vitest";
import { type ModelReply, NO_USAGE } from "../core/index.ts";
import { withServed } from "./served.ts";

const reply: ModelReply = { content: "Hi", toolCalls: [], usage: NO_USAGE, finish: "stop" };

test.each([
  ["gpt-4o", "gpt-4o-2024-08-06", false],
  ["gpt-4o", "gpt-4o", false],
  ["openai/gpt-4o", "gpt-4o", false],
  ["claude-sonnet-4", "claude-sonnet-4@20250514", false],
  ["Qwen/Qwen2.5-1.5B", "/models/qwen2.5-1.5b.gguf", false],
  ["llama3", "llama3:latest", false],
  ["gpt-4o-2024-08-06", "gpt-4o", false],
  ["gpt-4o", "gpt-4.1", true],
  ["deepseek-chat", "deepseek-reasoner", true],
  ["my-alias", "gpt-4o", true],
])("asked for %s and answered as %s: another model is %s", (asked, model, expected) => {
  const { served } = withServed(reply, { asked, model, headers: {} });
  expect(served?.insteadOf).toBe(expected ? asked : undefined);
});
