// `rollout stats` as a user runs it: groups with headings, everything as JSON, and a page.
import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { line, writeRun } from "./support/export-records.ts";

test("stats prints groups, JSON without anything around it, and writes a page", async () => {
  const here = workFolder();
  const run = writeRun([line("q1", { score: 1 }), line("q2", { score: 0 })]);
  const { stdout } = await here.run(["stats", run, "--html", "stats.html"]);
  const headings = stdout.split("\n\n").map((group) => group.split("\n")[0]);
  expect(headings).toEqual([
    "records       2",
    "Datasets",
    "Lengths, per record",
    "Tokens (o200k_base), per record",
    "Shape",
    "Near-duplicates",
    "Tools",
    "called, but offered by no record: none",
    "wrote stats.html",
  ]);
  expect(stdout).toMatch(/tool results that are errors +2 of 6 \(33\.3 %\)/);
  expect(here.read("stats.html")).toContain("<h1>What is in rollout-export-");

  const json = await here.run(["stats", run, "--json", "--html", "stats.html"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ records: 2, tool_errors: { count: 2, of: 6 }, chains: { max: 1 } });
});

test("a page that cannot be written stops the command with its name", async () => {
  const here = workFolder();
  const { code, stderr } = await here.run(["stats", writeRun([line("q1")]), "--html", "missing/stats.html"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/missing\/stats\.html.*Cannot write the page/s);
});
