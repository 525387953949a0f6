import { expect, onTestFinished, test } from "vitest";
import { createManualClock, failing, modelAt, requestOf, serveModel } from "../../test/support/model-server.ts";
import { type ModelReply, NO_USAGE, type RequestOrigin } from "../core/index.ts";
import { createModels } from "./connect.ts";
import { ModelFailure } from "./failure.ts";
import { StartCheck } from "./start-check.ts";

const { signal } = new AbortController();
const OK: ModelReply = { content: "hi", toolCalls: [], usage: NO_USAGE, finish: "stop" };
const full = (status = 400) =>
  new ModelFailure("context-overflow", "too long", { status, boundary: "agent", stopReason: "context_overflow" });

/** Calls that a test ends: "ok", "doubt", "own" or "stop" is what became of each. */
function world() {
  const starts = new StartCheck();
  const model = modelAt("http://a");
  const sent: string[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    sent,
    settle,
    trust: (dataset: string) => starts.prompts.trust(dataset),
    ask(queryId: string, more: Partial<RequestOrigin> = {}) {
      let answer: (reply: ModelReply | Promise<never>) => void = () => {};
      const answered = new Promise<ModelReply>((resolve) => {
        answer = resolve;
      });
      const complete = () => {
        sent.push(queryId);
        return answered;
      };
      const client = starts.watch({ id: model.id, complete }, { model, baseUrl: "http://a" });
      const origin = { ...requestOf().origin, queryId, ...more };
      const fate = client.complete(requestOf({ origin }), signal).then(
        () => "ok",
        ({ name, kind }) => (name === "SetupError" ? "stop" : name === "PromptInDoubt" ? "doubt" : kind),
      );
      return {
        fate,
        reply: () => answer(OK),
        overflow: (error = full()) => answer(Promise.reject(error)),
      };
    },
    async play(queryId: string, fits: boolean, more: Partial<RequestOrigin> = {}) {
      const { fate, reply, overflow } = this.ask(queryId, more);
      if (fits) reply();
      else overflow();
      return fate;
    },
  };
}

test("one prompt that does not fit is in doubt until another fits, and its own affair then", async () => {
  const it = world();
  expect(await it.play("long", false)).toBe("doubt");
  expect(await it.play("short", true)).toBe("ok");
  expect(await it.play("long", false)).toBe("context-overflow");
  expect(await it.play("longer", false)).toBe("context-overflow");
});

test("asked again after everybody else, with none that fits, it stops everything", async () => {
  const it = world();
  for (const query of ["a", "b", "c"]) expect(await it.play(query, false)).toBe("doubt");
  expect(await it.play("a", false)).toBe("stop");
});

test("many queries that do not fit are enough, however many rollouts one of them has", async () => {
  const it = world();
  for (let rollout = 0; rollout < 20; rollout++) expect(await it.play("a", false, { rollout })).toBe("doubt");
  for (let query = 1; query < 9; query++) expect(await it.play(`${query}`, false)).toBe("doubt");
  expect(await it.play("9", false)).toBe("stop");
});

test("while calls are under way nothing is decided, and new first calls wait for them", async () => {
  const it = world();
  const calls = Array.from({ length: 12 }, (_, index) => it.ask(`${index}`));
  const slow = it.ask("slow");
  for (const { overflow } of calls) overflow();
  expect(await Promise.all(calls.map(({ fate }) => fate))).toEqual(calls.map(() => "doubt"));
  const next = it.ask("next");
  await it.settle();
  expect(it.sent).not.toContain("next");
  slow.reply();
  await it.settle();
  expect(it.sent).toContain("next");
  next.overflow();
  expect(await next.fate).toBe("context-overflow");
});

test("those who waited go one by one", async () => {
  const it = world();
  expect(await it.play("a", false)).toBe("doubt");
  const [b, c] = [it.ask("b"), it.ask("c")];
  await it.settle();
  expect(it.sent).toEqual(["a", "b"]);
  b.overflow();
  expect(await b.fate).toBe("doubt");
  await it.settle();
  expect(it.sent).toEqual(["a", "b", "c"]);
  c.reply();
});

test("each party of each dataset counts for itself, and a judge does not count", async () => {
  const it = world();
  expect(await it.play("a", true, { dataset: "other" })).toBe("ok");
  expect(await it.play("a", true, { party: "user" })).toBe("ok");
  expect(await it.play("a", false)).toBe("doubt");
  expect(await it.play("a", false)).toBe("stop");
  expect(await it.play("a", false, { party: "judge" })).toBe("context-overflow");
});

test("a later prompt that does not fit, and a reply that fills the context, are the rollout's own", async () => {
  const it = world();
  expect(await it.play("a", false, { position: 1 })).toBe("context-overflow");
  const cut = it.ask("b");
  cut.overflow(full(200));
  expect(await cut.fate).toBe("context-overflow");
  expect(await it.play("c", true, { position: 3 })).toBe("ok");
  expect(await it.play("d", false)).toBe("context-overflow");
});

test("of a dataset that was played before, a few are their own affair, and many still stop everything", async () => {
  const it = world();
  it.trust("d");
  for (let query = 0; query < 9; query++) expect(await it.play(`${query}`, false)).toBe("doubt");
  expect(await it.play("0", false)).toBe("context-overflow");
  expect(await it.play("9", false)).toBe("stop");
});

test.each(["openai", "responses", "azure", "anthropic", "google", "mistral", "cohere", "bedrock"])(
  "%s: a first prompt that never fits stops everything, and says what to do",
  async (dialect) => {
    const message = "This model's maximum context length is 512 tokens. However, your prompt has 900 tokens.";
    const server = await serveModel(failing(400, { error: { message }, message }));
    const registry = { mine: { api_base: server.baseUrl, api_key: "sk-planted", dialect } };
    const clock = createManualClock({ auto: true });
    const models = createModels({ env: {}, registry, clock, random: { next: () => 0.5 } });
    onTestFinished(async () => {
      await models.close();
      await server.close();
    });
    const client = models.client("mine", {});
    await expect(client.complete(requestOf(), signal)).rejects.toMatchObject({ name: "PromptInDoubt" });
    const again = expect(client.complete(requestOf(), signal)).rejects;
    await again.toMatchObject({
      name: "SetupError",
      message: expect.stringMatching(
        /^openai\/mine cannot be used as the agent of d, whose first prompt does not fit: .*512 tokens.*\nShorten prompt, lower max_tokens, or/,
      ),
    });
    expect(server.received).toHaveLength(2);
  },
);
