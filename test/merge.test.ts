// `rollout merge` in the built program: the folders of a run's shares become the folder of the run made without them.
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { single, type WorkFolder, workFolder } from "./support/cli.ts";

type Keyed = { id: string; dataset: string };
const QUESTIONS = Array.from({ length: 8 }, (_, n) => ({ id: `q${n}`, question: `What is ${n} + 1?`, answer: n + 1 }));
const AGENT = ["--agent-model", "scripted/agent?skill=0.6"];

/** Questions, and a command for a share of them. */
function prepared(): WorkFolder {
  const work = workFolder();
  work.write("questions.jsonl", QUESTIONS.map((question) => `${JSON.stringify(question)}\n`).join(""));
  return work;
}
const multi = (out: string, ...more: string[]) => [
  ...["multi", "--input", "questions.jsonl", "--output-dir", out, "--quiet", "--eval", ...AGENT],
  ...more,
];

async function all(work: WorkFolder, commands: string[][]): Promise<void> {
  for (const command of commands) expect(await work.run(command)).toMatchObject({ code: 0, stderr: "" });
}

/** What a run folder says, in the form in which runs are compared. */
function contents(work: WorkFolder, folder: string, files: string[]) {
  const sorted = (lines: string[]) => lines.toSorted();
  const read = <T extends object>(file: string) =>
    work.has(`${folder}/${file}`) ? work.records<T>(`${folder}/${file}`) : [];
  const { config, datasets, seed } = JSON.parse(work.read(`${folder}/manifest.json`));
  const { output_dir: _, ...settings } = config;
  const parts = Object.entries(datasets as { [name: string]: { parts: object; base: string; source: object } });
  return {
    records: files.map((file) => work.canonical(`${folder}/${file}`)),
    prompts: sorted(read("prompts.jsonl").map((prompt) => JSON.stringify(prompt))),
    scores: sorted(
      read<Keyed & { check: string; pass: boolean; score: number }>("scores.jsonl").map(
        ({ id, dataset, check, pass, score }) => JSON.stringify([dataset, id, check, pass, score]),
      ),
    ),
    settings: { ...settings, seed },
    datasets: parts.map(([name, { parts: its, base, source }]) => ({ name, its, base, source })),
  };
}

const DOMAINS = ["StudentHealthServices", "StudentAcademicPortal"];
const domains = (out: string, ...more: string[]) => [
  ...[
    "single",
    "--domains",
    ...DOMAINS,
    "--bundled",
    "--output-dir",
    out,
    "--quiet",
    "--eval",
    "--rollouts",
    "2",
    "--limit",
    "9",
  ],
  ...AGENT,
  ...more,
];
const FILES = DOMAINS.map((name) => `trajectories/${name}.jsonl`);

test("three shares of bundled domains make the run without them: records, prompts, scores, settings", async () => {
  const work = workFolder();
  await all(
    work,
    [1, 2, 3].map((index) => domains(`s${index}`, "--split", `${index}/3`)),
  );
  await all(work, [domains("whole"), ["merge", "s2", "s1", "s3", "--output-dir", "runs/all"]]);
  expect(contents(work, "runs/all", FILES)).toEqual(contents(work, "whole", FILES));
  expect(readdirSync(join(work.path, "runs"))).toEqual(["all"]);
  const status = await work.run(["status", "runs/all", "--verify"]);
  expect(status).toMatchObject({ code: 0, stderr: "" });
  expect(status.stdout).toContain("36/36 done");
  expect(status.stdout).toContain("36 records good, 0 damaged lines");
  expect((await work.run(["resume", "runs/all"])).stdout).toContain("Everything is there already: 36 rollouts");
  const shown = await Promise.all(["runs/all", "whole"].map((folder) => work.run(["show", folder, "sap-001#1"])));
  expect(shown[0]?.stdout.split("\n").length).toBe(shown[1]?.stdout.split("\n").length);
  for (const folder of ["runs/all", "whole"]) {
    await all(work, [
      ["report", folder, "--quiet"],
      ["export", folder, "--format", "openai", "--out", `${folder}-data`, "--include-scripted"],
    ]);
    expect((await work.run(["eval", folder, "--json"])).code).toBe(0);
    expect((await work.run(["replay", folder])).code).toBe(0);
  }
  const { overall } = JSON.parse(work.read("whole/report.json"));
  expect(JSON.parse(work.read("runs/all/report.json")).overall).toMatchObject({ success_rate: overall.success_rate });
  expect(work.read("runs/all-data/train.jsonl").length).toBe(work.read("whole-data/train.jsonl").length);
});

test("the rounds of questions are merged file by file, also after one share was extended", async () => {
  const work = prepared();
  const rounds = (folder: string) =>
    readdirSync(join(work.path, folder))
      .filter((name) => name.startsWith("iter"))
      .sort();
  await all(
    work,
    [1, 2, 3].map((index) => multi(`s${index}`, "--split", `${index}/3`)),
  );
  await all(work, [multi("whole"), ["merge", "s1", "s2", "s3", "--output-dir", "all"]]);
  expect(rounds("all")).toEqual(["iter1.jsonl", "iter2.jsonl", "iter3.jsonl", "iter4.jsonl", "iter5.jsonl"]);
  expect(contents(work, "all", rounds("all"))).toEqual(contents(work, "whole", rounds("whole")));
  expect(Object.keys(JSON.parse(work.read("all/summary.json")))).toEqual(
    Object.keys(JSON.parse(work.read("whole/summary.json"))),
  );

  await all(work, [
    ["resume", "s2", "--rollouts", "7", "--quiet"],
    ["merge", "s1", "s2", "s3", "--output-dir", "more"],
  ]);
  const status = JSON.parse((await work.run(["status", "more", "--json"])).stdout);
  expect(status).toMatchObject({ state: "stopped", totals: { planned: 56 } });
  expect(status.totals.done).toBeGreaterThan(40);
  expect(status.totals.done).toBeLessThan(56);
  await all(work, [["resume", "more", "--quiet"], multi("whole", "--rollouts", "7")]);
  expect(contents(work, "more", rounds("more"))).toEqual(contents(work, "whole", rounds("whole")));
});

test("shares of machines that used the same folder name and an output_path are told apart by where they are", async () => {
  const work = prepared();
  for (const index of [1, 2]) {
    await all(work, [multi("out", "--split", `${index}/2`, "--rollouts", "2")]);
    renameSync(join(work.path, "out"), join(work.path, `from-${index}`));
  }
  await all(work, [multi("out", "--rollouts", "1"), ["merge", "from-1", "from-2", "--output-dir", "all"]]);
  expect(work.records("all/iter1.jsonl")).toHaveLength(8);
  expect(work.records("all/iter2.jsonl")).toHaveLength(8);
  expect((await work.run(["status", "from-1"])).stdout).toContain("8/8 done");

  const config = { datasets: { StudentHealthServices: { output_path: "data/health.jsonl" } }, limit: 6, bundled: true };
  work.write("run.yml", JSON.stringify(config));
  for (const index of [1, 2]) {
    await all(work, [["run", "--config", "run.yml", "--split", `${index}/2`, "--output-dir", `o${index}`, "--quiet"]]);
    renameSync(join(work.path, "data"), join(work.path, `data-${index}`));
  }
  const lost = await work.run(["merge", "o1", "o2", "--output-dir", "joined"]);
  expect(lost).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("data/health.jsonl. Put that file there, or at"),
  });
  for (const index of [1, 2])
    cpSync(
      join(work.path, `data-${index}/health.jsonl`),
      join(work.path, `o${index}/trajectories/StudentHealthServices.jsonl`),
    );
  await all(work, [["merge", "o1", "o2", "--output-dir", "joined"]]);
  expect(work.records("joined/trajectories/StudentHealthServices.jsonl")).toHaveLength(6);
  expect((await work.run(["resume", "joined"])).stdout).toContain("Everything is there already: 6 rollouts in joined");
});

test("shares that wrote to one output_path are merged with their scores and journals", async () => {
  const work = workFolder();
  const config = { datasets: { StudentHealthServices: { output_path: "data/health.jsonl" } }, limit: 6, bundled: true };
  work.write("run.yml", JSON.stringify(config));
  const share = (index: number, ...more: string[]) => [
    ...["run", "--config", "run.yml", "--split", `${index}/2`, "--output-dir", `o${index}`, "--quiet", "--eval"],
    ...more,
  ];
  await all(work, [share(1), share(2), share(1, "--rollouts", "2"), share(2, "--rollouts", "2")]);
  await all(work, [["merge", "o1", "o2", "--output-dir", "joined"]]);
  expect(work.records("joined/trajectories/StudentHealthServices.jsonl")).toHaveLength(12);
  const scored = new Set(work.records<Keyed>("joined/scores.jsonl").map(({ id }) => id));
  expect(scored.size).toBe(12);
  const status = JSON.parse((await work.run(["status", "joined", "--json"])).stdout);
  expect(status.totals).toMatchObject({ planned: 12, done: 12 });
  const starts = work.records<{ type: string }>("joined/journal.jsonl").filter(({ type }) => type === "rollout-start");
  expect(starts).toHaveLength(12);
});

test("an unfinished share is merged as far as it came, and the merged run continues there", async () => {
  const work = workFolder();
  const share = (index: number) => single("--split", `${index}/2`, "--output-dir", `s${index}`);
  await all(work, [share(1), share(2), single("--output-dir", "whole")]);
  const file = "trajectories/StudentHealthServices.jsonl";
  // cut off in the middle of a rollout: its record and its end are missing, and the last line is torn
  const records = work.read(`s2/${file}`).trimEnd().split("\n");
  const { query_id } = JSON.parse(records[0] as string);
  const journal = work.read("s2/journal.jsonl").split("\n");
  const own = (line: string) => line.includes(JSON.stringify(query_id));
  const ends = journal.filter((line) => own(line) && line.startsWith('{"type":"rollout-end"'));
  const entries = journal.filter((line) => own(line) && line.startsWith('{"type":"entry-end"'));
  expect([ends.length, entries.length > 2]).toEqual([1, true]);
  const dropped = new Set([...ends, ...entries.slice(2)]);
  work.write("s2/journal.jsonl", `${journal.filter((line) => !dropped.has(line)).join("\n")}`);
  work.write(`s2/${file}`, `${records.slice(1).join("\n")}\n${records[0]?.slice(0, 50)}`);
  const { stdout } = await work.run(["merge", "s1", "s2", "--output-dir", "all"]);
  expect(stdout).toContain("1 rollouts of the shares are not finished");
  expect((await work.run(["status", "all"])).stdout).toMatch(/^all: stopped/);
  expect((await work.run(["resume", "all"])).stdout).toContain("continuing 1, starting 0");
  expect(work.canonical(`all/${file}`)).toEqual(work.canonical(`whole/${file}`));
});

test("failures are merged with their attempts", async () => {
  const work = prepared();
  await all(work, [multi("s1", "--split", "1/2", "--rollouts", "1")]);
  await all(work, [multi("s2", "--split", "2/2", "--rollouts", "1")]);
  const [first] = work.records<Keyed>("s2/iter1.jsonl");
  const failure = {
    ...{ id: first?.id, query_id: first?.id, rollout: 0, dataset: "questions" },
    attempt: 3,
    error: "no answer",
    kind: "server",
  };
  work.write(
    "s2/failures.jsonl",
    `${JSON.stringify({ ...failure, boundary: "infrastructure", entries: 0, at: "2026-01-01T00:00:00.000Z" })}\n`,
  );
  work.write("s2/iter1.jsonl", work.read("s2/iter1.jsonl").split("\n").slice(1).join("\n"));
  await all(work, [["merge", "s1", "s2", "--output-dir", "all"]]);
  expect(work.records("all/failures.jsonl")).toMatchObject([{ id: first?.id, attempt: 3 }]);
  expect(JSON.parse((await work.run(["status", "all", "--json"])).stdout)).toMatchObject({
    totals: { done: 7, failed: 1 },
  });
});

test("what is no run's shares is refused with its reason, and nothing is written", async () => {
  const work = prepared();
  const share = (index: number, ...more: string[]) =>
    multi(`s${index}`, "--split", `${index}/3`, "--rollouts", "1", ...more);
  await all(work, [share(1), share(2), share(3)]);
  await all(work, [multi("other", "--split", "3/3", "--rollouts", "1", "--seed", "7", "--max-steps", "5")]);
  await all(work, [multi("fourth", "--split", "3/4", "--rollouts", "1")]);
  cpSync(join(work.path, "s3"), join(work.path, "edited"), { recursive: true });
  const [line = "", ...others] = work.read("edited/iter1.jsonl").split("\n");
  const record = JSON.parse(line);
  delete record.metadata.timings.checksum;
  record.messages.at(-1).content = "Something else.";
  writeFileSync(join(work.path, "edited/iter1.jsonl"), [JSON.stringify(record), ...others].join("\n"));
  const before = work.names();
  const refusals: [string[], RegExp][] = [
    [["s1", "s3"], /^Share 2\/3 is missing\. .*--partial/],
    [["s2"], /^Shares 1\/3, 3\/3 are missing/],
    [
      ["s1", "s2", "other"],
      /different settings:\n {2}questions: max_steps_per_turn: \d+ → 5 \(other\)\n {2}questions: seed: 0 → 7 \(other\)/,
    ],
    [["s1", "s2", "fourth"], /not shares of one split: s1: 1\/3, s2: 2\/3, fourth: 3\/4/],
    [
      ["s1", "s2", "s3", "edited"],
      /q\d of questions is in .*s3\/iter1\.jsonl and in .*edited\/iter1\.jsonl, and the two differ/,
    ],
    [["s1", "s2", "./s1"], /^\.\/s1 is given twice/],
    [["s1", "s2", "nowhere"], /There is no folder nowhere/],
    [["s1", "s2", "."], /is not a run folder/],
  ];
  for (const [folders, reason] of refusals) {
    const { code, stderr, stdout } = await work.run(["merge", ...folders, "--output-dir", "all"]);
    expect([folders, code, stdout, stderr]).toEqual([folders, 2, "", expect.stringMatching(reason)]);
  }
  const there = await work.run(["merge", "s1", "s2", "s3", "--output-dir", "s1"]);
  expect(there).toMatchObject({ code: 2, stderr: expect.stringContaining("s1 is there already") });
  expect(work.names()).toEqual(before);
  // two copies of one share are no contradiction
  cpSync(join(work.path, "s3"), join(work.path, "copy"), { recursive: true });
  const { stdout } = await work.run(["merge", "s1", "s2", "s3", "copy", "--output-dir", "all"]);
  expect(stdout).toContain("8 records of 4 folders are in all");
  expect(JSON.parse((await work.run(["status", "all", "--json"])).stdout).totals).toMatchObject({
    planned: 8,
    done: 8,
  });
});

test("--partial merges the shares that are there, and a resume makes the others", async () => {
  const work = prepared();
  await all(work, [
    multi("s1", "--split", "1/3", "--rollouts", "2"),
    multi("s3", "--split", "3/3", "--rollouts", "2"),
    multi("whole", "--rollouts", "2"),
  ]);
  const { code, stdout } = await work.run(["merge", "s1", "s3", "--output-dir", "some", "--partial"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("Not there: share 2/3")]);
  await all(work, [["resume", "some", "--quiet"]]);
  expect(contents(work, "some", ["iter1.jsonl", "iter2.jsonl"])).toEqual(
    contents(work, "whole", ["iter1.jsonl", "iter2.jsonl"]),
  );
});

test("a folder that is being written to is refused, and a merge that is killed leaves no run behind", async () => {
  const work = prepared();
  await all(work, [multi("s1", "--split", "1/2", "--rollouts", "1"), multi("s2", "--split", "2/2", "--rollouts", "1")]);
  const lock = { host: "elsewhere", pid: 1, processStart: "", since: "2026-01-01T00:00:00.000Z" };
  work.write("s2/lock", JSON.stringify(lock));
  const used = await work.run(["merge", "s1", "s2", "--output-dir", "all"]);
  expect(used).toMatchObject({ code: 2, stderr: expect.stringContaining("s2 is in use by process 1 on elsewhere") });
  work.remove("s2/lock");

  // long enough to be killed while it is going on
  const start = work
    .read("s1/journal.jsonl")
    .split("\n")
    .find((line) => line.startsWith('{"type":"rollout-start"')) as string;
  const call = `${JSON.stringify({ type: "call-start", ...pick(JSON.parse(start)), callId: "c", key: "k".repeat(4000) })}\n`;
  writeFileSync(join(work.path, "s1/journal.jsonl"), `${work.read("s1/journal.jsonl")}${call.repeat(15_000)}`);
  const { child, finished } = work.start(["merge", "s1", "s2", "--output-dir", "all"]);
  await work.until("all.merging/journal.jsonl");
  child.kill("SIGKILL");
  await finished;
  expect([work.has("all"), work.has("all.merging/manifest.json")]).toEqual([false, false]);
  await all(work, [["merge", "s1", "s2", "--output-dir", "all"]]);
  expect(work.names().filter((name) => name.startsWith("all"))).toEqual(["all"]);
  expect(readFileSync(join(work.path, "all/journal.jsonl")).length).toBeGreaterThan(4000 * 15_000);
  expect(work.records("all/iter1.jsonl")).toHaveLength(8);
});

const pick = ({ dataset, queryId, rollout }: { dataset: string; queryId: string; rollout: number }) => ({
  dataset,
  queryId,
  rollout,
});
