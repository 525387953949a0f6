import { expect, test } from "vitest";
import { modelAt, requestOf } from "../../test/support/model-server.ts";
import { type Clock, createRandom, type ModelReply, NO_USAGE } from "../core/index.ts";
import { Concurrency } from "./concurrency.ts";
import { ModelFailure } from "./failure.ts";
import { createGates } from "./limits.ts";
import { composeEndpoint } from "./replicas.ts";

/** Time that passes only while everybody waits. */
function createFastClock(): Clock & { runUntil(isOver: () => boolean): Promise<void> } {
  let time = 0;
  const timers = new Map<number, (() => void)[]>();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => time,
    elapsed: () => time,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        const at = time + Math.max(1, Math.ceil(milliseconds));
        const due = timers.get(at);
        if (due) due.push(resolve);
        else timers.set(at, [resolve]);
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
    async runUntil(isOver) {
      await settle();
      for (; !isOver(); time++) {
        for (const wake of timers.get(time) ?? []) wake();
        if (timers.delete(time)) await settle();
        if (time > 3_600_000) throw new Error("an hour is not enough");
      }
    },
  };
}

type World = {
  workers?: number;
  calls?: number;
  /** milliseconds of a call */
  latency?: (random: () => number) => number;
  /** whether a request is refused, or with which Retry-After in milliseconds */
  refuses?: (at: number, inFlight: number, random: () => number) => boolean | number;
  /** what happens to a request that is sent, or still unanswered, at this time */
  breaks?: (at: number) => ModelFailure | undefined;
};

/** Workers that make calls to a server which refuses some: how long it takes, and when requests were refused. */
async function play({ workers = 400, calls = 2800, latency = () => 1000, refuses = () => false, breaks }: World) {
  const clock = createFastClock();
  const random = createRandom("busy", 1);
  const next = () => random.next();
  const refused: number[] = [];
  let [inFlight, left, working, failed] = [0, calls, workers, 0];
  const complete = async (): Promise<ModelReply> => {
    const broken = breaks?.(clock.now());
    if (broken) await clock.sleep(1);
    if (broken) throw broken;
    const no = refuses(clock.now(), inFlight, next);
    if (no !== false) {
      refused.push(clock.now());
      await clock.sleep(1);
      const retryAfterMs = no === true ? undefined : no;
      throw new ModelFailure("rate-limit", "busy (429)", { retryable: true, retryAfterMs });
    }
    inFlight++;
    await clock.sleep(latency(next));
    inFlight--;
    const lost = breaks?.(clock.now());
    if (lost) throw lost;
    return { content: "", toolCalls: [], usage: NO_USAGE, finish: "stop" };
  };
  const gates = createGates({ clock });
  const client = composeEndpoint({
    model: modelAt("http://host/v1"),
    settings: {},
    deps: { gates, clock, random },
    connect: () => ({ id: "m", complete }),
  });
  const { signal } = new AbortController();
  const work = async (_: unknown, worker: number) => {
    while (left-- > 0) await client.complete(requestOf({}, worker), signal).catch(() => failed++);
    working--;
  };
  const all = Promise.all(Array.from({ length: workers }, work));
  await clock.runUntil(() => working === 0);
  await all;
  expect(failed).toBe(0);
  const refusedAfter = (time: number) => refused.filter((at) => at > time).length;
  return { seconds: clock.now() / 1000, refused: refused.length, refusedAfter };
}

const uneven: World["latency"] = (random) => 700 + 600 * random();
const burst =
  (from: number, to: number, after?: number) =>
  (at: number): boolean | number =>
    at >= from && at < to && (after ?? true);

test("without refusals everybody is served at once", async () => {
  expect((await play({ refuses: () => false })).seconds).toBeCloseTo(7, 1);
});

const gone = () => new ModelFailure("network", "no answer: ECONNREFUSED", { retryable: true, own: false });
const loading = () => new ModelFailure("server", "failed (503): Loading model", { retryable: true, status: 503 });

test.each<[string, number, number, (at: number) => ModelFailure | undefined]>([
  ["20 s", 400, 45, (at) => (at >= 1500 && at < 21_500 ? gone() : undefined)],
  ["20 s, for one rollout", 1, 40, (at) => (at >= 1500 && at < 21_500 ? gone() : undefined)],
  ["80 s, for two rollouts", 2, 100, (at) => (at >= 1500 && at < 81_500 ? gone() : undefined)],
  ["80 s, for many", 400, 130, (at) => (at >= 1500 && at < 81_500 ? gone() : undefined)],
  ["3 s and loads for 30 s", 2, 50, (at) => (at < 1500 || at >= 34_500 ? undefined : at < 4500 ? gone() : loading())],
  ["0 s and loads for 30 s", 2, 50, (at) => (at < 1500 || at >= 31_500 ? undefined : loading())],
])("a server that is gone for %s costs no rollout", async (_, workers, seconds, breaks) => {
  const world = await play({ workers, calls: workers * 7, breaks });
  expect(world.seconds).toBeLessThan(seconds);
});

test.each<[string, NonNullable<World["refuses"]>, number, number]>([
  ["of 5 s", burst(1000, 6000), 17, 450],
  ["of 5 s, from the first request on", burst(0, 5000), 17, 450],
  ["of 1 s", burst(1000, 2000), 13, 450],
  ["of 15 s", burst(1000, 16_000), 31, 450],
  ["of 5 s, with Retry-After", (at) => at >= 1000 && at < 6000 && 6000 - at, 16, 450],
  ["of 5 s, with a Retry-After that is too short", burst(1000, 6000, 1000), 17, 550],
])("after a burst %s the way back is quick, and there is no second storm", async (_, refuses, seconds, most) => {
  for (const latency of [() => 1000, uneven]) {
    const world = await play({ refuses, latency });
    expect(world.seconds).toBeLessThan(seconds);
    expect(world.refused).toBeLessThan(most);
  }
});

test("nor is there one when the server is asked again, again and again", async () => {
  const world = await play({ refuses: burst(1000, 61_000) });
  expect(world.refusedAfter(3000)).toBeLessThan(15);
  expect(world.seconds).toBeLessThan(61 + 15 + 12);
});

test("bursts that return do not add up", async () => {
  const world = await play({ calls: 8000, refuses: (at) => at < 60_000 && at % 10_000 < 2000 });
  expect(world.seconds).toBeLessThan(60);
});

test("a server that takes 200 at once is kept busy, and refuses next to nothing after the first moment", async () => {
  const world = await play({ calls: 6000, latency: uneven, refuses: (_, inFlight) => inFlight >= 200 });
  expect(world.seconds).toBeLessThan(33); // 30 s if all 200 places were always taken
  expect(world.refusedAfter(1000)).toBeLessThan(30);
});

test("so is one that takes fewer from some moment on, also after a burst", async () => {
  for (const end of [4000, 9000]) {
    const isFull = (at: number, inFlight: number) => inFlight >= (at < 4000 ? 400 : 50);
    const refuses: World["refuses"] = (at, inFlight) => (at >= 4000 && at < end) || isFull(at, inFlight);
    const world = await play({ calls: 5000, latency: uneven, refuses });
    expect(world.refused).toBeLessThan(350);
    expect(world.refusedAfter(20_000)).toBeLessThan(50);
    expect(world.seconds).toBeLessThan(90); // 4 + 68 s at the least
  }
});

test("and one that takes more from some moment on is found out", async () => {
  const refuses: World["refuses"] = (at, inFlight) => inFlight >= (at < 10_000 ? 50 : 400);
  const world = await play({ calls: 8000, latency: uneven, refuses });
  expect(world.seconds).toBeLessThan(45); // 10 + 19 s at the least
});

test("a refusal here and there does not slow down the rest", async () => {
  const world = await play({ calls: 4000, latency: uneven, refuses: (_at, _inFlight, random) => random() < 0.05 });
  expect(world.seconds).toBeLessThan(14);
});

test("600 requests per minute are used up in every minute, with few refusals", async () => {
  for (const told of [true, false]) {
    const made: number[] = [];
    const refuses = (at: number) => {
      const minute = Math.floor(at / 60_000);
      made[minute] = (made[minute] ?? 0) + 1;
      return (made[minute] ?? 0) > 600 && (told ? (minute + 1) * 60_000 - at : true);
    };
    const world = await play({ calls: 1800, refuses });
    expect(world.seconds).toBeLessThan(told ? 125 : 150);
    expect(world.refused).toBeLessThan(1000);
  }
});

test("a single caller is not left waiting long after a burst", async () => {
  const world = await play({ workers: 1, calls: 5, refuses: burst(1000, 6000) });
  expect(world.seconds).toBeLessThan(13);
  expect(world.refused).toBeLessThan(10);
});

test("places that nobody needs are gained once at most", () => {
  const concurrency = new Concurrency(1000);
  const all = Array.from({ length: 100 }, (_, index) => concurrency.admit(index + 1));
  for (const [index, admission] of all.entries()) if (index >= 50) concurrency.refuse(admission, 149 - index);
  const { cap } = concurrency;
  expect(cap).toBeLessThanOrEqual(50);
  for (let call = 0; call < 1000; call++) concurrency.succeed(concurrency.admit(1));
  expect(concurrency.cap).toBeLessThanOrEqual(2 * cap);
});
