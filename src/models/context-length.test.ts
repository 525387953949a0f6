import { expect, test } from "vitest";
import { type ModelReply, NO_USAGE } from "../core/index.ts";
import { labelCut } from "./context-length.ts";

const cut = (inputTokens: number, outputTokens: number): ModelReply => ({
  ...{ content: "a", toolCalls: [], finish: "length" },
  usage: { ...NO_USAGE, inputTokens, outputTokens },
});

test.each([
  ["a known context is full", cut(3000, 1096), 4096, undefined, "context-length"],
  ["a known context is full, within the limit asked for", cut(3000, 1096), 4096, 2000, "context-length"],
  ["a known context is not full", cut(3000, 1000), 4096, 1000, "length"],
  [
    "nothing is known and nothing was asked for: vLLM goes on to the end of its context",
    cut(323, 3773),
    undefined,
    undefined,
    "context-length",
  ],
  ["the same with a context of 10,000", cut(323, 9677), undefined, undefined, "context-length"],
  ["a limit was asked for", cut(3072, 1024), undefined, 1024, "length"],
  ["a server's own limit for replies", cut(323, 100), undefined, undefined, "length"],
])("%s", (_what, reply, contextLength, maxTokens, finish) => {
  expect(labelCut(reply, { contextLength }, maxTokens).finish).toBe(finish);
});

test("a reply that ended by itself did, wherever", () => {
  expect(labelCut({ ...cut(323, 3773), finish: "stop" }, { contextLength: 4096 }, undefined).finish).toBe("stop");
});
