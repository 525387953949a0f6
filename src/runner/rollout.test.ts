import { expect, test } from "vitest";
import { call, readRecords, STOP, scripted } from "../../test/support/play.ts";
import { openContext, openFolder, type PreparedScene, prepare } from "../../test/support/prepared.ts";
import { type ModelClient, type ModelRequest, RolloutError, type RunEvent, UsageError } from "../core/index.ts";
import { type PlannedRollout, planRun } from "./plan.ts";
import { Rollout } from "./rollout.ts";

const CONFIG = { agent_model: "test/agent", user_model: "test/user", limit: 1 };
const REQUEST = { origin: { position: 0 } } as ModelRequest;
const NEVER = new AbortController().signal;
const WHO = call("authorize_student", { student_id: "S1007", date_of_birth: "2004-04-09" });

function models(agent: ModelClient = scripted(WHO, "Hello, S1007.", "Goodbye."), user = scripted("Thanks.", STOP)) {
  return { "test/agent": agent, "test/user": user };
}

async function play(scene: PreparedScene, more: { park?: AbortSignal; abort?: AbortSignal } = {}) {
  const { run, dataset } = await prepare({ config: CONFIG, ...scene });
  const folder = openFolder(run);
  const [planned] = planRun(run, [dataset], folder).rollouts;
  if (!planned) throw new Error("nothing is planned");
  const { context, events } = openContext(run, folder, more.park);
  const rollout = new Rollout(context, planned, more.abort ?? new AbortController().signal);
  const outcome = await (await rollout.play()).written;
  return { outcome, events, run };
}

const types = (events: RunEvent[]) => events.map(({ type }) => type);

test("a rollout is a start, its entries in order, and an end; watchers hear of each when the journal has it", async () => {
  const { outcome, events, run } = await play({ models: models() });
  expect(outcome).toMatchObject({ success: true, stopReason: "user_stop" });
  expect(types(events)[0]).toBe("rollout-start");
  expect(types(events).at(-1)).toBe("rollout-end");
  const journal = readRecords<RunEvent>(`${run.folder}/journal.jsonl`);
  expect(types(journal)).toEqual(types(events));
  const indexes = events.flatMap((event) => (event.type === "entry-end" ? [event.index] : []));
  expect(indexes).toEqual(indexes.map((_, index) => index));
  expect(events.every((event) => "queryId" in event && event.queryId === "sap-001")).toBe(true);
  const [record] = readRecords<{ id: string }>(`${run.folder}/trajectories/StudentAcademicPortal.jsonl`);
  expect(record?.id).toBe("sap-001");
});

test("a reply is in the journal before any of its tools is called, and a result before a model is asked again", async () => {
  const { run, dataset } = await prepare({ config: CONFIG, models: models() });
  const folder = openFolder(run);
  const last = () => readRecords<RunEvent>(`${run.folder}/journal.jsonl`).at(-1);
  const before: unknown[] = [];
  const look = <T>(work: T): T => {
    const event = last();
    before.push(event?.type === "entry-end" ? event.entry.type : event?.type);
    return work;
  };
  const openEnvironment: typeof dataset.openEnvironment = async (world) => {
    const environment = await dataset.openEnvironment(world);
    const { call: answer } = environment;
    return Object.assign(environment, {
      call: (...given: Parameters<typeof answer>) => look(answer).apply(environment, given),
    });
  };
  const agent = {
    ...dataset.agent,
    open: (...given: Parameters<typeof dataset.agent.open>) => {
      const client = dataset.agent.open(...given);
      return {
        id: client.id,
        complete: (...asked: Parameters<typeof client.complete>) => look(client.complete(...asked)),
      };
    },
  };
  const [planned] = planRun(run, [{ ...dataset, agent, openEnvironment }], folder).rollouts;
  const { context } = openContext(run, folder);
  await (await new Rollout(context, planned as PlannedRollout, NEVER).play()).written;
  expect(before).toEqual(["rollout-start", "reply", "tool-result", "reply"]);
});

test("a failure of the infrastructure ends the rollout with its class, and leaves no record", async () => {
  const broken: ModelClient = {
    id: "test/agent",
    complete: () => Promise.reject(new RolloutError("infrastructure", "no answer", { kind: "network" })),
  };
  const { outcome, run } = await play({ models: models(broken) });
  expect(outcome).toMatchObject({ success: false, stopReason: "infrastructure", kind: "network" });
  expect(readRecords(`${run.folder}/failures.jsonl`)).toMatchObject([
    { id: "sap-001", attempt: 1, kind: "network", error: "no answer", entries: 0 },
  ]);
  expect(readRecords(`${run.folder}/trajectories/StudentAcademicPortal.jsonl`)).toEqual([]);
});

test("once the run is parked no further entry is begun, and the rollout has neither ended nor failed", async () => {
  const park = new AbortController();
  const agent = scripted(WHO, "Hello.");
  const parking: ModelClient = {
    id: agent.id,
    complete: (request, signal) => {
      park.abort();
      return agent.complete(request, signal);
    },
  };
  const { outcome, events } = await play({ models: models(parking) }, { park: park.signal });
  expect(outcome).toBeUndefined();
  expect(types(events)).toEqual(["rollout-start", "entry-end"]);
});

test("tools that are still starting are not waited for once the run is parked, and are closed when they come up", async () => {
  const park = new AbortController();
  const { run, dataset } = await prepare({ config: CONFIG, models: models() });
  let comeUp = () => {};
  let closed = 0;
  const openEnvironment: typeof dataset.openEnvironment = async (world) => {
    const environment = await dataset.openEnvironment(world);
    await new Promise<void>((resolve) => {
      comeUp = resolve;
      park.abort();
    });
    return Object.assign(environment, { close: async () => void closed++ });
  };
  const folder = openFolder(run);
  const [planned] = planRun(run, [{ ...dataset, openEnvironment }], folder).rollouts;
  const { context, events } = openContext(run, folder, park.signal);
  const rollout = new Rollout(context, planned as PlannedRollout, NEVER);
  expect(await (await rollout.play()).written).toBeUndefined();
  expect(types(events)).toEqual(["rollout-start"]);
  comeUp();
  await new Promise(setImmediate);
  expect(closed).toBe(1);
});

test("an exception that is none of ours ends its rollout, with its stack on disk and one line for people", async () => {
  const bug: ModelClient = { id: "test/agent", complete: () => Promise.reject(new TypeError("a bug")) };
  const { outcome, events, run } = await play({ models: models(bug) });
  expect(outcome).toMatchObject({ stopReason: "infrastructure", kind: "exception", message: "TypeError: a bug" });
  const [failure] = readRecords<{ stack: string }>(`${run.folder}/failures.jsonl`);
  expect(failure).toMatchObject({ id: "sap-001", kind: "exception", error: "TypeError: a bug" });
  expect(failure?.stack).toContain("rollout.test.ts");
  const notes = events.flatMap((event) => (event.type === "run-note" ? [event.message] : []));
  expect(notes).toEqual(["sap-001 of StudentAcademicPortal failed: TypeError: a bug"]);
});

test("a record that cannot be written as JSON ends its rollout too, and something thrown without a text has one", async () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const odd: ModelClient = {
    id: "test/agent",
    complete: async () => ({ ...(await scripted("Hello.").complete(REQUEST, NEVER)), opaque: cycle as never }),
  };
  expect((await play({ models: models(odd) })).outcome).toMatchObject({ kind: "exception" });
  const poisoned = Object.create(null);
  const thrower: ModelClient = { id: "test/agent", complete: () => Promise.reject(poisoned) };
  expect((await play({ models: models(thrower) })).outcome?.message).toContain("no text");
});

test("what concerns the whole run is not one rollout's failure", async () => {
  const setup: ModelClient = { id: "test/agent", complete: () => Promise.reject(new UsageError("no key")) };
  await expect(play({ models: models(setup) })).rejects.toThrow("no key");
});
