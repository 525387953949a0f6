import { expect, test } from "vitest";
import { modelAt, requestOf } from "../../test/support/model-server.ts";
import { type ModelReply, NO_USAGE } from "../core/index.ts";
import { failureOfStatus, failureOfTransport, type ModelFailure } from "./failure.ts";
import { StartCheck } from "./start-check.ts";

const { signal } = new AbortController();
const OK: ModelReply = { content: "hi", toolCalls: [], usage: NO_USAGE, finish: "stop" };
const context = {
  endpoint: "http://x",
  model: "m",
  keyName: "KEY",
  party: "agent",
  redact: (text: string) => text,
} as const;
const refused = (status: number) => failureOfStatus(context, { status, text: "" });
const unreachable = failureOfTransport(context, { code: "ECONNREFUSED" });

/** Plays answers at one of a model's servers; gives the names of the errors, or "ok". */
function world(baseUrls = ["http://a"]) {
  const starts = new StartCheck();
  return async (answer: ModelFailure | undefined, { url = "http://a", id = "test/model" } = {}) => {
    const complete = () => (answer ? Promise.reject(answer) : Promise.resolve(OK));
    const client = starts.watch({ id, complete }, { model: modelAt(baseUrls, { id }), baseUrl: url });
    return await client.complete(requestOf(), signal).then(
      () => "ok",
      (error) => (error.name === "SetupError" ? "stop" : error.own ? "own" : "shared"),
    );
  };
}

test.each([401, 402, 403, 404, 307])(
  "a %i at a model's first call stops everything, and not after a reply",
  async (status) => {
    const ask = world();
    expect(await ask(refused(status))).toBe("stop");
    expect(await ask(undefined)).toBe("ok");
    expect(await ask(refused(status))).toBe("shared");
  },
);

test("an address stops everything only if it never answered; a model that is not there, even if another is", async () => {
  const ask = world();
  expect(await ask(unreachable)).toBe("stop");
  expect(await ask(undefined)).toBe("ok");
  expect(await ask(unreachable, { id: "test/other" })).toBe("shared");
  expect(await ask(refused(404), { id: "test/other" })).toBe("stop");
});

test("a server's own failure is no reason to stop; before its first answer it is not the rollout's own", async () => {
  const ask = world();
  expect(await ask(refused(503))).toBe("shared");
  expect(await ask(refused(400))).toBe("shared");
  expect(await ask(undefined)).toBe("ok");
  expect(await ask(refused(503))).toBe("own");
});

test("replicas stop everything only once each of them is wrong", async () => {
  const ask = world(["http://a", "http://b"]);
  expect(await ask(unreachable)).toBe("shared");
  expect(await ask(unreachable)).toBe("shared");
  expect(await ask(refused(401), { url: "http://b" })).toBe("stop");
});
