// Verdicts as people see them: a real run of scripted models, scored, with a rollout that the infrastructure lost.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scoreRun } from "../src/scoring/index.ts";
import { single, type WorkFolder, workFolder } from "./support/cli.ts";
import { run } from "./support/play.ts";

const QUERIES = 6;
const ROLLOUTS = 2;

type Listed = {
  id: string;
  query_id: string;
  verdict: string;
  pass: boolean | null;
  blame?: string;
  decided_by: string[];
};

async function playHalfSkilled(work: WorkFolder, options: { score: boolean }): Promise<void> {
  await run({
    folder: work.path,
    config: {
      output_dir: join(work.path, "out"),
      datasets: { StudentHealthServices: {} },
      agent_model: "scripted/agent?skill=0.5",
      user_model: "scripted/user",
      limit: QUERIES,
      rollouts: ROLLOUTS,
    },
  });
  loseOne(work);
  if (options.score) await scoreRun({ folder: join(work.path, "out"), env: process.env });
}

/** A rollout that the infrastructure lost: only failures.jsonl knows it. */
function loseOne(work: WorkFolder): void {
  const key = { id: "lost-1", query_id: "lost-1", rollout: 0, dataset: "StudentHealthServices" };
  const failure = { ...key, attempt: 1, error: "connection \u001b[31mrefused", kind: "network", entries: 0, at: "" };
  appendFileSync(join(work.path, "out/failures.jsonl"), `${JSON.stringify(failure)}\n`);
}

test("show lists every rollout with its verdict, and filters narrow the list together", async () => {
  const work = workFolder();
  await playHalfSkilled(work, { score: true });
  const list = async (...flags: string[]) => {
    const { stdout } = await work.run(["show", "out", "--json", ...flags]);
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Listed);
  };
  const all = await list();
  expect(all).toHaveLength(QUERIES * ROLLOUTS + 1);
  expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted());
  expect(all[0]).toMatchObject({ id: "lost-1", verdict: "not played", blame: "infrastructure" });
  const failed = all.filter(({ pass }) => pass === false);
  expect(failed.length).toBeGreaterThan(2);
  expect(failed.length).toBeLessThan(all.length);
  expect(await list("--failed")).toEqual(failed);
  const check = failed.find(({ decided_by }) => decided_by.length > 0)?.decided_by[0] as string;
  const failing = failed.filter(({ decided_by }) => decided_by.includes(check));
  expect(await list("--check", check)).toEqual(failing);
  expect(await list("--blame", "infrastructure", "--failed")).toEqual([all[0]]);
  const query = failing[0]?.query_id as string;
  expect(await list("--query", query)).toHaveLength(ROLLOUTS);
  expect(await list("--query", query, "--check", check, "--blame", "agent")).toEqual(
    failing.filter(({ query_id, blame }) => query_id === query && blame === "agent"),
  );
  expect(await list("--dataset", "StudentHealthServices", "--limit", "3")).toHaveLength(3);

  const { stdout } = await work.run(["show", "out"]);
  expect(stdout).toMatch(/^rollout +stop reason +verdict +score +blame +decided by +evidence$/m);
  expect(stdout).toMatch(/^lost-1 +infrastructure +not played +– +infrastructure +– +connection ·\[31mrefused$/m);
  expect(stdout).toMatch(/^shs-\S+ +user_stop +solved +1\.00 +– +actions, state/m);
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toMatch(/^13 rollouts: \d+ solved, \d+ failed, 1 not played$/m);
  const some = await work.run(["show", "out", "--limit", "2"]);
  expect(some.stdout).toContain("and 11 more: --limit 13 lists all");
  expect((await work.run(["show", "out", "--check", "user"])).stdout).toBe("No such rollout.\n");
});

test("show of one rollout ends with its verdict and what each check found", async () => {
  const work = workFolder();
  await playHalfSkilled(work, { score: true });
  const { stdout: listed } = await work.run(["show", "out", "--check", "state", "--json", "--limit", "1"]);
  const { id } = JSON.parse(listed) as Listed;
  const { stdout } = await work.run(["show", "out", id]);
  expect(stdout).toMatch(
    /stop reason user_stop: a regular end[\s\S]*verdict {2}failed, score 0\.00, decided by .*state/,
  );
  expect(stdout).toMatch(/ {9}blame: agent \(\w+: /);
  expect(stdout).toMatch(/ {3}fail {2}state +[-+~] \w+/);
  expect(stdout).toMatch(/ {6}– {2}answer +not checkable: /);
  expect(stdout).toMatch(/ {3}pass {2}user /);
  const record = JSON.parse((await work.run(["show", "out", id, "--json"])).stdout);
  expect(record).toMatchObject({ id, messages: expect.any(Array) });
  expect(record.verdict).toBeUndefined();
  const { stdout: lost } = await work.run(["show", "out", "lost-1"]);
  expect(lost).toMatch(/attempt 1 failed[\s\S]*verdict {2}not played, blame: infrastructure/);
});

test("a run without scores is listed as such, with the command that scores it", async () => {
  const work = workFolder();
  await playHalfSkilled(work, { score: false });
  const { stdout } = await work.run(["show", "out"]);
  expect(stdout).toMatch(/^shs-\S+ +user_stop +not scored yet +– /m);
  expect(stdout).toContain("To score: npx rollout eval out");
  expect((await work.run(["show", "out", "--failed"])).stdout).toContain("1 rollout: 1 not played");
  expect(await work.run(["show", "out", "--check", "state"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("npx rollout eval out"),
  });
  const { stdout: one } = await work.run(["show", "out", "shs-001"]);
  expect(one).toContain("verdict  not scored yet");
  const cases: [string[], string][] = [
    [["--blame", "agnet"], 'did you mean "agent"?'],
    [["--query", "shs-01"], 'did you mean "shs-001"?'],
    [["--dataset", "StudentHealthService"], 'did you mean "StudentHealthServices"?'],
    [["shs-001", "--failed"], "--failed is for the list"],
  ];
  for (const [args, message] of cases) {
    const { code, stderr } = await work.run(["show", "out", ...args]);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)]);
  }
});

test("eval ends with the worst queries and how to look at them, and keeps the infrastructure out of the headline", async () => {
  const work = workFolder();
  await work.run(single("--limit", "6", "--rollouts", "2", "--agent-model", "scripted/agent?skill=0.5"));
  loseOne(work);
  const { stdout } = await work.run(["eval", "out"]);
  expect(stdout).toMatch(/^\d+ solved, \d+ not solved, 0 unscored$/m);
  expect(stdout).toMatch(/^Counting 1 infrastructure failure as not solved: \d+\.\d % of 13 solved/m);
  const [, worst = ""] = stdout.split(/^worst queries.*\n/m);
  const rows = worst.trimEnd().split("\n");
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.length).toBeLessThanOrEqual(5);
  const rates = rows.map((row) => {
    const found = /^(\S+) +\d of 2 +([\d.]+) % +\w+ +agent +npx rollout show out --query (\S+) --failed$/.exec(row);
    expect(found, row).not.toBeNull();
    expect(found?.[1]).toBe(found?.[3]);
    return Number(found?.[2]);
  });
  expect(rates).toEqual(rates.toSorted((a, b) => a - b));
  expect(Math.max(...rates)).toBeLessThan(100);
  expect((await work.run(["show", "out", "--check", "stat"])).stderr).toContain('did you mean "state"?');

  await work.run(["report", "out", "--quiet"]);
  const { overall, with_infrastructure, datasets } = JSON.parse(work.read("out/report.json"));
  expect([overall.scored, with_infrastructure.scored]).toEqual([12, 13]);
  expect(datasets.StudentHealthServices.queries["lost-1"].verdicts).toMatchObject([{ verdict: "not played" }]);
  const page = work.read("out/report.html");
  expect(page.match(/class="dialogue"/g)).toHaveLength(12);
  expect(page).not.toMatch(/<script|https?:\/\//i);
});

test("eval names no query where everything is solved", async () => {
  const work = workFolder();
  await work.run(single("--limit", "2"));
  const { stdout } = await work.run(["eval", "out"]);
  expect(stdout).toContain("2 solved, 0 not solved, 0 unscored");
  expect(stdout).not.toContain("worst queries");
});
