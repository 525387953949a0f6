import { hostname } from "node:os";
import { expect, test } from "vitest";
import { untilStopping, workFolder } from "./support/cli.ts";
import { itemQuery, planQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const RUN = ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED];
const OUTPUT = "outputs/single/trajectories/Domain1.jsonl";

const MANY = Array.from({ length: 40 }, (_, index) => itemQuery(`q${index + 10}`, index === 20 ? "slow" : "lamp"));

test("Ctrl-C once: the tool call under way finishes and is kept, the rest is parked, and a resume equals an uninterrupted run", async () => {
  const work = workFolder();
  writeShop(work, { queries: MANY });
  await work.run([...RUN, "--output-dir", "whole", "--quiet"]);
  work.write("slow", "");
  const { child, finished } = work.start([...RUN, "--max-workers", "1"]);
  await work.until("waiting");
  child.kill("SIGINT");
  await untilStopping(child);
  work.remove("slow");
  const { code, stdout, stderr } = await finished;
  expect(code).toBe(130);
  expect(stderr).toContain("Stopping: no new work");
  expect(stdout).toContain("Stopped with 20 rollouts left.\n\nNext:\n  npx rollout resume outputs/single ");
  expect(work.records(OUTPUT)).toHaveLength(20);
  expect(work.has("outputs/single/lock")).toBe(false);
  const entries = work.records<{ type: string; queryId: string; entry: { type: string } }>(
    "outputs/single/journal.jsonl",
  );
  const last = entries.filter(({ type }) => type === "entry-end").at(-1);
  expect([last?.queryId, last?.entry.type]).toEqual(["q30", "tool-result"]);

  expect(await work.run([...RUN, "--quiet"])).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(work.canonical(OUTPUT)).toEqual(work.canonical("whole/trajectories/Domain1.jsonl"));
});

test("Ctrl-C twice: the program leaves at once with 130, and can be resumed all the same", async () => {
  const work = workFolder();
  writeShop(work, { queries: MANY });
  work.write("slow", "");
  const { child, finished } = work.start([...RUN, "--max-workers", "1"]);
  await work.until("waiting");
  child.kill("SIGINT");
  await untilStopping(child);
  child.kill("SIGINT");
  expect((await finished).code).toBe(130);
  work.remove("slow");
  expect((await work.run([...RUN, "--quiet"])).code).toBe(0);
  await work.run([...RUN, "--output-dir", "whole", "--quiet"]);
  expect(work.canonical(OUTPUT)).toEqual(work.canonical("whole/trajectories/Domain1.jsonl"));
});

test("a second process in one run folder refuses and names the first; a killed one's lock is no obstacle", async () => {
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("q1", "slow")] });
  work.write("slow", "");
  const { child, finished } = work.start(RUN);
  await work.until("waiting");
  const second = await work.run(RUN);
  expect(second.code).toBe(2);
  expect(second.stderr).toContain(`is in use by process ${child.pid} on ${hostname()}`);
  child.kill("SIGKILL");
  await finished;
  work.remove("slow");
  expect((await work.run([...RUN, "--quiet"])).code).toBe(0);
});

test("a config with resume: false starts next to the last run each time; the printed command continues the first", async () => {
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("q1"), itemQuery("q2", "slow"), planQuery("q3", [{ say: "Hello." }])] });
  work.write(
    "run.yml",
    `resume: false\nbase_path: shop\nagent_model: scripted/agent\nuser_model: scripted/user\ndatasets:\n  Domain1:\n    output_path: out/shop.jsonl\n`,
  );
  work.write("slow", "");
  const { child, finished } = work.start(["run", "--config", "run.yml", "--max-workers", "1"]);
  await work.until("waiting");
  child.kill("SIGINT");
  await untilStopping(child);
  work.remove("slow");
  expect((await finished).stdout).toContain("Next:\n  npx rollout resume outputs/run ");
  expect((await work.run(["resume", "outputs/run", "--quiet"])).code).toBe(0);
  expect(work.records("out/shop.jsonl")).toHaveLength(3);

  const first = work.read("out/shop.jsonl");
  expect((await work.run(["run", "--config", "run.yml", "--quiet"])).code).toBe(0);
  expect(work.read("out/shop.jsonl")).toBe(first);
  expect(work.canonical("out/shop.2.jsonl")).toEqual(work.canonical("out/shop.jsonl"));
  expect(work.names()).toContain("outputs");
  expect(work.has("outputs/run.2/manifest.json")).toBe(true);
});
