import { expect, test } from "vitest";
import { type ModelRequest, NO_USAGE, RolloutError } from "../core/index.ts";
import { type OwnModels, withOwnModels } from "./own-models.ts";

const REQUEST = { system: "Be kind.", messages: [], tools: [], toolChoice: "auto" } as unknown as ModelRequest;
const network = {
  id: "network",
  complete: async () => ({ content: "far", toolCalls: [], usage: NO_USAGE, finish: "stop" as const }),
};

function ask(models: OwnModels, name: string, signal = AbortSignal.any([])) {
  const create = withOwnModels(models, () => network);
  return create({ model: name, settings: {} }).complete(REQUEST, signal);
}

test("a function's text or calls become a whole reply, and other names go to the network", async () => {
  const call = { id: "1", name: "look", arguments: "{}" };
  const models: OwnModels = { says: () => "Hello.", calls: async () => ({ toolCalls: [call] }), object: network };
  expect(await ask(models, "says")).toMatchObject({
    content: "Hello.",
    toolCalls: [],
    finish: "stop",
    usage: { inputTokens: 2, outputTokens: 2 },
  });
  expect(await ask(models, "calls")).toMatchObject({ content: "", toolCalls: [call], finish: "tool-calls" });
  expect(await ask(models, "object")).toMatchObject({ content: "far" });
  expect(await ask(models, "toString")).toMatchObject({ content: "far" });
});

test("what a function throws ends its rollout and no other; an interrupt stays an interrupt", async () => {
  const stop = new AbortController();
  const models: OwnModels = {
    broken: () => {
      throw new TypeError("no weights");
    },
    interrupted: () => {
      stop.abort(new Error("stop"));
      stop.signal.throwIfAborted();
      return "";
    },
  };
  const error = await ask(models, "broken").catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RolloutError);
  expect(error).toMatchObject({ message: 'The model "broken" threw: no weights', kind: "own_model", retryable: false });
  expect(await ask(models, "interrupted", stop.signal).catch((reason: unknown) => reason)).toBe(stop.signal.reason);
});

test("counts that cannot be true are dropped here too", async () => {
  const models: OwnModels = {
    odd: () => ({ content: "Hi", usage: { ...NO_USAGE, costUsd: Number.NaN, inputTokens: 5 } }),
  };
  expect(await ask(models, "odd")).toMatchObject({
    usage: { inputTokens: 5, costUsd: null },
    droppedUsage: ["costUsd"],
  });
});
