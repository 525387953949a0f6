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
  const finished = await work.run(["run", "run.yml", "--quiet", ...flags]);
  return { work, finished };
}

const ISOLATIONS: [string, DepotConfig["server"]][] = [
  ["fresh", { isolation: "fresh" }],
  ["pool", { isolation: "pool" }],
  ["pool with reset_tool", { isolation: "pool", reset_tool: "reset" }],
];

describe.skipIf(!PYTHON)("a dataset of an MCP server that shows its state", () => {
  test.each(ISOLATIONS)("is solved by a flawless agent, and by no other (%s)", async (_, server) => {
    const { work, finished } = await play(TASKS, { server });
    expectDone(finished);
    expect(finalHashes(work)).toEqual(expectedHashes(work));
    expect((await evaluate(work)).report).toMatchObject({
      outcomes: { passed: ALL, failed: 0, "not scored": 0 },
      checks: { state: { passed: ALL }, actions: { passed: ALL } },
    });
    const dropped = await play(withoutLastWrite(TASKS), { server });
    dropped.work.write("tasks.jsonl", taskLines(TASKS));
    expect((await evaluate(dropped.work)).report).toMatchObject({
      outcomes: { passed: 0, failed: ALL },
      checks: { state: { failed: ALL } },
    });
  });

  test("has a hash of what changed in each record, the same after a kill and a resume", async () => {
    const server = { isolation: "pool" };
    const { work } = await play(TASKS, { server });
    const slow = workFolder();
    writeDepot(slow, TASKS, { server, env: { DELAY: "0.4" }, config: { max_workers: 2 } });
    const { child, finished } = slow.start(["run", "run.yml", "--quiet"]);
    await slow.until("out/trajectories/depot.jsonl");
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

  test("ends the rollout whose state cannot be read at its end as infrastructure", async () => {
    const { work } = await play(TASKS, { env: { STATE: "late" } });
    expect(work.read("out/failures.jsonl")).toContain("state_tool dump failed: no state after a note");
    expect(depotRecords(work)).toHaveLength(ALL - 1);
  });
});
