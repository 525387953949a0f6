import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { completion, createManualClock, requestOf, serveModel } from "../../test/support/model-server.ts";
import { call, type RunScene, readRecords, run, STOP, scripted, temporaryFolder } from "../../test/support/play.ts";
import { type ModelClient, RolloutError, type RunEvent, type RunStart } from "../core/index.ts";
import { createModels } from "../models/connect.ts";
import type { FailureRecord } from "../runs/index.ts";

const CONFIG: RunScene["config"] = {
  datasets: ["StudentAcademicPortal"],
  agent_model: "test/agent",
  user_model: "test/user",
};

const WHO = call("authorize_student", { student_id: "S1007", date_of_birth: "2004-04-09" });
const agent = () => scripted(WHO, call("list_enrollments"), "You have five courses.", "Goodbye.");
const user = () => scripted("Thanks.", `Bye. ${STOP}`);

/** Stops a run after this many entries, as Ctrl-C would. */
function stopAfter(entries: number) {
  const park = new AbortController();
  let seen = 0;
  const onEvent = (event: RunEvent) => {
    if (event.type === "entry-end" && ++seen === entries) park.abort();
  };
  return { park: park.signal, onEvent };
}

const found = (events: RunEvent[]) => (events.find((event) => event.type === "run-start") as RunStart).datasets[0];
const canonical = (records: object[]) =>
  JSON.stringify(records, (key, value) => (key === "timings" ? undefined : value));

/** Fails for infrastructure reasons the first `times` times it is asked. */
function failing(times: number, then: ModelClient): ModelClient {
  let left = times;
  return {
    id: then.id,
    complete: (request, signal) =>
      left-- > 0 ? Promise.reject(new RolloutError("infrastructure", "HTTP 503")) : then.complete(request, signal),
  };
}

test("what is recorded is not asked for again, wherever the run was stopped", async () => {
  const whole = await run({
    config: CONFIG,
    models: { "test/agent": agent(), "test/user": user() },
    patch: { limit: 1 },
  });
  for (const entries of [1, 2, 3, 4, 5, 6, 7]) {
    const folder = temporaryFolder();
    const scene = { config: CONFIG, patch: { limit: 1 }, folder };
    await run({ ...scene, models: { "test/agent": agent(), "test/user": user() }, options: stopAfter(entries) });
    const [secondAgent, secondUser] = [agent(), user()];
    const second = await run({ ...scene, models: { "test/agent": secondAgent, "test/user": secondUser } });
    expect(canonical(second.records)).toBe(canonical(whole.records));
    expect(found(second.events)).toMatchObject({ continuing: 1, kept: 0 });
    expect(secondAgent.requests.length + secondUser.requests.length).toBe(
      whole.events.filter((event) => event.type === "entry-end" && event.entry.type === "reply").length -
        readRecords<RunEvent>(join(folder, "journal.jsonl"))
          .filter((event) => event.type === "entry-end")
          .slice(0, entries)
          .filter((event) => event.entry.type === "reply").length,
    );
  }
});

test("a record that tools do not repeat starts over, and says so", async () => {
  const folder = temporaryFolder();
  const scene = { config: CONFIG, patch: { limit: 1 }, folder };
  await run({ ...scene, models: { "test/agent": agent(), "test/user": user() }, options: stopAfter(4) });
  const journal = join(folder, "journal.jsonl");
  writeFileSync(journal, readFileSync(journal, "utf8").replaceAll("Greta", "Grete"));
  const again = agent();
  const { events, records } = await run({ ...scene, models: { "test/agent": again, "test/user": user() } });
  expect(events).toContainEqual(
    expect.objectContaining({ type: "run-note", message: expect.stringContaining("could not be replayed") }),
  );
  expect(again.requests).toHaveLength(4);
  expect(records).toHaveLength(1);
});

test("a failed rollout is tried three times in all, from where it stood; its failures stay as history", async () => {
  const folder = temporaryFolder();
  const scene = { config: CONFIG, patch: { limit: 1 }, folder };
  const users = user();
  for (const attempt of [1, 2]) {
    const models = { "test/agent": failing(1, agent()), "test/user": users };
    const { result, events } = await run({ ...scene, models });
    expect(result).toMatchObject({ finished: 0, failed: 1, left: 0 });
    expect(found(events)).toMatchObject({ retrying: attempt - 1 });
  }
  const third = await run({ ...scene, models: { "test/agent": agent(), "test/user": users } });
  expect(third.result).toMatchObject({ finished: 1, failed: 0 });
  expect(third.records[0]?.metadata.attempt).toBe(3);
  const failures = readRecords<FailureRecord>(join(folder, "failures.jsonl"));
  expect(failures.map(({ attempt }) => attempt)).toEqual([1, 2]);
});

test("after three attempts a rollout is left alone, and still counts as failed", async () => {
  const folder = temporaryFolder();
  const scene = { config: CONFIG, patch: { limit: 1 }, folder };
  for (let n = 0; n < 3; n++) {
    await run({ ...scene, models: { "test/agent": failing(1, agent()), "test/user": user() } });
  }
  const untouched = agent();
  const { result, events } = await run({ ...scene, models: { "test/agent": untouched, "test/user": user() } });
  expect(untouched.requests).toEqual([]);
  expect(result).toMatchObject({ finished: 0, failed: 1, left: 0 });
  expect(found(events)).toMatchObject({ givenUp: 1, retrying: 0 });
});

test("a failure whose end did not reach the journal is not recorded twice", async () => {
  const folder = temporaryFolder();
  const scene = { config: CONFIG, patch: { limit: 1 }, folder };
  await run({ ...scene, models: { "test/agent": failing(1, agent()), "test/user": user() } });
  const journal = join(folder, "journal.jsonl");
  const lines = readFileSync(journal, "utf8").split("\n");
  writeFileSync(journal, lines.filter((line) => !/^\{"type":"(rollout|run)-end"/.test(line)).join("\n"));
  await run({ ...scene, models: { "test/agent": failing(1, agent()), "test/user": user() } });
  const failures = readRecords<FailureRecord>(join(folder, "failures.jsonl"));
  expect(failures.map(({ attempt }) => attempt)).toEqual([1, 2]);
});

test("a rollout that could not finish once the run was stopped has not failed", async () => {
  const park = new AbortController();
  const stopped: ModelClient = {
    id: "test/agent",
    complete: async () => {
      park.abort();
      throw new RolloutError("infrastructure", "The run was stopped before this call was made");
    },
  };
  const { result, run: spec } = await run({
    config: CONFIG,
    patch: { limit: 1 },
    models: { "test/agent": stopped, "test/user": user() },
    options: { park: park.signal },
  });
  expect(result).toMatchObject({ finished: 0, failed: 0, left: 1, stoppedBy: "interrupt" });
  expect(readRecords(join(spec.folder, "failures.jsonl"))).toEqual([]);
});

test("drift is told in old and new values, also when earlier drift was allowed", async () => {
  const folder = temporaryFolder();
  const models = { "test/agent": agent(), "test/user": user() };
  const made = (max_turns: number, patch: RunScene["patch"] = {}) =>
    run({ config: { ...CONFIG, max_turns }, models, folder, patch: { limit: 1, ...patch } });
  await made(20);
  await expect(made(9)).rejects.toThrow("StudentAcademicPortal: max_turns: 20 → 9");
  await made(9, { allow_drift: true, limit: 2 });
  await expect(made(9, { limit: 2 })).rejects.toThrow("StudentAcademicPortal: max_turns: 20 → 9");
  await expect(made(7, { limit: 2 })).rejects.toThrow(/max_turns: 9 → 7[\s\S]*max_turns: 20 → 7/);
});

test("a run's budget counts what was paid for rollouts that are not finished", async () => {
  const folder = temporaryFolder();
  const usage = { inputTokens: 60, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 };
  const paid = () => scripted({ ...WHO, usage }, { content: "You have five courses.", usage });
  const scene = { config: CONFIG, folder, patch: { limit: 1, max_tokens_total: 50 } };
  const first = await run({ ...scene, models: { "test/agent": paid(), "test/user": user() } });
  expect(first.result).toMatchObject({ stoppedBy: "budget", left: 1 });
  const untouched = paid();
  const second = await run({ ...scene, models: { "test/agent": untouched, "test/user": user() } });
  expect(second.result).toMatchObject({ stoppedBy: "budget", left: 1 });
  expect(untouched.requests).toEqual([]);
});

test("without checkpoints what is finished is kept, and what was cut off starts over", async () => {
  const folder = temporaryFolder();
  const config = { ...CONFIG, use_checkpoints: false, max_workers: 1 };
  const scene = { config, folder, patch: { limit: 2 } };
  await run({ ...scene, models: { "test/agent": agent(), "test/user": user() }, options: stopAfter(9) });
  expect(readFileSync(join(folder, "journal.jsonl"), "utf8")).not.toContain("entry-end");
  const again = agent();
  const { events, records } = await run({ ...scene, models: { "test/agent": again, "test/user": user() } });
  expect(found(events)).toMatchObject({ kept: 1, continuing: 0 });
  expect(again.requests).toHaveLength(4);
  expect(records).toHaveLength(2);
});

test("several runs may keep their journals in one checkpoint_dir", async () => {
  const [journals, first, second] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  const config = { ...CONFIG, checkpoint_dir: journals };
  const stop = (folder: string) =>
    run({
      ...{ config, folder, patch: { limit: 1 }, options: stopAfter(3) },
      models: { "test/agent": agent(), "test/user": user() },
    });
  await Promise.all([stop(first), stop(second)]);
  for (const folder of [first, second]) {
    const again = agent();
    const models = { "test/agent": again, "test/user": user() };
    const { events, records } = await run({ config, folder, patch: { limit: 1 }, models });
    expect(found(events)).toMatchObject({ continuing: 1 });
    expect(again.requests).toHaveLength(2);
    expect(records).toHaveLength(1);
  }
});

test("the records are the same in every sync mode", async () => {
  const made = [];
  for (const sync of ["batch", "always", "never"] as const) {
    const models = { "test/agent": agent(), "test/user": user() };
    made.push(canonical((await run({ config: { ...CONFIG, sync }, models, patch: { limit: 2 } })).records));
  }
  expect(new Set(made).size).toBe(1);
});

test("a journal of a newer version is refused politely, and left as it is", async () => {
  const folder = temporaryFolder();
  const models = { "test/agent": agent(), "test/user": user() };
  await run({ config: CONFIG, models, folder, patch: { limit: 1 } });
  const journal = join(folder, "journal.jsonl");
  writeFileSync(journal, readFileSync(journal, "utf8").replace('"version":2', '"version":3'));
  const before = readFileSync(journal, "utf8");
  const again = run({ config: CONFIG, models, folder, patch: { limit: 2 } });
  await expect(again).rejects.toThrow("was written by a newer version of rollout (format 3, this one knows 2)");
  expect(readFileSync(journal, "utf8")).toBe(before);
});

test("once a run is stopped, calls under way finish and those that wait are not made", async () => {
  let answer = () => {};
  const server = await serveModel((response) => {
    answer = () => response.end(JSON.stringify(completion({ content: "Hello" })));
  });
  const models = createModels({
    env: {},
    registry: { one: { model: "x", api_base: server.baseUrl, limits: { max_in_flight: 1 } } },
    clock: createManualClock(),
    random: { next: () => 0 },
  });
  const client = models.client("one", {});
  const signal = new AbortController().signal;
  const underWay = client.complete(requestOf(), signal);
  const waiting = client.complete(requestOf({}, 1), signal);
  waiting.catch(() => {});
  while (server.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(models.load().endpoints).toMatchObject([{ inFlight: 1, waiting: 1 }]);
  models.park();
  await expect(waiting).rejects.toThrow("The run was stopped before this call was made");
  answer();
  expect((await underWay).content).toBe("Hello");
  await expect(client.complete(requestOf(), signal)).rejects.toThrow("stopped");
  expect(server.received).toHaveLength(1);
  await models.close();
  await server.close();
});
