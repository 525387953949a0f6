import { expect, test } from "vitest";
import { createManualClock, requestOf } from "../../test/support/model-server.ts";
import { type ModelClient, type ModelReply, NO_USAGE } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";
import { createGates, type EndpointEvent, withLimits } from "./limits.ts";
import type { EndpointLimits } from "./resolved.ts";

const never = new AbortController().signal;
const replyOf = (tokens = 0): ModelReply => ({
  content: "",
  toolCalls: [],
  usage: { ...NO_USAGE, inputTokens: tokens },
  finish: "stop",
});
const busy = (retryAfterMs?: number) => new ModelFailure("rate-limit", "busy (429)", { retryable: true, retryAfterMs });
const broken = () => new ModelFailure("server", "failed (503)", { retryable: true, status: 503 });

/** A gate in front of a model whose calls end when the test decides. */
function gated(limits: EndpointLimits = {}) {
  const clock = createManualClock();
  const events: EndpointEvent[] = [];
  const gate = createGates({ clock, onEvent: (event) => events.push(event) }).for("http://host/v1", { limits });
  type Call = { rollout: number; resolve: (reply: ModelReply) => void; reject: (error: unknown) => void };
  const running: Call[] = [];
  const model: ModelClient = {
    id: "m",
    complete: (request) =>
      new Promise((resolve, reject) => {
        running.push({ rollout: request.origin.rollout, resolve, reject });
      }),
  };
  const client = withLimits(model, gate);
  const settle = () => clock.advance(0);
  const call = (rollout: number, signal = never, content = "") =>
    client.complete(requestOf({ system: "", messages: [{ role: "user", content }] }, rollout), signal);
  return {
    clock,
    events,
    gate,
    settle,
    started: () => running.map((call) => call.rollout),
    call,
    start(rollout: number, content = "") {
      call(rollout, never, content).catch(() => undefined);
    },
    async end(result: ModelReply | ModelFailure | Error = replyOf(), index = 0) {
      const [call] = running.splice(index, 1);
      if (result instanceof Error) call?.reject(result);
      else call?.resolve(result);
      await settle();
    },
  };
}

test("no more requests than allowed are under way, and those that wait go in the order they came", async () => {
  const { start, end, started, gate, settle } = gated({ maxInFlight: 2 });
  for (let rollout = 0; rollout < 5; rollout++) start(rollout);
  await settle();
  expect(started()).toEqual([0, 1]);
  expect(gate.waiting).toBe(3);
  await end();
  expect(started()).toEqual([1, 2]);
  await end(new Error("bug"));
  expect(started()).toEqual([2, 3]);
  await end();
  await end();
  await end();
  expect([gate.inFlight, gate.waiting]).toEqual([0, 0]);
});

test("one who waits can be aborted, and the others move up", async () => {
  const { call, start, end, started, settle } = gated({ maxInFlight: 1 });
  const controller = new AbortController();
  start(0);
  const second = call(1, controller.signal);
  start(2);
  await settle();
  controller.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  await end();
  expect(started()).toEqual([2]);
});

test("requests per minute hold in every window, and the wait is announced once", async () => {
  const { start, started, clock, events, settle } = gated({ requestsPerMinute: 2 });
  start(0);
  await clock.advance(20_000);
  start(1);
  start(2);
  start(3);
  await settle();
  expect(started()).toEqual([0, 1]);
  await clock.advance(39_999);
  expect(started()).toEqual([0, 1]);
  await clock.advance(1);
  expect(started()).toEqual([0, 1, 2]);
  await clock.advance(20_000);
  expect(started()).toEqual([0, 1, 2, 3]);
  expect(events).toMatchObject([
    { type: "endpoint-wait", endpoint: "http://host/v1", seconds: 40, reason: "requests per minute", waiting: 1 },
    { type: "endpoint-wait", seconds: 20, waiting: 1 },
  ]);
});

test("tokens per minute are estimated before and corrected after", async () => {
  const { start, end, started, clock, settle } = gated({ tokensPerMinute: 100 });
  const content = "x".repeat(160); // 40 tokens
  start(0, content);
  start(1, content);
  start(2, content);
  await settle();
  expect(started()).toEqual([0, 1]);
  await end(replyOf(10));
  // 10 + 40 spent, and these prompts turn out to be of 10 tokens: five more fit, and a sixth does not
  for (let rollout = 3; rollout < 9; rollout++) start(rollout, content);
  await settle();
  expect(started()).toEqual([1, 2, 3, 4, 5, 6]);
  await clock.advance(60_000);
  expect(started()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

/** Several models at one endpoint that allows 100 tokens a minute. Names tell model and rollout. */
function scaled() {
  const clock = createManualClock();
  const gate = createGates({ clock }).for("http://host/v1", { limits: { tokensPerMinute: 100 } });
  const running = new Map<string, (reply: ModelReply) => void>();
  return {
    started: () => [...running.keys()],
    async start(name: string, estimated: number) {
      const complete = () => new Promise<ModelReply>((answer) => running.set(name, answer));
      const messages = [{ role: "user" as const, content: "x".repeat(4 * estimated) }];
      void withLimits({ id: name.slice(0, -1), complete }, gate).complete(requestOf({ system: "", messages }), never);
      await clock.advance(0);
    },
    async count(name: string, tokens: number) {
      running.get(name)?.(replyOf(tokens));
      await clock.advance(0);
    },
  };
}

test("a model's first count tells how far its estimates are off", async () => {
  const { start, count, started } = scaled();
  await start("qwen0", 40);
  await count("qwen0", 50);
  await start("qwen1", 40);
  expect(started()).toEqual(["qwen0", "qwen1"]);
  await start("qwen2", 1);
  expect(started()).toEqual(["qwen0", "qwen1"]); // 50 + 50 + 2, and not 50 + 40 + 1
});

test("those who wait already are measured by it too, and other models are not", async () => {
  const { start, count, started } = scaled();
  await start("wordy0", 40);
  await start("wordy1", 90);
  expect(started()).toEqual(["wordy0"]);
  await count("wordy0", 20);
  expect(started()).toEqual(["wordy0", "wordy1"]); // 20 + 45
  await start("other2", 36);
  expect(started()).toEqual(["wordy0", "wordy1"]);
});

test("replies without a count teach nothing", async () => {
  const { start, end, started, settle } = gated({ tokensPerMinute: 100 });
  for (let rollout = 0; rollout < 4; rollout++) start(rollout, "x".repeat(160));
  await settle();
  await end(replyOf(0));
  expect(started()).toEqual([1]);
});

test("a request larger than a minute's tokens goes when it is alone", async () => {
  const { start, started, settle } = gated({ tokensPerMinute: 10 });
  start(0, "x".repeat(1000));
  await settle();
  expect(started()).toEqual([0]);
});

test("each request that is too many takes a place away, and successes give it back", async () => {
  const { start, end, gate, settle } = gated({ maxInFlight: 100 });
  for (let rollout = 0; rollout < 50; rollout++) start(rollout);
  await settle();
  for (let index = 0; index < 40; index++) await end();
  for (let rollout = 0; rollout < 40; rollout++) start(rollout);
  await settle();
  await end(busy());
  expect(gate.cap).toBe(49);
  await end(busy());
  await end(busy());
  expect(gate.cap).toBe(47);
  for (let index = 0; index < 3; index++) await end();
  expect(gate.cap).toBe(50);
});

test("when most are too many, nobody is sent for a moment, and then one by one until one gets through", async () => {
  const { start, end, gate, settle, clock, started, events } = gated({ maxInFlight: 100 });
  for (let rollout = 0; rollout < 40; rollout++) start(rollout);
  await settle();
  for (let index = 0; index < 40; index++) await end(busy());
  expect(gate.cap).toBe(1);
  start(50);
  start(51);
  await clock.advance(249);
  expect(started()).toEqual([]);
  await clock.advance(1);
  expect(started()).toEqual([50]);
  await end(busy());
  await clock.advance(374);
  expect(started()).toEqual([]);
  await clock.advance(1);
  expect(started()).toEqual([51]);
  await end();
  expect(gate.cap).toBeGreaterThan(8);
  expect(events).toEqual([]);
});

test("the number under way never grows beyond what was set", async () => {
  const { start, end, gate, settle } = gated({ maxInFlight: 2 });
  for (let index = 0; index < 20; index++) {
    start(0);
    await settle();
    await end();
  }
  expect(gate.cap).toBe(2);
});

test("a Retry-After pauses the whole endpoint, is seen as one event, and is over when it is over", async () => {
  const { start, end, started, clock, events, gate, settle } = gated();
  start(0);
  start(1);
  await settle();
  await end(busy(30_000));
  await end(busy(30_000));
  start(2);
  await clock.advance(29_999);
  expect(started()).toEqual([]);
  expect(gate.isHealthy).toBe(false);
  await clock.advance(1);
  expect(started()).toEqual([2]);
  expect(gate.isHealthy).toBe(true);
  expect(events).toMatchObject([{ type: "endpoint-wait", seconds: 30, reason: "busy (429)" }]);
});

async function trip(world: ReturnType<typeof gated>, rollouts = 20) {
  for (let index = 0; index < 20; index++) world.start(index % rollouts);
  await world.settle();
  for (let index = 0; index < 20; index++) await world.end(broken());
}

test("an endpoint that fails the same way for everyone is left alone, then asked by one request", async () => {
  const world = gated();
  const { start, end, started, clock, events, gate } = world;
  await trip(world);
  expect(gate.isHealthy).toBe(false);
  start(1);
  start(2);
  await clock.advance(29_999);
  expect(started()).toEqual([]);
  await clock.advance(1);
  expect(started()).toEqual([1]);
  await end();
  expect(started()).toEqual([2]);
  expect(gate.isHealthy).toBe(true);
  expect(events.map(({ type, seconds, reason }) => [type, seconds, reason])).toEqual([
    ["endpoint-breaker", 30, "failed (503)"],
    ["endpoint-resume", 0, "it answers again"],
  ]);
});

test("a failed probe sends those who wait away to try elsewhere, and the next period is longer", async () => {
  const world = gated();
  const { call, start, end, started, clock, events } = world;
  await trip(world);
  start(1);
  const sentAway = expect(call(2)).rejects.toMatchObject({ kind: "unavailable", retryable: true });
  await clock.advance(30_000);
  await end(broken());
  await sentAway;
  start(3);
  await clock.advance(59_999);
  expect(started()).toEqual([]);
  await clock.advance(1);
  expect(started()).toEqual([3]);
  expect(events.map(({ seconds }) => seconds)).toEqual([30, 60]);
});

test("an endpoint that stays down is given up: nobody waits for it any more", async () => {
  const world = gated();
  await trip(world);
  for (let probe = 0; probe < 5; probe++) {
    world.start(1);
    await world.clock.advance(300_000);
    await world.end(broken());
  }
  await expect(world.call(2)).rejects.toMatchObject({ kind: "unavailable", retryable: false });
  await world.clock.advance(300_000);
  world.start(3);
  await world.settle();
  await world.end();
  world.start(4);
  await world.settle();
  expect(world.started()).toEqual([4]);
});

test("an aborted probe leaves the next one the chance", async () => {
  const world = gated();
  await trip(world);
  world.start(1);
  world.start(2);
  await world.clock.advance(30_000);
  await world.end(new Error("aborted"));
  expect(world.started()).toEqual([2]);
});

test("one or two rollouts that always fail, or failures between successes, trip nothing", async () => {
  const world = gated();
  await trip(world, 2);
  expect(world.gate.isHealthy).toBe(true);
  for (let index = 0; index < 60; index++) {
    world.start(index);
    await world.settle();
    await world.end(index % 10 === 0 ? replyOf() : broken());
  }
  expect(world.gate.isHealthy).toBe(true);
});

test("one gate serves all who share base URL and key, under the tighter of their limits", () => {
  const gates = createGates({ clock: createManualClock() });
  const gate = gates.for("http://u:p@host/v1?x=1", { keyName: "KEY", limits: { maxInFlight: 9 } });
  expect(gates.for("http://u:p@host/v1?x=1", { keyName: "KEY", limits: { maxInFlight: 3 } })).toBe(gate);
  expect(gates.for("http://u:p@host/v1?x=1", { keyName: "OTHER", limits: {} })).not.toBe(gate);
  expect([gate.cap, gate.endpoint]).toEqual([3, "http://host/v1"]);
});

const HOUR = 3_600_000;

test.each([
  ["back by an hour", -HOUR],
  ["forward by a day", 24 * HOUR],
])("a clock that is set %s in the middle makes no wait longer or shorter", async (_, step) => {
  const paused = gated();
  paused.start(0);
  await paused.settle();
  await paused.end(busy(20_000));
  paused.start(1);
  await paused.clock.advance(5000);
  paused.clock.set(step);
  expect(paused.gate.isHealthy).toBe(false);
  await paused.clock.advance(14_999);
  expect(paused.started()).toEqual([]);
  await paused.clock.advance(1);
  expect(paused.started()).toEqual([1]);

  const minute = gated({ requestsPerMinute: 1 });
  minute.start(0);
  await minute.clock.advance(10_000);
  minute.clock.set(step);
  minute.start(1);
  await minute.clock.advance(49_999);
  expect(minute.started()).toEqual([0]);
  await minute.clock.advance(1);
  expect(minute.started()).toEqual([0, 1]);

  const down = gated();
  for (let rollout = 0; rollout < 20; rollout++) down.start(rollout);
  await down.settle();
  for (let rollout = 0; rollout < 20; rollout++) await down.end(broken());
  down.start(20);
  down.clock.set(step);
  await down.clock.advance(29_999);
  expect(down.started()).toEqual([]);
  await down.clock.advance(1);
  expect(down.started()).toEqual([20]);
});
