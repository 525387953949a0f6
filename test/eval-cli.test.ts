// `rollout eval` and `rollout report` as a user runs them: real processes of the built program.
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScoreRecord } from "../src/scoring/index.ts";
import { PROGRESS, single, workFolder } from "./support/cli.ts";

const scores = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ScoreRecord);

describe("from rollouts to a report", () => {
  test("rollouts, more rollouts, scores, tables, page and file", async () => {
    const work = workFolder();
    const agent = ["--agent-model", "scripted/agent?skill=0.6", "--limit", "8"];
    await work.run(single("--rollouts", "2", ...agent));
    await work.run(single("--rollouts", "3", ...agent));
    const file = join(work.path, "out/trajectories/StudentHealthServices.jsonl");
    const records = readFileSync(file);
    expect(records.toString().trim().split("\n")).toHaveLength(24);
    const evaluated = await work.run(["eval", "out"]);
    expect(evaluated.code).toBe(0);
    expect(evaluated.stderr.replace(PROGRESS, "")).toBe("");
    const [, results] = /^24 rollouts in out: 24 scored, (\d+) results$/m.exec(evaluated.stdout) ?? [];
    expect(Number(results) % 24).toBe(0);
    expect(evaluated.stdout).toMatch(/^3 +\d/m);
    expect((await work.run(["eval", "out"])).stdout).toContain(`nothing new to score, ${results} results kept`);
    const json = await work.run(["eval", "out", "--json"]);
    expect(json).toMatchObject({ code: 0, stderr: "" });
    const { counts, report } = JSON.parse(json.stdout);
    expect(counts).toMatchObject({ rollouts: 24, scored: 0, kept: Number(results) });
    const reported = await work.run(["report", "out"]);
    expect(reported).toMatchObject({ code: 0, stderr: "" });
    expect(reported.stdout).toContain("pass@k");
    const { overall, datasets } = JSON.parse(work.read("out/report.json"));
    expect(report.overall).toEqual(overall);
    for (const numbers of [overall, datasets.StudentHealthServices]) {
      expect(Object.keys(numbers.pass_at_k)).toEqual(["1", "2", "3"]);
      expect(numbers.pass_hat_k["1"]).toBeCloseTo(numbers.success_rate, 12);
    }
    expect(Object.keys(datasets.StudentHealthServices.queries)).toHaveLength(8);
    expect(work.read("out/report.html")).toContain("<svg");
    expect(readFileSync(file).equals(records)).toBe(true);
  });

  test("a run that scores as it goes needs no further command, and a moved run is still found", async () => {
    const work = workFolder();
    await work.run(single("--limit", "4", "--eval"));
    expect(scores(work.read("out/scores.jsonl")).filter(({ pass }) => pass === false)).toEqual([]);
    renameSync(join(work.path, "out"), join(work.path, "moved"));
    expect((await work.run(["eval", "moved"])).stdout).toContain("4 rollouts in moved: nothing new to score");
    expect((await work.run(["report", "moved", "--out", "elsewhere/page.html", "--quiet"])).code).toBe(0);
    expect([work.has("elsewhere/page.html"), work.has("elsewhere/page.json"), work.has("moved/report.html")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("rules come from a file, and the scripted judge runs the whole path without a key", async () => {
    const work = workFolder();
    await work.run(single("--limit", "3"));
    work.write("rules.yml", "checks: [state, quality]\njudge_model: scripted/judge\nvotes: 3\nscore: min\n");
    expect(await work.run(["eval", "out", "--rules", "rules.yml", "--quiet"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "",
    });
    const quality = scores(work.read("out/scores.jsonl")).filter(({ check }) => check === "quality");
    expect(quality).toHaveLength(3);
    expect(quality[0]?.details).toMatchObject({ judge: "scripted/judge", votes: [{}, {}, {}] });
    expect(work.read("out/judgements.jsonl").trim().split("\n")).toHaveLength(9);
  });
});

test("wrong usage ends with 2 and one clear line, and writes nothing", async () => {
  const work = workFolder();
  work.write("rules.yml", "check: [state]\n");
  await work.run(single("--limit", "1"));
  const cases: [string[], string][] = [
    [["eval", "nowhere"], "There is no folder nowhere"],
    [["report", "nowhere"], "There is no folder nowhere"],
    [["eval", "out", "--check", "stat"], 'did you mean "state"'],
    [["eval", "out", "--check", "quality"], "--judge-model"],
    [["eval", "out", "--check", "./missing.ts"], "missing.ts"],
    [["eval", "out", "--rules", "rules.yml"], "rules.yml:1:1"],
    [["eval", "out", "--votes", "0"], "at least 1"],
  ];
  await Promise.all(
    cases.map(async ([args, message]) => {
      const { code, stderr } = await work.run(args);
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)]);
    }),
  );
  expect(work.has("out/scores.jsonl")).toBe(false);
});
