// Many rollouts at once, with a model that answers when the test lets it.
import { expect, test } from "vitest";
import { run } from "../../test/support/play.ts";
import type { ModelClient, ModelReply, RunEvent } from "../core/index.ts";

const REPLY: ModelReply = {
  content: "It is open.",
  toolCalls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
  finish: "stop",
} as unknown as ModelReply;

/** Holds every request, until it has as many as it waits for. */
function holding(wanted: number) {
  let held: (() => void)[] = [];
  const client: ModelClient = {
    id: "test/agent",
    complete: () =>
      new Promise((resolve) => {
        held.push(() => resolve(REPLY));
        if (held.length < wanted) return;
        for (const answer of held) answer();
        held = [];
      }),
  };
  return client;
}

test("all workers have a request in flight at once, and the event loop turns while they start", async () => {
  const workers = 27 * 60;
  let [begun, most] = [0, 0];
  let isStarting = true;
  const turn = () => {
    [most, begun] = [Math.max(most, begun), 0];
    if (isStarting) setImmediate(turn);
  };
  setImmediate(turn);
  let started = 0;
  const onEvent = (event: RunEvent) => {
    if (event.type !== "rollout-start") return;
    begun++;
    isStarting = ++started < workers;
  };
  const { records } = await run({
    config: { datasets: ["StudentAcademicPortal"], agent_model: "test/agent", user_model: "test/agent", max_turns: 1 },
    patch: { max_workers: workers, rollouts: 60 },
    models: { "test/agent": holding(workers) },
    options: { onEvent },
  });
  expect(records).toHaveLength(workers);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(workers / 4);
});

test("a run that is stopped while its workers start starts no more of them", async () => {
  const park = new AbortController();
  let started = 0;
  const onEvent = (event: RunEvent) => {
    if (event.type === "rollout-start" && ++started === 100) park.abort();
  };
  await run({
    config: { datasets: ["StudentAcademicPortal"], agent_model: "test/agent", user_model: "test/agent", max_turns: 1 },
    patch: { max_workers: 1000, rollouts: 60 },
    models: { "test/agent": holding(1) },
    options: { onEvent, park: park.signal },
  });
  expect(started).toBeLessThan(1000);
});
