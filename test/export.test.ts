// The commands that make datasets, as a user runs them: a scripted run, labelled, described, exported and validated.
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
  expect((await here.run(["validate", "sft.parquet", "--format", "verl-sft"])).stdout).toMatch(/^\d rows: 0 errors/m);

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
