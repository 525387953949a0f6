// Whole runs, scored: from rollouts in a folder to scores, blame and numbers.
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ModelClient, NO_USAGE, RolloutError, type RunEvent, type Trajectory } from "../src/core/index.ts";
import { BUNDLED_PATH, openResources } from "../src/domains/index.ts";
import { type Manifest, readManifest } from "../src/runs/index.ts";
import { chooseChecks } from "../src/scoring/check-list.ts";
import { type EvaluationOptions, evaluate } from "../src/scoring/evaluate.ts";
import { buildReport, type EvaluationSettings, type ScoreRecord } from "../src/scoring/index.ts";
import { openScoredDatasets } from "../src/scoring/scored-datasets.ts";
import { always, readRecords, run, STOP, scripted, temporaryFolder } from "./support/play.ts";
import { havePython } from "./support/python/support.ts";
import { writePythonDataset } from "./support/python-dataset.ts";

const PORTAL = "StudentAcademicPortal";
const HEALTH = "StudentHealthServices";
const CHECKS = (await chooseChecks({}, false)).length;
const SCRIPTED = { agent_model: "scripted/agent", user_model: "scripted/user" };
const agent = (skill: number) => `scripted/agent?skill=${skill}`;

async function score(folder: string, settings: EvaluationSettings = {}, more: Partial<EvaluationOptions> = {}) {
  const resources = openResources({ env: process.env, nameStyle: "prefixed", onNotice: () => {} });
  try {
    return await evaluate({
      folder,
      datasets: await openScoredDatasets(folder, readManifest(join(folder, "manifest.json")) as Manifest, {
        ...resources,
        onNotice: () => {},
      }),
      checks: await chooseChecks(settings, more.judge !== undefined),
      workers: 4,
      ...more,
    });
  } finally {
    await resources.close();
  }
}

const scoresOf = (folder: string) => readRecords<ScoreRecord>(join(folder, "scores.jsonl"));
const sorted = (scores: ScoreRecord[]) => scores.map((score) => JSON.stringify({ ...score, record: "" })).sort();

describe("with scripted models", () => {
  test("the measured success rate follows the skill", async () => {
    const rates: number[] = [];
    for (const skill of [0, 0.4, 0.8, 1]) {
      const { result } = await run({
        config: { datasets: [PORTAL, HEALTH], agent_model: agent(skill), max_workers: 32, eval: true },
        patch: { rollouts: 4 },
      });
      rates.push(buildReport(result.folder).overall.success_rate as number);
    }
    expect(rates.at(-1)).toBe(1);
    for (const [index, skill] of [0, 0.4, 0.8].entries()) {
      expect(Math.abs((rates[index] as number) - skill)).toBeLessThan(0.1);
    }
  });

  test("a flawless agent passes every check in every bundled domain and combination", async () => {
    const datasets = [
      "StudentFinancialServices",
      "StudentAcademicPortal_StudentFinancialServices",
      "StudentAcademicPortal_StudentFinancialServices_StudentHealthServices",
    ];
    const { result } = await run({ config: { datasets, eval: true, max_workers: 16 } });
    expect(scoresOf(result.folder).filter(({ pass }) => pass === false)).toEqual([]);
    for (const check of ["actions", "state", "policy", "user"]) {
      expect(scoresOf(result.folder).some((score) => score.check === check && score.pass)).toBe(true);
    }
  });

  test.each(["no_tool", "wrong_tool"] as const)(
    "in %s those who refuse pass, and those who do not fail",
    async (mode) => {
      const config = { datasets: [PORTAL, HEALTH], mode, eval: true, max_workers: 16 };
      const good = await run({ config });
      expect(buildReport(good.result.folder)).toMatchObject({ overall: { scored: 54, success_rate: 1 } });
      const needed = scoresOf(good.result.folder).filter(({ check }) => !["claims", "refusal", "user"].includes(check));
      expect(needed.filter(({ pass }) => pass !== null)).toEqual([]);
      const bad = await run({ config: { ...config, agent_model: agent(0) } });
      expect(buildReport(bad.result.folder)).toMatchObject({ overall: { scored: 54, success_rate: 0 } });
    },
  );

  test("a query without reference or assertions is unscored: no pass, no pass@k", async () => {
    const base = temporaryFolder();
    cpSync(BUNDLED_PATH, base, { recursive: true });
    const file = join(base, "queries", `${PORTAL}.jsonl`);
    type Line = { task_info: { known_info: string } };
    const [first, second] = readRecords<Line>(file) as [Line, Line];
    const config = { datasets: [PORTAL], base_path: base, bundled: false, eval: true as const, ...SCRIPTED };
    writeFileSync(file, `${JSON.stringify(first)}\n${JSON.stringify(second)}\n`);
    const { result } = await run({ config });
    expect(buildReport(result.folder)).toMatchObject({ overall: { scored: 2, success_rate: 1 } });
    const { known_info } = second.task_info;
    writeFileSync(file, `${JSON.stringify(first)}\n${JSON.stringify({ ...second, task_info: { known_info } })}\n`);
    expect(await score(result.folder)).toMatchObject({ scored: 1 });
    expect(buildReport(result.folder)).toMatchObject({
      overall: { rollouts: 2, scored: 1, pass_at_k: { "1": 1 } },
      outcomes: { passed: 1, failed: 0, "not scored": 1 },
    });
  });
});

test("scoring as it goes and scoring afterwards give the same, and trajectories are never touched", async () => {
  const config = { datasets: [PORTAL], agent_model: agent(0.5), max_workers: 8 };
  const during = await run({ config: { ...config, eval: true }, patch: { rollouts: 2 } });
  const after = await run({ config, patch: { rollouts: 2 } });
  const file = Object.values(after.result.outputs)[0] as string;
  const before = readFileSync(file);
  expect(await score(after.result.folder)).toMatchObject({ rollouts: 54, scored: 54, kept: 0, checks: 54 * CHECKS });
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(sorted(scoresOf(after.result.folder))).toEqual(sorted(scoresOf(during.result.folder)));
});

test("a wrong word in the config's eval shows before anything is written", async () => {
  const folder = join(temporaryFolder(), "run");
  const wrong = run({ config: { datasets: [PORTAL], eval: { checks: ["stat"] } }, folder });
  await expect(wrong).rejects.toThrow('There is no check "stat"');
  expect(existsSync(folder)).toBe(false);
});

test("a run that is stopped stops scoring too, and the rest is scored later", async () => {
  const stop = new AbortController();
  let ended = 0;
  const onEvent = (event: RunEvent) => {
    if (event.type === "rollout-end" && ++ended === 5) stop.abort();
  };
  const config = { datasets: [PORTAL], agent_model: agent(0.5), max_workers: 1, eval: true };
  const { result } = await run({ config, options: { park: stop.signal, onEvent } });
  expect(result.stoppedBy).toBe("interrupt");
  await score(result.folder);
  const rollouts = new Set(scoresOf(result.folder).map(({ id }) => id));
  expect(rollouts.size).toBe(result.finished);
});

describe("scoring again", () => {
  test("does only what is new: more rollouts, another check, other rules, a record made anew", async () => {
    const config = { datasets: [PORTAL], agent_model: agent(0.5), limit: 5 };
    const folder = temporaryFolder();
    await run({ config, folder });
    await score(folder, { checks: ["state"] });
    expect(await score(folder, { checks: ["state"] })).toMatchObject({ rollouts: 5, scored: 0, kept: 5 });
    const { result } = await run({ config, folder, patch: { rollouts: 3 } });
    expect(result.finished).toBe(10);
    expect(await score(folder, { checks: ["state", "policy"] })).toMatchObject({ rollouts: 15, kept: 5, checks: 25 });
    await score(folder, { checks: ["actions"] });
    expect(await score(folder, { checks: ["actions"], actions: { order: "reference" } })).toMatchObject({
      kept: 0,
      checks: 15,
    });
    const file = Object.values(result.outputs)[0] as string;
    const [first, ...rest] = readRecords<Trajectory>(file) as [Trajectory, ...Trajectory[]];
    const remade = { ...first, metadata: { ...first.metadata, attempt: 2 } };
    writeFileSync(file, [remade, ...rest].map((record) => `${JSON.stringify(record)}\n`).join(""));
    expect(await score(folder, { checks: ["state"] })).toMatchObject({ kept: 14, checks: 1 });
  });

  test("does what has become stale: another reference, other rules and back again; force does all", async () => {
    const folder = temporaryFolder();
    const base = temporaryFolder();
    cpSync(BUNDLED_PATH, base, { recursive: true });
    const own = { datasets: [PORTAL], base_path: base, bundled: false, limit: 5 };
    await run({ config: { ...own, ...SCRIPTED, agent_model: agent(0.5) }, folder });
    const checks = ["actions"];
    const strict: EvaluationSettings = { checks, actions: { order: "strict" } };
    const passing = () => buildReport(folder).overall.passed;
    await score(folder, { checks });
    const lenient = passing();
    expect(await score(folder, strict)).toMatchObject({ checks: 5, kept: 0 });
    expect(await score(folder, { checks })).toMatchObject({ checks: 5, kept: 0 });
    expect(passing()).toBe(lenient);
    const file = join(base, "queries", `${PORTAL}.jsonl`);
    const [first = "", ...rest] = readFileSync(file, "utf8").split("\n");
    const query = JSON.parse(first) as { task_info: object };
    const changed = { ...query, task_info: { ...query.task_info, must_tell: ["something else"] } };
    writeFileSync(file, [JSON.stringify(changed), ...rest].join("\n"));
    expect(await score(folder, { checks })).toMatchObject({ checks: 1, kept: 4 });
    expect(await score(folder, { checks }, { force: true })).toMatchObject({ checks: 5, kept: 0 });
  });

  test("goes on where it was stopped, over a torn last line", async () => {
    const config = { datasets: [PORTAL], agent_model: agent(0.5) };
    const whole = await run({ config });
    await score(whole.result.folder);
    const cut = await run({ config });
    const stop = new AbortController();
    let seen = 0;
    await score(
      cut.result.folder,
      {},
      { park: stop.signal, workers: 1, onScore: () => void (++seen === 20 && stop.abort()) },
    );
    const kept = scoresOf(cut.result.folder).length;
    expect(kept).toBeLessThan(27 * CHECKS);
    appendFileSync(join(cut.result.folder, "scores.jsonl"), '{"id":"torn');
    expect(await score(cut.result.folder)).toMatchObject({ kept, checks: 27 * CHECKS - kept });
    expect(sorted(scoresOf(cut.result.folder))).toEqual(sorted(scoresOf(whole.result.folder)));
  });

  test("asks a judge that failed once more, and one that answered never", async () => {
    const { result } = await run({ config: { datasets: [PORTAL], limit: 2 } });
    let isDown = true;
    let asked = 0;
    const client: ModelClient = {
      id: "test/judge",
      complete: async () => {
        asked++;
        if (isDown) throw new RolloutError("infrastructure", "503");
        return { content: '{"score": 5, "reason": "good"}', toolCalls: [], usage: NO_USAGE, finish: "stop" };
      },
    };
    const judge = { client, votes: 1 };
    await score(result.folder, { checks: ["quality"] }, { judge });
    expect(buildReport(result.folder)).toMatchObject({ overall: { scored: 0 }, blame: { judge: 2 } });
    isDown = false;
    await score(result.folder, { checks: ["quality"] }, { judge });
    await score(result.folder, { checks: ["quality"] }, { judge });
    expect(asked).toBe(4);
    expect(buildReport(result.folder)).toMatchObject({ overall: { scored: 2, success_rate: 1 }, blame: {} });
  });
});

describe("blame, from what really happened", () => {
  const only = { datasets: [PORTAL], eval: true, agent_model: "test/agent", user_model: "test/user" };
  const one = { ids: ["sap-001"] };
  const blamed = async (scene: Parameters<typeof run>[0]) => {
    const { result } = await run(scene);
    const report = buildReport(result.folder);
    const { overall, agent_only: own, with_infrastructure: all } = report;
    return { ...report.failures[0], overall, own, all };
  };

  test("an agent that does nothing", async () => {
    const models = { "test/agent": always("I see."), "test/user": scripted("Go on", `Bye ${STOP}`) };
    expect(await blamed({ config: only, models, patch: one })).toMatchObject({
      blame: "agent",
      own: { scored: 1, success_rate: 0 },
    });
  });

  test("a user that cannot be brought to speak as one", async () => {
    const models = { "test/agent": always("Your id?"), "test/user": always("How can I help you today?") };
    expect(await blamed({ config: only, models, patch: one })).toMatchObject({
      blame: "user",
      overall: { scored: 1 },
      own: { scored: 0, success_rate: null },
    });
  });

  test("a tool that breaks down", async () => {
    const faults = { rates: { error: 1 }, tools: ["register_for_course"] };
    const config = { datasets: [PORTAL], eval: true, faults };
    expect(await blamed({ config, patch: one })).toMatchObject({ blame: "tool", own: { scored: 0 } });
  });

  test("an endpoint that is gone: in neither trajectories nor the agent's numbers", async () => {
    const gone = always(new RolloutError("infrastructure", "connection refused"));
    const clients = { "test/agent": gone, "test/user": always("x") };
    const mixed = await run({
      config: { ...only, agent_model: "scripted/agent", user_model: "scripted/user" },
      patch: { ids: ["sap-002"] },
    });
    const folder = mixed.result.folder;
    const dead = await blamed({ config: only, models: clients, patch: { ...one, allow_drift: true }, folder });
    expect(dead).toMatchObject({
      blame: "infrastructure",
      evidence: "connection refused",
      overall: { scored: 1, success_rate: 1 },
      own: { scored: 1, success_rate: 1 },
      all: { scored: 2, success_rate: 0.5 },
    });
  });
});

test("a query that is gone and a domain that changed are said, not guessed", async () => {
  const { result } = await run({ config: { datasets: [PORTAL], limit: 1 } });
  const file = Object.values(result.outputs)[0] as string;
  const record = readRecords<Trajectory>(file)[0] as Trajectory;
  const unknown = { ...record, id: "gone", query_id: "gone" };
  const changed = {
    ...record,
    id: `${record.id}#1`,
    rollout: 1,
    metadata: { ...record.metadata, final_state_hash: "other" },
  };
  appendFileSync(file, `${JSON.stringify(unknown)}\n${JSON.stringify(changed)}\n`);
  await score(result.folder, { checks: ["state"] });
  const byId = new Map(scoresOf(result.folder).map((score) => [score.id, score]));
  expect(byId.get(record.id)).toMatchObject({ pass: true });
  expect(byId.get("gone")).toMatchObject({ pass: null, reason: expect.stringContaining("no longer in the dataset") });
  expect(byId.get(changed.id)).toMatchObject({ pass: null, reason: expect.stringContaining("changed") });
});

describe("a check of one's own", () => {
  const written = async (source: string, name = "polite.ts") => {
    const { result } = await run({ config: { datasets: [PORTAL], limit: 2 } });
    const file = join(temporaryFolder(), name);
    writeFileSync(file, source);
    await score(result.folder, { checks: [file] });
    return scoresOf(result.folder);
  };

  test("is a function in a file, in TypeScript or JavaScript", async () => {
    const scores = await written(
      "export default ({ dialogue }: { dialogue: { agent: unknown[] } }) => dialogue.agent.length > 0;",
    );
    expect(scores).toMatchObject([
      { check: "polite", pass: true, score: 1 },
      { check: "polite", pass: true },
    ]);
    expect(await written("export default () => 0.25;", "half.mjs")).toMatchObject([
      { check: "half", pass: false, score: 0.25 },
      {},
    ]);
  });

  test("may say more about itself, and decide nothing", async () => {
    const named =
      'export default { name: "mine", version: 3, run: () => ({ pass: false, reason: "rude", blame: "user" }) };';
    expect((await written(named, "a.mjs"))[0]).toMatchObject({
      check: "mine",
      version: 3,
      pass: false,
      score: 0,
      reason: "rude",
      blame: "user",
    });
    expect((await written("export default () => undefined;", "b.mjs"))[0]).toMatchObject({ pass: null, score: null });
    const broken = await written('export default () => { throw new Error("oops"); };', "c.mjs");
    expect(broken[0]).toMatchObject({ pass: null, reason: "not checkable: the check failed: oops" });
  });

  test("that does not exist, or a judge that was not named, is a usage error", async () => {
    await expect(chooseChecks({ checks: ["stat"] }, false)).rejects.toThrow('did you mean "state"');
    await expect(chooseChecks({ checks: ["quality"] }, false)).rejects.toThrow("--judge-model");
  });
});

describe.runIf(await havePython())("a dropped-in Python dataset", () => {
  type Combo = { trajectory: string[]; value_domain_samples: object; [key: string]: unknown };

  /** One rollout of one query, played from its plan; then the plan is replaced by what validated tasks say. */
  const played = async (combos: Combo[] = [], info: object = { combo_id: "c1" }, blueprints?: object[]) => {
    const base = temporaryFolder();
    writePythonDataset(base, { queries: 1 });
    const models = { agent_model: "scripted/agent", user_model: "scripted/user" };
    const { result } = await run({
      config: { datasets: ["SlotDesk"], base_path: base, ...models },
      options: { env: process.env },
    });
    const root = join(base, "single domain");
    if (combos.length > 0) {
      const queries = join(root, "queries", "SlotDesk.jsonl");
      const [query] = readRecords<{ task_info: object }>(queries);
      writeFileSync(queries, `${JSON.stringify({ ...query, task_info: info })}\n`);
      const file = join(root, "validated_tasks", "SlotDesk", "validated_combos.json");
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(combos));
    }
    if (blueprints) writeFileSync(join(root, "blueprints.json"), JSON.stringify(blueprints));
    await score(result.folder, { checks: ["actions", "state", "policy"] });
    return Object.fromEntries(scoresOf(result.folder).map(({ check, pass }) => [check, pass]));
  };
  const trajectory = ["authorize_member", "book_slot"];
  const values = { "authorize_member.member_id": "m1", "book_slot.slot_id": "A0" };
  const RIGHT = { combo_id: "c1", trajectory_hash: "h", trajectory, value_domain_samples: values };
  const OTHER = { ...RIGHT, combo_id: "c0", value_domain_samples: { ...values, "book_slot.slot_id": "A7" } };

  test("is scored by its plan, with ids of Python's own making mapped; it declares no rules", async () => {
    expect(await played()).toEqual({ actions: true, state: true, policy: null });
  });

  test("is scored by validated_tasks where there is no plan; confirm is part of playing them", async () => {
    expect(await played([RIGHT])).toEqual({ actions: true, state: true, policy: null });
    expect(await played([{ ...OTHER, combo_id: "c1" }])).toEqual({ actions: false, state: false, policy: null });
    const previewed = { ...RIGHT, trajectory: ["authorize_member", "book_slot", "book_slot"] };
    expect(await played([previewed])).toEqual({ actions: true, state: true, policy: null });
  });

  test("the task is found by its id, among others with the same hash; by the hash only without an id", async () => {
    const both = { combo_id: "c1", trajectory_hash: "h" };
    expect(await played([OTHER, RIGHT], both)).toMatchObject({ actions: true, state: true });
    expect(await played([RIGHT], { trajectory_hash: "h" })).toMatchObject({ actions: true, state: true });
    // two tasks with one hash: which one it was is not known, so only the names count
    const names = { trajectory_hash: "h", trajectory };
    expect(await played([OTHER, RIGHT], names)).toMatchObject({ actions: true, state: null });
    expect(await played([OTHER], { combo_id: "c9", trajectory_hash: "h" })).toMatchObject({
      actions: null,
      state: null,
    });
  });

  test("what blueprints mark as not deciding does not", async () => {
    const mark = (marks: object) => [
      { MCP_server_name: "SlotDesk", functions: [{ name: "book_slot", parameters: { slot_id: marks } }] },
    ];
    const wrong = [{ ...OTHER, combo_id: "c1" }];
    expect(await played(wrong, undefined, mark({}))).toMatchObject({ actions: false, state: false });
    expect(await played(wrong, undefined, mark({ ignore_in_eval: true }))).toMatchObject({
      actions: true,
      state: true,
    });
    expect(await played(wrong, undefined, mark({ param_category: "freetext" }))).toMatchObject({
      actions: true,
      state: true,
    });
    // a filter is an argument, not the field of the same name
    expect(await played(wrong, undefined, mark({ param_category: "filter" }))).toMatchObject({
      actions: true,
      state: false,
    });
  });

  test("a value that only an earlier call can give leaves the names and the other values to be checked", async () => {
    const open = { ...values, "book_slot.slot_id": "<From previous tool call output>" };
    expect(await played([{ ...RIGHT, value_domain_samples: open }])).toEqual({
      actions: true,
      state: null,
      policy: null,
    });
  });
});
