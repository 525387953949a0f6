// Datasets of MCP servers, scored: against a server that knows by itself what each task leads to.
import { describe, expect, test } from "vitest";
import { type Finished, workFolder } from "./support/cli.ts";
import {
  type DepotConfig,
  depotRecords,
  evaluate,
  expectDone,
  expectedHashes,
  finalHashes,
  SERVER,
  serveOverHttp,
  TASKS,
  taskLines,
  withoutLastWrite,
  writeDepot,
} from "./support/mcp/depot.ts";
import { havePython } from "./support/python/support.ts";

const PYTHON = await havePython();
const ALL = TASKS.length;

async function play(tasks = TASKS, options: DepotConfig = {}, ...flags: string[]) {
  const work = workFolder();
  writeDepot(work, tasks, options);
  const finished = await work.run(["run", "-c", "run.yml", "--quiet", ...flags]);
  return { work, finished };
}

type Own = (env?: DepotConfig["env"]) => Promise<DepotConfig>;
const child =
  (server: DepotConfig["server"]): Own =>
  async (env) => ({ server, env });
const ISOLATIONS: [string, Own][] = [
  ["fresh", child({ isolation: "fresh" })],
  ["pool", child({ isolation: "pool" })],
  ["pool with reset_tool", child({ isolation: "pool", reset_tool: "reset" })],
  ["HTTP sessions", async (env) => ({ server: { ...(await serveOverHttp(SERVER, env)), isolation: "session" } })],
];

describe.skipIf(!PYTHON)("a dataset of an MCP server that shows its state", () => {
  test.each(ISOLATIONS)("is solved by a flawless agent, and by no other (%s)", async (_, open) => {
    const options = await open();
    const { work, finished } = await play(TASKS, options);
    expectDone(finished);
    expect(finalHashes(work)).toEqual(expectedHashes(work));
    expect((await evaluate(work)).report).toMatchObject({
      outcomes: { passed: ALL, failed: 0, "not scored": 0 },
      checks: { state: { passed: ALL }, actions: { passed: ALL } },
    });
    const dropped = await play(withoutLastWrite(TASKS), options);
    dropped.work.write("tasks.jsonl", taskLines(TASKS));
    expect((await evaluate(dropped.work)).report).toMatchObject({
      outcomes: { passed: 0, failed: ALL },
      checks: { state: { failed: ALL } },
    });
  });

  test.each(ISOLATIONS)("has hashes that are the same after a kill and a resume (%s)", async (_, open) => {
    const { work } = await play(TASKS, await open());
    const slow = workFolder();
    writeDepot(slow, TASKS, { ...(await open({ DELAY: "0.4" })), config: { max_workers: 2 } });
    const { child, finished } = slow.start(["run", "-c", "run.yml", "--quiet"]);
    await slow.until("out/manifest.json");
    while (depotRecords(slow).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGKILL");
    await finished;
    expect(depotRecords(slow).length).toBeLessThan(ALL);
    expectDone(await slow.run(["resume", "out", "--quiet"]));
    expect(finalHashes(slow)).toEqual(expectedHashes(slow));
    const hashes = (from: typeof work) =>
      Object.fromEntries(depotRecords(from).map(({ id, metadata }) => [id, metadata.final_state_hash]));
    expect(hashes(slow)).toEqual(hashes(work));
    expect(new Set(Object.values(hashes(work))).size).toBe(ALL);
    expect((await evaluate(slow)).report.outcomes).toMatchObject({ passed: ALL, failed: 0 });
  });

  test("tells 2.0 from 2, as the server does", async () => {
    const twos = [{ id: "price", calls: [{ name: "set_price", arguments: '{"order_id":"O1","price":2}' }] }];
    const { work } = await play(twos);
    const was = finalHashes(work);
    expect(was).toEqual(expectedHashes(work));
    work.write("tasks.jsonl", taskLines(twos).replace('"price":2}', '"price":2.0}'));
    expect(expectedHashes(work)).not.toEqual(was);
    expect((await evaluate(work)).report.outcomes).toMatchObject({ passed: 0, failed: 1 });
    const shown = await work.run(["show", "out", "price"]);
    expect(shown.stdout).toContain("orders O1: price should be 2.0, is 2");
  });

  test("is scored while it runs, and what is not solved is not exported", async () => {
    const { work } = await play(TASKS, { config: { eval: {} } }, "--agent-model", "scripted/agent?skill=0");
    const { report } = await evaluate(work);
    expect(report.outcomes.passed).toBe(0);
    const { code, stdout, stderr } = await work.run([
      "export",
      "out",
      "--format",
      "openai",
      "--out",
      "data",
      "--min-score",
      "1",
      "--include-scripted",
    ]);
    expect(code, stderr).not.toBe(0);
    expect(stdout + stderr).toContain("score below 1");
  });

  test("says so if the server no longer answers as it did, and then compares the calls alone", async () => {
    const { work } = await play(TASKS);
    writeDepot(work, TASKS, { env: { SEED_TEXT: "another day" } });
    const manifest = JSON.parse(work.read("out/manifest.json"));
    manifest.config.datasets.depot.mcpServers.depot.env = { SEED_TEXT: "another day" };
    work.write("out/manifest.json", JSON.stringify(manifest));
    const { report } = await evaluate(work);
    expect(report).toMatchObject({
      outcomes: { passed: ALL },
      checks: { state: { passed: 0, undecided: ALL }, actions: { passed: ALL } },
    });
    const { stdout } = await work.run(["show", "out", "cancel"]);
    expect(stdout.replace(/\s+/g, " ")).toContain(
      "by name and arguments only: the recorded calls cannot be repeated: call 2, fingerprint",
    );
  });

  test.each([
    ["as structured content", { server: {}, env: { SHAPE: "structured" } }],
    ["as a resource", { server: { state_tool: undefined, state_resource: "depot://state" } }],
    ["of five megabytes", { env: { FILL: "5000000" } }],
  ])("may show it %s", async (_, options) => {
    const { work, finished } = await play(TASKS.slice(0, 3), options as DepotConfig);
    expectDone(finished);
    expect((await evaluate(work, "--check", "state")).report).toMatchObject({
      outcomes: { passed: 3 },
      checks: { state: { passed: 3 } },
    });
    work.write("tasks.jsonl", taskLines(withoutLastWrite(TASKS)));
    expect((await evaluate(work, "--check", "state")).report.outcomes).toMatchObject({ passed: 0, failed: 3 });
  });

  test.each([
    ["fails", "state_tool dump failed: no state today"],
    ["text", "state_tool dump did not answer with JSON: three orders"],
    ["changes", "is another one each time it is read"],
  ])("is refused before the run if that %s", async (trouble, words) => {
    const { work, finished } = await play(TASKS, { env: { STATE: trouble } });
    expect(finished).toMatchObject<Partial<Finished>>({ code: 2, stderr: expect.stringContaining(words) });
    expect(work.has("out")).toBe(false);
  });

  test("tells after each write what it came to, where that is asked for", async () => {
    const { work } = await play(TASKS, { server: { state_after_writes: true, read_only: ["look", "fingerprint"] } });
    const records = depotRecords(work);
    for (const { id, metadata } of records) {
      const writes = TASKS.find((task) => task.id === id)?.calls.filter(({ name }) => name !== "look") ?? [];
      const hashes = Object.values(metadata.state_hashes ?? {});
      expect(hashes).toHaveLength(writes.length);
      expect(hashes.at(-1)).toBe(metadata.final_state_hash);
    }
    const two = records.find(({ id }) => id === "two");
    expect(new Set(Object.values(two?.metadata.state_hashes ?? {})).size).toBe(2);
  });

  test("has each server's state under its name, where there are several", async () => {
    const stock = { command: "python3", args: [SERVER], isolation: "fresh", state_tool: "dump" };
    const tasks = [
      {
        id: "both",
        calls: [
          { name: "depot.cancel", arguments: '{"order_id":"O1"}' },
          { name: "stock.set_price", arguments: '{"order_id":"O2","price":5.0}' },
        ],
      },
    ];
    const { work, finished } = await play(tasks, { servers: { stock } });
    expectDone(finished);
    expect((await evaluate(work)).report).toMatchObject({ outcomes: { passed: 1 }, checks: { state: { passed: 1 } } });
    const other = taskLines(tasks).replace('"price":5.0', '"price":6.0').replace("depot.cancel", "stock.cancel");
    work.write("tasks.jsonl", other);
    expect((await evaluate(work)).report.outcomes).toMatchObject({ failed: 1 });
    const { stdout } = await work.run(["show", "out", "both"]);
    expect(stdout).toContain("depot.orders O1: should not have changed: status");
    expect(stdout).toContain("stock.orders O2: price should be 6.0, is 5.0");
  });

  test("ends the rollout whose state cannot be read at its end as infrastructure", async () => {
    const { work } = await play(TASKS, { env: { STATE: "late" } });
    expect(work.read("out/failures.jsonl")).toContain("state_tool dump failed: no state after a note");
    expect(depotRecords(work)).toHaveLength(ALL - 1);
  });
});

describe.skipIf(!PYTHON)("a dataset of an MCP server that does not show its state", () => {
  const unseen = { state_tool: undefined };
  const scored = async (server: DepotConfig["server"], env?: DepotConfig["env"]) => {
    const good = await play(TASKS, { server, env, config: { max_workers: 1 } });
    expectDone(good.finished);
    const bad = await play(withoutLastWrite(TASKS), { server, env, config: { max_workers: 1 } });
    bad.work.write("tasks.jsonl", taskLines(TASKS));
    return [await evaluate(good.work), await evaluate(bad.work)].map(({ report }) => report);
  };

  test("is scored by its calls: its own server, by what the reference's calls do there", async () => {
    const [good, bad] = await scored({ ...unseen, isolation: "fresh" });
    expect(good).toMatchObject({ outcomes: { passed: ALL }, checks: { state: { undecided: ALL } } });
    expect(bad).toMatchObject({ outcomes: { passed: 0, failed: ALL } });
  });

  test("is scored by its calls: a shared server, by name and arguments, and no call is made there", async () => {
    const server = { ...unseen, isolation: "shared" };
    const good = await play(TASKS, { server, config: { max_workers: 1 } });
    const bad = await play(withoutLastWrite(TASKS), { server, config: { max_workers: 1 } });
    bad.work.write("tasks.jsonl", taskLines(TASKS));
    for (const [{ work }, outcomes] of [
      [good, { passed: ALL, failed: 0 }],
      [bad, { passed: 0, failed: ALL }],
    ] as const) {
      work.write("calls.log", "");
      const manifest = JSON.parse(work.read("out/manifest.json"));
      manifest.config.datasets.depot.mcpServers.depot.env = { CALLS: `${work.path}/calls.log` };
      work.write("out/manifest.json", JSON.stringify(manifest));
      expect((await evaluate(work)).report.outcomes).toMatchObject(outcomes);
      expect(work.read("calls.log")).toBe("");
    }
  });

  test.each(["shared", "fresh"])("is checked without a call that writes (%s)", async (isolation) => {
    const work = workFolder();
    writeDepot(work, TASKS, { server: { ...unseen, isolation }, env: { CALLS: `${work.path}/calls.log` } });
    expect(await work.run(["check", "run.yml"])).toMatchObject({ code: 0, stderr: "" });
    expect(new Set(work.read("calls.log").trim().split("\n"))).toEqual(new Set(["look", "fingerprint"]));
  });

  test("is scored by its calls although the server is gone, and that is said", async () => {
    const { work } = await play(TASKS, { server: unseen });
    const manifest = JSON.parse(work.read("out/manifest.json"));
    manifest.config.datasets.depot.mcpServers.depot.args = ["/no/such/file.py"];
    work.write("out/manifest.json", JSON.stringify(manifest));
    const { report, stderr } = await evaluate(work);
    expect(report.outcomes).toMatchObject({ passed: ALL, failed: 0 });
    expect(stderr).toContain("calls are compared with the plans by name and arguments");
  });
});

describe.skipIf(!PYTHON)("what counts", () => {
  test("is what --check names, and eval and report say so", async () => {
    const { work } = await play(withoutLastWrite(TASKS.slice(0, 2)), {}, "--eval");
    work.write("tasks.jsonl", taskLines(TASKS.slice(0, 2)));
    expect((await evaluate(work)).report.outcomes).toMatchObject({ passed: 0, failed: 2 });
    const user = await work.run(["eval", "out", "--check", "user"]);
    expect(user.stdout).toContain("Decided by user only");
    expect(user.stdout).toContain("2 solved, 0 not solved");
    const state = await work.run(["report", "out", "--check", "state"]);
    expect(state.stdout).toContain("Decided by state only");
    expect(state.stdout).toContain("0 solved, 2 not solved");
    expect(work.read("out/report.html")).toContain("Decided by state only");
    expect(JSON.parse(work.read("out/report.json"))).toMatchObject({ only_checks: ["state"] });
    const all = await work.run(["report", "out"]);
    expect(all.stdout).not.toContain("Decided by");
    expect((await work.run(["report", "out", "--check", "sate"])).code).toBe(2);
  });

  test("where nothing decided, there is no number anywhere", async () => {
    const { work } = await play(TASKS, { env: { STATE: "late" } });
    const bare = taskLines(TASKS).replaceAll(/"task_info":.*\}\n/g, '"task_info":{}}\n');
    work.write("tasks.jsonl", bare);
    const { report } = await evaluate(work);
    expect(report.outcomes).toEqual({ passed: 0, failed: 0, "not scored": ALL - 1, infrastructure: 1 });
    const printed = await work.run(["report", "out"]);
    expect(printed.stdout).toContain(`${ALL - 1} unscored`);
    expect(printed.stdout).not.toMatch(/\d %/);
    const written = JSON.parse(work.read("out/report.json"));
    for (const numbers of [written, written.datasets.depot])
      for (const part of [numbers.overall ?? numbers, numbers.with_infrastructure, numbers.agent_only])
        expect(part).toMatchObject({ scored: 0, success_rate: null, avg_at_n: null, pass_at_k: {} });
    expect(work.read("out/report.html")).toContain("<td>unscored</td>");
    const kept = await work.run([
      "export",
      "out",
      "--format",
      "openai",
      "--out",
      "data",
      "--min-score",
      "0",
      "--include-scripted",
    ]);
    expect(kept.code).not.toBe(0);
    expect(kept.stdout + kept.stderr).toMatch(new RegExp(`${ALL - 1}\\b.*unscored|unscored.*${ALL - 1}\\b`));
  });
});
