import { expect, test } from "vitest";
import { createManualClock, requestOf } from "../../test/support/model-server.ts";
import { type ModelClient, type ModelReply, NO_USAGE, RolloutError } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";
import { type RetryWait, withRetry } from "./retry.ts";

const reply: ModelReply = { content: "Hi", toolCalls: [], usage: NO_USAGE, finish: "stop" };
const random = { next: () => 0.5 };
const { signal } = new AbortController();

function failingWith(...errors: unknown[]): ModelClient & { calls: number } {
  const client = {
    id: "m",
    calls: 0,
    async complete() {
      const error = errors[client.calls++];
      if (error) throw error;
      return reply;
    },
  };
  return client;
}
const server = () => new ModelFailure("server", "failed (500)", { retryable: true, status: 500 });
const busy = (retryAfterMs?: number) => new ModelFailure("rate-limit", "busy (429)", { retryable: true, retryAfterMs });

test("a failure that may pass is tried again, with a back-off that doubles", async () => {
  const clock = createManualClock({ auto: true });
  const client = failingWith(server(), server(), server());
  const waits: RetryWait[] = [];
  const onWait = (wait: RetryWait) => waits.push(wait);
  expect(await withRetry(client, { clock, random, onWait }).complete(requestOf(), signal)).toBe(reply);
  expect(clock.slept).toEqual([250, 500, 1000]);
  expect(waits.map(({ attempt, milliseconds }) => [attempt, milliseconds])).toEqual([
    [1, 250],
    [2, 500],
    [3, 1000],
  ]);
});

test("attempts are bounded, and the end says how many there were and cannot be retried", async () => {
  const clock = createManualClock({ auto: true });
  const client = failingWith(...Array.from({ length: 99 }, server));
  const done = withRetry(client, { clock, random, maxRetries: 2 }).complete(requestOf(), signal);
  await expect(done).rejects.toMatchObject({
    message: "failed (500) (3 attempts)",
    retryable: false,
    stopReason: "infrastructure",
    status: 500,
  });
  expect(client.calls).toBe(3);
});

test("no wait of its own is longer than half a minute", async () => {
  const clock = createManualClock({ auto: true });
  const client = failingWith(...Array.from({ length: 12 }, server));
  await withRetry(client, { clock, random: { next: () => 0.999 }, maxRetries: 20 }).complete(requestOf(), signal);
  expect(Math.max(...clock.slept)).toBeLessThanOrEqual(30_000);
  expect(clock.slept.at(-1)).toBeGreaterThan(29_000);
});

test("Retry-After is waited out in full", async () => {
  const clock = createManualClock({ auto: true });
  await withRetry(failingWith(busy(42_000)), { clock, random }).complete(requestOf(), signal);
  expect(clock.slept).toEqual([42_000]);
});

test("being told to wait does not use up the attempts meant for failures, but has its own bound", async () => {
  const clock = createManualClock({ auto: true });
  const patient = failingWith(...Array.from({ length: 9 }, () => busy(1000)));
  await withRetry(patient, { clock, random, maxRetries: 1 }).complete(requestOf(), signal);
  expect(patient.calls).toBe(10);
  const endless = failingWith(...Array.from({ length: 99 }, () => busy(1000)));
  await expect(
    withRetry(endless, { clock, random, maxRetries: 1 }).complete(requestOf(), signal),
  ).rejects.toMatchObject({ kind: "rate-limit", retryable: false });
  expect(endless.calls).toBe(11);
});

test("a server that asks for more than ten minutes is not waited for", async () => {
  const clock = createManualClock({ auto: true });
  await expect(
    withRetry(failingWith(busy(3_600_000)), { clock, random }).complete(requestOf(), signal),
  ).rejects.toMatchObject({ retryable: false, message: "busy (429) (asks to wait 3600 s)" });
  expect(clock.slept).toEqual([]);
});

const lost = () => new ModelFailure("network", "no answer: ECONNREFUSED", { retryable: true, own: false });

test("a lost connection is waited for by time, however often it fails, and asked for every few seconds", async () => {
  const clock = createManualClock({ auto: true });
  const began = clock.elapsed();
  const client = failingWith(...Array.from({ length: 999 }, lost));
  await expect(withRetry(client, { clock, random, maxRetries: 1 }).complete(requestOf(), signal)).rejects.toMatchObject(
    {
      kind: "network",
      retryable: false,
      stopReason: "infrastructure",
      message: expect.stringMatching(/^no answer: ECONNREFUSED \(\d\d attempts\)$/),
    },
  );
  expect(clock.slept.slice(0, 6)).toEqual([250, 500, 1000, 2000, 4000, 4000]);
  expect(clock.elapsed() - began).toBeGreaterThanOrEqual(90_000);
  expect(clock.elapsed() - began).toBeLessThan(100_000);
});

test("losing the connection takes nothing from the attempts for other failures, which count again afterwards", async () => {
  const clock = createManualClock({ auto: true });
  const client = failingWith(...Array.from({ length: 9 }, lost), server(), server(), lost(), server());
  await withRetry(client, { clock, random, maxRetries: 1 }).complete(requestOf(), signal);
  expect(client.calls).toBe(14);
  const never = failingWith(lost(), ...Array.from({ length: 99 }, server));
  await expect(withRetry(never, { clock, random, maxRetries: 1 }).complete(requestOf(), signal)).rejects.toMatchObject({
    kind: "server",
  });
});

test("few losses over a long time, as of those who ask for everyone, end nothing", async () => {
  const clock = createManualClock({ auto: true });
  const slow = (error: ModelFailure) => error.restate({ retryAfterMs: 100_000 });
  const client = failingWith(slow(lost()), slow(lost()), slow(lost()));
  await withRetry(client, { clock, random }).complete(requestOf(), signal);
  expect(client.calls).toBe(4);
});

test("with no retries allowed a lost connection is not waited for", async () => {
  const clock = createManualClock({ auto: true });
  const error = lost();
  await expect(
    withRetry(failingWith(error), { clock, random, maxRetries: 0 }).complete(requestOf(), signal),
  ).rejects.toBe(error);
  expect(clock.slept).toEqual([]);
});

test.each([
  ["a failure that cannot get better", new ModelFailure("refused", "no", {})],
  ["an error that is not a model's", new RolloutError("tool", "no", { retryable: true })],
  ["a bug", new TypeError("no")],
])("%s passes at once, as it is", async (_, error) => {
  const clock = createManualClock({ auto: true });
  await expect(withRetry(failingWith(error), { clock, random }).complete(requestOf(), signal)).rejects.toBe(error);
  expect(clock.slept).toEqual([]);
});

test("with no retries allowed the first failure is the last", async () => {
  const clock = createManualClock({ auto: true });
  const error = busy(10);
  await expect(
    withRetry(failingWith(error), { clock, random, maxRetries: 0 }).complete(requestOf(), signal),
  ).rejects.toBe(error);
});

test("an abort during the wait ends it with the caller's reason", async () => {
  const controller = new AbortController();
  const clock = createManualClock();
  const done = withRetry(failingWith(server()), { clock, random }).complete(requestOf(), controller.signal);
  const caught = expect(done).rejects.toThrow("enough");
  await clock.advance(1);
  controller.abort(new Error("enough"));
  await caught;
});
