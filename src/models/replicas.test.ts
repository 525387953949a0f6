import { expect, test } from "vitest";
import { requestOf } from "../../test/support/model-server.ts";
import { type ModelReply, NO_USAGE } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";
import { type Replica, type Sticky, withReplicas } from "./replicas.ts";

const { signal } = new AbortController();
const reply: ModelReply = { content: "", toolCalls: [], usage: NO_USAGE, finish: "stop" };

type Fake = Replica & { gate: { inFlight: number; waiting: number; isHealthy: boolean }; error?: Error };

function world(count: number, sticky?: Sticky) {
  const asked: string[] = [];
  const replicas = Array.from({ length: count }, (_, index) => {
    const replica: Fake = {
      gate: { inFlight: 0, waiting: 0, isHealthy: true },
      client: {
        id: `r${index}`,
        async complete(request) {
          asked.push(`${request.origin.rollout}@${index}`);
          replica.gate.inFlight++;
          if (replica.error) throw replica.error;
          return reply;
        },
      },
    };
    return replica;
  });
  const client = withReplicas("m", replicas, sticky);
  const ask = (queryId: string, rollout: number) => {
    const { origin } = requestOf({}, rollout);
    return client.complete(requestOf({ origin: { ...origin, queryId } }), signal);
  };
  return { asked, replicas, client, ask, call: (rollout: number) => ask("q", rollout) };
}

test("rollouts start on the least loaded replica and stay there", async () => {
  const { asked, call } = world(2);
  for (const rollout of [0, 1, 2, 3, 0, 0, 1, 2, 3]) await call(rollout);
  expect(asked).toEqual(["0@0", "1@1", "2@0", "3@1", "0@0", "0@0", "1@1", "2@0", "3@1"]);
});

test("a rollout whose replica fails moves to a healthy one and stays there; the pause that was asked for is not its own", async () => {
  const { asked, replicas, call } = world(2);
  await call(0);
  (replicas[0] as Fake).error = new ModelFailure("rate-limit", "busy", { retryable: true, retryAfterMs: 9000 });
  const failure = await call(0).catch((error: ModelFailure) => error);
  expect(failure).toMatchObject({ kind: "rate-limit", retryable: true, retryAfterMs: undefined });
  await call(0);
  delete (replicas[0] as Fake).error;
  await call(0);
  expect(asked).toEqual(["0@0", "0@0", "0@1", "0@1"]);
});

test("what would fail everywhere moves nothing", async () => {
  const { asked, replicas, call } = world(2);
  (replicas[0] as Fake).error = new ModelFailure("refused", "bad request");
  await expect(call(0)).rejects.toThrow("bad request");
  await expect(call(0)).rejects.toThrow("bad request");
  expect(asked).toEqual(["0@0", "0@0"]);
});

test("an unhealthy replica is left at once; where all are unhealthy the rollout stays and waits", async () => {
  const { asked, replicas, call } = world(2);
  await call(0);
  (replicas[0] as Fake).gate.isHealthy = false;
  await call(0);
  (replicas[1] as Fake).gate.isHealthy = false;
  (replicas[1] as Fake).error = new ModelFailure("server", "down", { retryable: true, retryAfterMs: 5000 });
  await expect(call(0)).rejects.toMatchObject({ retryAfterMs: 5000 });
  await expect(call(1)).resolves.toBe(reply);
  expect(asked).toEqual(["0@0", "0@1", "0@1", "1@0"]);
});

test("by question, all rollouts of a question stay on one replica, and questions are dealt out evenly", async () => {
  const { asked, replicas, ask } = world(3, "question");
  for (let query = 0; query < 9; query++) {
    for (let rollout = 0; rollout < 4; rollout++) await ask(`q${query}`, rollout);
    for (const { gate } of replicas) gate.inFlight = 0; // nothing is going on when the next question comes
  }
  const replicaOf = (name: string) => name.split("@")[1];
  const perQuestion = Array.from({ length: 9 }, (_, query) => asked.slice(query * 4, query * 4 + 4).map(replicaOf));
  for (const [first, ...others] of perQuestion) expect(new Set(others)).toEqual(new Set([first]));
  const perReplica = ["0", "1", "2"].map((replica) => perQuestion.filter(([first]) => first === replica).length);
  expect(perReplica).toEqual([3, 3, 3]);
});

test("by question, a replica that fails is left by all rollouts of the question together, for the same one", async () => {
  const { asked, replicas, call } = world(4, "question");
  await call(0);
  const failure = new ModelFailure("server", "down", { retryable: true, retryAfterMs: 5000 });
  (replicas[0] as Fake).error = failure;
  const calls = [1, 2, 3, 4].map((rollout) => call(rollout).catch((error: ModelFailure) => error.retryAfterMs));
  expect(await Promise.all(calls)).toEqual([undefined, undefined, undefined, undefined]);
  asked.length = 0;
  delete (replicas[0] as Fake).error;
  for (const rollout of [0, 1, 2, 3, 4]) await call(rollout);
  expect(new Set(asked.map((name) => name.split("@")[1])).size).toBe(1);
  expect(asked[0]).not.toBe("0@0");
});
