import { expect, test } from "vitest";
import { modelAt, requestOf } from "../../../test/support/model-server.ts";
import { type ModelClient, type ModelReply, type ModelRequest, NO_USAGE, RolloutError } from "../../core/index.ts";
import { ModelFailure } from "../failure.ts";
import type { CallSettings } from "../resolved.ts";
import { type CassetteStore, createReplayClient, type RecordedCall, withCassette } from "./cassette.ts";

const { signal } = new AbortController();
const model = modelAt("http://host/v1");
const reply = (content: string): ModelReply => ({ content, toolCalls: [], usage: NO_USAGE, finish: "stop" });

function memory(): CassetteStore & { calls: RecordedCall[] } {
  const calls: RecordedCall[] = [];
  return {
    calls,
    keep: async (_, call) => void calls.push(call),
    find: async ({ queryId, rollout, party, position }) =>
      calls.findLast(
        (call) =>
          call.query_id === queryId && call.rollout === rollout && call.party === party && call.position === position,
      ),
  };
}

function answering(answer: (request: ModelRequest) => ModelReply | Error): ModelClient {
  return {
    id: "test/model",
    complete: async (request) => {
      const given = answer(request);
      if (given instanceof Error) throw given;
      return given;
    },
  };
}

async function recorded(answer: (request: ModelRequest) => ModelReply | Error, ...requests: ModelRequest[]) {
  const tape = memory();
  const client = withCassette(answering(answer), tape, { model, settings: {} });
  for (const request of requests) await client.complete(request, signal).catch(() => {});
  const replay = (request: ModelRequest, settings: CallSettings = {}, more = {}) =>
    createReplayClient(tape, { model: { ...model, ...more }, settings }).complete(request, signal);
  return { tape, replay };
}

test("each rollout, party and position is answered by its own recording", async () => {
  const at = (rollout: number, more = {}) => {
    const request = requestOf({}, rollout);
    return { ...request, origin: { ...request.origin, ...more } };
  };
  const requests = [at(0), at(1), at(0, { position: 1 }), at(0, { party: "user" })];
  let said = 0;
  const { replay } = await recorded(() => reply(`answer ${said++}`), ...requests);
  const replies = await Promise.all(requests.map((request) => replay(request)));
  expect(replies.map(({ content }) => content)).toEqual(["answer 0", "answer 1", "answer 2", "answer 3"]);
  await expect(replay(at(2))).rejects.toThrow('call 1 of the agent in rollout 2 of "q" (d) is not on the cassette');
});

const tools = [{ name: "find", description: "", parameters: {}, readOnly: true }];

test.each<[string, Partial<ModelRequest>, CallSettings, object]>([
  ["the system prompt", { system: "Another." }, {}, {}],
  ["the messages (1 of them)", { messages: [{ role: "user", content: "Bye" }] }, {}, {}],
  ["the messages (1 → 0 of them)", { messages: [] }, {}, {}],
  ["the tools", { tools }, {}, {}],
  ["whether tools may be called (auto → none)", { toolChoice: "none" }, {}, {}],
  ["the model's settings", {}, { temperature: 1 }, {}],
  ["the model's settings", {}, {}, { body: { top_k: 5 } }],
  ["the model (test/model → test/other)", {}, {}, { id: "test/other" }],
])("where it is not the same request, the error names what differs: %s", async (what, request, settings, more) => {
  const { replay } = await recorded(() => reply("yes"), requestOf());
  await expect(replay(requestOf(request), settings, more)).rejects.toMatchObject({
    boundary: "infrastructure",
    retryable: false,
    message: expect.stringContaining(`was recorded for another request; what differs: ${what}`),
  });
});

test("how long to wait and how often to try is no part of a request", async () => {
  const { replay } = await recorded(() => reply("yes"), requestOf());
  await expect(replay(requestOf(), { timeoutSeconds: 5, maxRetries: 0 })).resolves.toMatchObject({ content: "yes" });
});

test("a failure is played back as it was; a call that was never made is not recorded", async () => {
  const overflow = new ModelFailure("context-overflow", "too long", {
    ...{ stopReason: "context_overflow", boundary: "agent", status: 400 },
  });
  const failed = await recorded(() => overflow, requestOf());
  await expect(failed.replay(requestOf())).rejects.toMatchObject({
    ...{
      kind: "context-overflow",
      message: "too long",
      stopReason: "context_overflow",
      boundary: "agent",
      status: 400,
    },
  });
  const other = await recorded(() => new RolloutError("tool", "gone"), requestOf());
  await expect(other.replay(requestOf())).rejects.toMatchObject({ boundary: "tool", message: "gone" });
  for (const error of [new ModelFailure("unavailable", "left alone"), new Error("aborted")])
    expect((await recorded(() => error, requestOf())).tape.calls).toEqual([]);
});
