// The commands that make datasets, as a user runs them: a scripted run, labelled, described, exported and validated.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";

const RUN = [
  "single",
  "--bundled",
  "--domains",
  "StudentHealthServices",
  "--limit",
  "6",
  "--output-dir",
  "run",
  "--quiet",
];

test("a run becomes a dataset: counts add up, files validate, and scripted records need a word", async () => {
  const here = workFolder();
  expect((await here.run([...RUN, "--agent-model", "scripted/agent?skill=0.5"])).code).toBe(0);

  const refused = await here.run(["export", "run", "--format", "openai", "--out", "none.jsonl"]);
  expect(refused.stdout).toContain("6 records in = 0 used for 0 rows + 6 left out");
  expect(refused.stdout).toContain("left out: made by scripted models");
  expect(refused.stdout).toContain("There are no rows, so nothing was written.");
  expect(refused.code).toBe(3);
  expect(here.has("none.jsonl")).toBe(false);

  const json = ["--include-scripted", "--json"];
  const split = await here.run([
    "export",
    "run",
    "--format",
    "openai",
    "--out",
    "data",
    "--split",
    "train=0.5,valid=0.5",
    ...json,
  ]);
  expect(JSON.parse(split.stdout)).toMatchObject({ in: 6, out: 6, left_out: {} });
  expect(here.read("data/README.md")).toContain("scripted models");
  const rows = [...here.records("data/train.jsonl"), ...here.records("data/valid.jsonl")];
  expect(rows).toHaveLength(6);

  const parquet = await here.run(["export", "run", "--format", "verl-sft", "--out", "sft.parquet", ...json]);
  expect(parquet.code).toBe(0);
  expect((await here.run(["validate", "sft.parquet", "--format", "verl-sft"])).stdout).toMatch(/^\d+ rows: 0 errors/m);

  const labelled = await here.run(["label", "run", "--out", "labelled.jsonl"]);
  expect(labelled.stdout).toContain("6 records in = 6 used for 6 rows + 0 left out");
  const again = await here.run(["export", "labelled.jsonl", "--format", "openai", "--out", "again.jsonl", ...json]);
  expect(JSON.parse(again.stdout)).toMatchObject({ in: 6, out: 6 });
  expect(here.records("again.jsonl")).toHaveLength(6);

  const stats = await here.run(["stats", "run"]);
  expect(stats.stdout).toMatch(/records\s+6/);
  expect(stats.stdout).toContain("never used: ");
});

test("ended, solved and unscored are three things, and an unscored run is told what to do", async () => {
  const here = workFolder();
  expect((await here.run([...RUN, "--agent-model", "scripted/agent?skill=0.5"])).code).toBe(0);
  const scripted = ["--format", "openai", "--include-scripted"];

  const old = await here.run(["export", "run", ...scripted, "--out", "ended.jsonl", "--success-only"]);
  expect(old.stderr).toBe(
    "--success-only is now --ended; it keeps records that came to a regular end, not solved ones: for those use --solved\n",
  );
  const ended = await here.run(["export", "run", ...scripted, "--out", "ended.jsonl", "--ended"]);
  expect(ended).toEqual({ ...old, stderr: "" });
  expect((await here.run(["export", "--help"])).stdout).not.toContain("--success-only");

  for (const choice of [["--solved"], ["--min-score", "0"]]) {
    const refused = await here.run(["export", "run", ...scripted, "--out", "none.jsonl", ...choice]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`run has no scores, which ${choice[0]} needs. Run: rollout eval run`);
  }
  expect(here.has("none.jsonl")).toBe(false);
  expect((await here.run(["stats", "run"])).stdout).toMatch(/ended +\d.*\nsolved +unknown .*\nunscored +6 \(100 %\)/);

  expect((await here.run(["eval", "run", "--quiet"])).code).toBe(0);
  const solved = await here.run(["export", "run", ...scripted, "--out", "solved.jsonl", "--solved", "--json"]);
  const { out, left_out } = JSON.parse(solved.stdout);
  expect(out).toBeGreaterThan(0);
  expect(left_out["not solved"]).toBe(6 - out);
  expect((await here.run(["stats", "run"])).stdout).toContain(`${out} of 6 scored, mean score `);
});

test("a file with faults ends with 2 and names their lines; wrong words end with 2 too", async () => {
  const here = workFolder();
  const good = {
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Yes?" },
    ],
  };
  here.write("rows.jsonl", `${JSON.stringify(good)}\n{"messages": []}\n`);
  const checked = await here.run(["validate", "rows.jsonl", "--format", "openai"]);
  expect(checked.code).toBe(2);
  expect(checked.stdout).toContain("rows.jsonl:2:");
  expect(checked.stdout).not.toContain("rows.jsonl:1:");
  expect((await here.run(["export", "rows.jsonl", "--format", "opnai", "--out", "x.jsonl"])).code).toBe(2);
  expect((await here.run(["export", "nowhere", "--format", "openai", "--out", "x.jsonl"])).stderr).toContain(
    "There is no file or folder nowhere",
  );
  expect(here.names()).toEqual(["rows.jsonl"]);
});

test("the ground truth for reinforcement learning is the executed plan, whatever the rollouts did", async () => {
  const here = workFolder();
  const run = [...RUN, "--agent-model", "scripted/agent?skill=0.2", "--rollouts", "2", "--eval"];
  expect((await here.run(run)).code).toBe(0);
  const made = await here.run(["export", "run", "--format", "verl-rl", "--out", "rl", "--include-scripted", "--json"]);
  expect(JSON.parse(made.stdout)).toMatchObject({ in: 12, out: 6, notes: { "ground truth: plan": 6 } });
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(here.path, "rl/train.parquet")) });
  const queries = new URL("../src/domains/bundled/queries/StudentHealthServices.jsonl", import.meta.url);
  const lines = readFileSync(queries, "utf8").trim().split("\n");
  const plans = new Map(
    lines.map((text) => JSON.parse(text)).map(({ id, task_info }) => [id, JSON.stringify(task_info)]),
  );
  for (const { query_id, reward_model } of rows) {
    const { calls, from } = JSON.parse(reward_model.ground_truth);
    expect(from).toBe("plan");
    expect(calls.length).toBeGreaterThan(0);
    for (const { name, arguments: given } of calls) {
      expect(plans.get(query_id)).toContain(name.split("__").at(-1));
      expect(JSON.stringify(given)).not.toContain("{{");
    }
  }

  // without its dataset nothing is known but the records: the best rollout, or none that failed
  await here.run(["label", "run", "--out", "labelled.jsonl"]);
  const bare = await here.run([
    "export",
    "labelled.jsonl",
    "--format",
    "verl-rl",
    "--out",
    "b",
    "--include-scripted",
    "--json",
  ]);
  const counts = JSON.parse(bare.stdout);
  const scored = here.records<{ query_id: string; solved?: boolean }>("labelled.jsonl");
  const solved = new Set(scored.filter((record) => record.solved).map(({ query_id }) => query_id));
  expect(counts.out).toBe(solved.size);
  expect(solved.size).toBeLessThan(6);
});

test("rows by turn, by reply and by dialogue teach the same tokens; a template tells what is shown", async () => {
  const here = workFolder();
  expect((await here.run(RUN)).code).toBe(0);
  const trained = async (...flags: string[]) => {
    const out = `out-${flags.at(-1)}`;
    const made = await here.run([
      "export",
      "run",
      "--format",
      "axolotl",
      "--include-scripted",
      "--out",
      out,
      "--json",
      ...flags,
    ]);
    return JSON.parse(made.stdout) as { out: number; trained: { tokens: object } };
  };
  const [turn, step, whole] = [
    await trained("--unroll", "turn"),
    await trained("--unroll", "step"),
    await trained("--unroll", "dialogue"),
  ];
  expect(whole.out).toBe(6);
  expect(turn.out).toBeGreaterThan(whole.out);
  expect(step.out).toBeGreaterThan(turn.out);
  expect(turn.trained).toEqual(whole.trained);
  expect(step.trained).toEqual(whole.trained);

  const plain = new URL("../examples/templates/plain.jinja", import.meta.url).pathname;
  const validate = (folder: string) =>
    here.run(["validate", `${folder}/train.jsonl`, "--format", "axolotl", "--template", plain]);
  const good = await validate("out-turn");
  expect(good.stdout).toContain("every row is shown and learnt whole");
  expect(good.code).toBe(0);
  const bad = await validate("out-dialogue");
  expect(bad.stdout).toContain("behind the template, reasoning in the loss is not rendered");
  expect(bad.stdout).toMatch(/\d+ times; also in line 2, 3/);
  expect(bad.code).toBe(2);
  expect((await here.run(["stats", "run", "--template", plain])).stdout).toContain(
    "every row is shown and learnt whole",
  );
  const none = await here.run(["export", "run", "--format", "ms-swift", "--out", "x", "--template", plain]);
  expect(none.stderr).toContain("its trainer has templates of its own");
  const missing = await here.run([
    "validate",
    "out-turn/train.jsonl",
    "--format",
    "axolotl",
    "--template",
    "Qwen/Qwen0",
  ]);
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain("Qwen/Qwen0");
});

test("a key of the environment never leaves in a dataset, nor in the message about it", async () => {
  const here = workFolder();
  const record = {
    id: "a",
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Use plain-words-key" },
    ],
  };
  here.write("rows.jsonl", `${JSON.stringify(record)}\n`);
  const stopped = await here.run(["export", "rows.jsonl", "--format", "openai", "--out", "x.jsonl"], {
    env: { OPENAI_API_KEY: "plain-words-key" },
  });
  expect(stopped.code).toBe(2);
  expect(stopped.stderr).toContain("rows.jsonl:1: a text looks like a key of this environment");
  expect(stopped.stderr).not.toContain("plain-words-key");
  expect(here.names()).toEqual(["rows.jsonl"]);
});

test("the examples of transforms run as they stand", async () => {
  const here = workFolder();
  expect((await here.run(RUN)).code).toBe(0);
  here.write("other.jsonl", '{"id": "x", "question": "Why?", "answer": "Because."}\n');
  const results: { [name: string]: unknown } = {};
  for (const name of ["unify-sources", "add-fields", "filter", "merge"]) {
    const file = new URL(`../examples/transforms/${name}.ts`, import.meta.url).pathname;
    const made = await here.run([
      "export",
      "run",
      "other.jsonl",
      "--format",
      "openai",
      "--out",
      `${name}.jsonl`,
      "--include-scripted",
      "--json",
      "--transform",
      file,
    ]);
    expect(made.stderr).toBe("");
    results[name] = JSON.parse(made.stdout).out;
  }
  expect(results).toEqual({ "unify-sources": 7, "add-fields": 6, filter: 6, merge: 6 });
  expect(here.records<{ data_source: string }>("add-fields.jsonl")[0]?.data_source).toBe("StudentHealthServices");
});
