// Watching a run, looking into it, sorting it, continuing it: the commands as a person uses them.
import { expect, test, vi } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { itemQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const RUN = ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED];
const FOLDER = "outputs/single";
const OUTPUT = `${FOLDER}/trajectories/Domain1.jsonl`;

/** Two rollouts are done, the third is waiting for its tool call. */
async function startSlowRun(work: WorkFolder) {
  writeShop(work, { queries: [itemQuery("q1"), itemQuery("q2"), itemQuery("q3", "slow"), itemQuery("q4")] });
  work.write("slow", "");
  const running = work.start([...RUN, "--max-workers", "1"]);
  await work.until("waiting");
  // a rollout counts as done once it is on disk, a moment after it has ended
  const status = async () => (await work.run(["status", FOLDER])).stdout;
  await vi.waitFor(async () => expect(await status()).toContain("2/4 done"), { timeout: 30_000, interval: 50 });
  return running;
}

test("status tells from another process what is done, running and waiting, and who writes", async () => {
  const work = workFolder();
  const { child, finished } = await startSlowRun(work);
  const during = await work.run(["status", FOLDER]);
  expect(during.code).toBe(0);
  expect(during.stdout).toContain(`${FOLDER}: running by process ${child.pid}`);
  expect(during.stdout).toContain("2/4 done · 1 running · 1 waiting · 0 failed");
  child.kill("SIGKILL");
  await finished;
  const killed = await work.run(["status"]);
  expect(killed.stdout).toContain(`${FOLDER}: stopped`);
  expect(killed.stdout).toContain("2/4 done · 0 running · 2 waiting");
  expect(killed.stdout).toContain(`To continue: npx rollout resume ${FOLDER}`);
  work.remove("slow");
  const resumed = await work.run(["resume", FOLDER]);
  expect(resumed.code).toBe(0);
  expect(resumed.stdout.split("\n")[0]).toBe("Kept 2, continuing 1, starting 1, trying again 0");
  const after = JSON.parse((await work.run(["status", "--json"])).stdout);
  expect(after).toMatchObject({ state: "finished", totals: { planned: 4, done: 4, failed: 0, waiting: 0 } });
});

test("status names what is missing where there is no run", async () => {
  const work = workFolder();
  expect(await work.run(["status"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no run under outputs/"),
  });
  work.write("empty/file", "");
  expect(await work.run(["status", "empty"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("manifest.json"),
  });
});

test("show prints one rollout with calls, results, times and why it stopped; also one that is not finished", async () => {
  const work = workFolder();
  const { child, finished } = await startSlowRun(work);
  const done = await work.run(["show", FOLDER, "q2"]);
  expect(done.stdout).toMatch(/user {2}Hello, this is q2\.[\s\S]*calls {2}find_item \{"name":"item q2"\}[\s\S]*result/);
  expect(done.stdout).toMatch(/ \d+ ms\n/);
  expect(done.stdout).toContain("stop reason user_stop: a regular end");
  expect(done.stdout).toContain("agent scripted/agent, user scripted/user (scripted: no model's output)");
  const open = await work.run(["show", FOLDER, "q3"]);
  expect(open.stdout).toContain('calls  find_item {"name":"slow"}');
  expect(open.stdout).toContain("not finished: 1 entries so far");
  const none = await work.run(["show", FOLDER, "q9"]);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('no rollout "q9"') });
  child.kill("SIGKILL");
  await finished;
});

test("sort puts the records into their order as a whole, and refuses while somebody writes", async () => {
  const work = workFolder();
  const { child, finished } = await startSlowRun(work);
  const refused = await work.run(["sort", FOLDER]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`in use by process ${child.pid}`) });
  work.remove("slow");
  await finished;
  const lines = work.read(OUTPUT).trimEnd().split("\n");
  work.write(OUTPUT, `${[...lines].reverse().join("\n")}\n`);
  const sorted = await work.run(["sort", FOLDER]);
  expect(sorted.stdout).toContain("4 records, sorted");
  expect(work.records(OUTPUT).map(({ id }) => id)).toEqual(["q1", "q2", "q3", "q4"]);
  expect(work.read(OUTPUT).trimEnd().split("\n").sort()).toEqual([...lines].sort());
  expect((await work.run(["sort", FOLDER])).stdout).toContain("in order already");
});

test("resume continues from any folder, as the folder remembers the run, whether or not its config is still there", async () => {
  const work = workFolder();
  writeShop(work);
  work.write("run.yml", "output_dir: out\ndatasets: {Domain1: {base_path: shop}}\n");
  await work.run(["run", "--config", "run.yml", "--limit", "1", ...SCRIPTED, "--quiet"]);
  work.write("elsewhere/file", "");
  const lines = work.read("out/trajectories/Domain1.jsonl");
  work.write("out/trajectories/Domain1.jsonl", "");
  work.remove("out/journal.jsonl");
  const again = await work.run(["resume", `${work.path}/out`, "--quiet"]);
  expect(again).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(work.read("out/trajectories/Domain1.jsonl").split("\n")).toHaveLength(lines.split("\n").length);
  work.remove("run.yml");
  const more = await work.run(["resume", "out", "--limit", "2", "--quiet"]);
  expect(more).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(work.records("out/trajectories/Domain1.jsonl")).toHaveLength(2);
});

test("--json prints every event as one line of JSON, and nothing else", async () => {
  const work = workFolder();
  writeShop(work);
  const { code, stdout, stderr } = await work.run([...RUN, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events[0]).toMatchObject({ type: "run-start", datasets: [{ name: "Domain1", planned: 3 }] });
  expect(events.at(-1)).toMatchObject({ type: "run-end", finished: 3, failed: 0 });
  expect(events.filter(({ type }) => type === "rollout-end")).toHaveLength(3);
});

test("--quiet prints nothing, and --verbose keeps each rollout's lines together", async () => {
  const work = workFolder();
  writeShop(work);
  expect(await work.run([...RUN, "--quiet"])).toEqual({ code: 0, stdout: "", stderr: "" });
  const { stdout } = await work.run([...RUN, "--verbose", "--output-dir", "again", "--max-workers", "3"]);
  const titles = stdout.split("\n").filter((line) => line.startsWith("── "));
  expect(titles.length).toBeGreaterThanOrEqual(3);
  for (const id of ["q1", "q2", "q3"]) {
    const blocks = stdout.split("── ").filter((block) => block.startsWith(`${id}\n`));
    expect(blocks.join("")).toContain(`item ${id}`);
    expect(blocks.at(-1)).toContain("user_stop, 2 turns, 1 tool calls");
  }
});
