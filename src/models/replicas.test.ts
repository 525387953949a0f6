import { expect, test } from "vitest";
import { requestOf } from "../../test/support/model-server.ts";
import { type ModelReply, NO_USAGE } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";
import { type Replica, withReplicas } from "./replicas.ts";

const { signal } = new AbortController();
const reply: ModelReply = { content: "", toolCalls: [], usage: NO_USAGE, finish: "stop" };

type Fake = Replica & { gate: { inFlight: number; waiting: number; isHealthy: boolean }; error?: Error };

function world(count: number) {
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
  const client = withReplicas("m", replicas);
  return { asked, replicas, client, call: (rollout: number) => client.complete(requestOf({}, rollout), signal) };
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
