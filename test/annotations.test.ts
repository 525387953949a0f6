// Annotations beyond the page: many processes writing at once, a kill in the middle, and what exports, reports and `show`
// make of them.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnnotationBook, type AnnotationRecord, appendAnnotation } from "../src/runs/index.ts";
import { makeRun } from "./support/annotated-run.ts";
import { type Finished, WorkFolder } from "./support/cli.ts";

const DATASET = "StudentHealthServices";
const root = mkdtempSync(join(tmpdir(), "rollout-annotations-"));
const work = new WorkFolder(root);
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(() => makeRun(join(root, "base"), "--eval", "--agent-model", "scripted/agent?skill=0.5"));

let copies = 0;
function copyRun(): string {
  const name = `run-${++copies}`;
  cpSync(join(root, "base"), join(root, name), { recursive: true });
  return name;
}

type Words = Partial<Pick<AnnotationRecord, "verdict" | "tags" | "note" | "message">>;

function say(run: string, by: string, id: string, words: Words): void {
  const [queryId = "", number = "0"] = id.split("#");
  const key = { id, query_id: queryId, rollout: Number(number), dataset: DATASET };
  appendAnnotation(join(root, run), { ...key, by, at: "2026-01-01T00:00:00.000Z", ...words });
}

const RUNS = fileURLToPath(new URL("../dist/runs/index.js", import.meta.url));

/** Another process that annotates rollout after rollout, as fast as it can. */
function startWriter(folder: string, by: string, lines: number) {
  const script = `
    const { appendAnnotation } = await import(process.argv[1]);
    const [folder, by, lines] = process.argv.slice(2);
    for (let n = 0; n < Number(lines); n++)
      appendAnnotation(folder, { id: "q" + n, query_id: "q" + n, rollout: 0, dataset: "D", by, at: "now", verdict: "accept",
        note: by.repeat(5000) });`;
  const args = ["--input-type=module", "-e", script, RUNS, folder, by, String(lines)];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  return { child, ended: new Promise((resolve) => child.once("exit", resolve)) };
}

test("processes that annotate at once lose nothing and tear nothing", async () => {
  const folder = mkdtempSync(join(root, "many-"));
  const writers = ["a", "b", "c"].map((by) => startWriter(folder, by, 150));
  await Promise.all(writers.map(({ ended }) => ended));
  const book = new AnnotationBook(folder);
  expect(book.damage).toBeUndefined();
  expect(book.remarks.size).toBe(150);
  for (const remarks of book.remarks.values()) expect(remarks.map(({ by }) => by).sort()).toEqual(["a", "b", "c"]);
  expect(book.read(JSON.stringify(["D", "q149", 0])).map(({ note }) => note?.length)).toEqual([5000, 5000, 5000]);
});

test("kill -9 while annotating leaves what was said readable, and the next words are read", async () => {
  const folder = mkdtempSync(join(root, "killed-"));
  const file = join(folder, "annotations.jsonl");
  for (let round = 0; round < 5; round++) {
    const before = existsSync(file) ? readFileSync(file).length : 0;
    const { child, ended } = startWriter(folder, `w${round}`, 1e6);
    const other = startWriter(folder, `o${round}`, 20);
    while (!existsSync(file) || readFileSync(file).length < before + 300_000)
      await new Promise((resolve) => setTimeout(resolve, 2));
    child.kill("SIGKILL");
    await Promise.all([ended, other.ended]);
    const book = new AnnotationBook(folder);
    expect(book.remarksOn(JSON.stringify(["D", "q19", 0])).some(({ by }) => by === `o${round}`)).toBe(true);
    expect(book.remarksOn(JSON.stringify(["D", "q0", 0])).some(({ by }) => by === `w${round}`)).toBe(true);
  }
});

/** Two rollouts on which ann and bob agree, one on which they do not, one that nobody judged. */
function annotatedRun(): string {
  const run = copyRun();
  say(run, "ann", "shs-001", { verdict: "accept", tags: ["polite"] });
  say(run, "bob", "shs-001", { verdict: "reject" });
  say(run, "bob", "shs-001", { verdict: "accept", note: "on second thoughts" });
  say(run, "ann", "shs-001#1", { verdict: "reject" });
  say(run, "bob", "shs-001#1", { verdict: "reject", tags: ["wrong-date"] });
  say(run, "ann", "shs-002", { verdict: "accept" });
  say(run, "bob", "shs-002", { verdict: "unsure" });
  say(run, "ann", "shs-002#1", { message: 0, verdict: "reject", tags: ["odd"], note: "\u001b[31mred" });
  say(run, "ann", "gone-1", { verdict: "accept" });
  return run;
}

type Exported = { in: number; used: number; left_out: { [reason: string]: number }; notes: { [note: string]: number } };

async function exported(run: string, ...flags: string[]): Promise<Exported & { ids: string[] }> {
  const out = `${run}-out-${++copies}.jsonl`;
  const args = ["export", run, "--format", "jsonl", "--out", out, "--include-scripted", "--json", ...flags];
  const { code, stdout, stderr } = await work.run(args);
  expect([stderr, code === 0 || code === 3]).toEqual(["", true]);
  const ids = work.has(out) ? work.records<{ id: string }>(out).map(({ id }) => id) : [];
  return { ...(JSON.parse(stdout) as Exported), ids: ids.sort() };
}

test("an export chooses by verdicts on which all annotators agree, and counts those on which they do not", async () => {
  const run = annotatedRun();
  expect(await exported(run, "--annotated", "accept")).toMatchObject({
    ids: ["shs-001"],
    ...{ in: 4, used: 1 },
    left_out: { "annotators disagree": 1, "annotated: reject": 1, "not annotated": 1 },
  });
  expect((await exported(run, "--annotated", "accept,reject")).ids).toEqual(["shs-001", "shs-001#1"]);
  expect(await exported(run, "--annotated", "any")).toMatchObject({
    ids: ["shs-001", "shs-001#1", "shs-002"],
    left_out: { "not annotated": 1 },
    notes: { "annotators disagree": 1 },
  });
  expect((await exported(run, "--annotated", "mixed")).ids).toEqual(["shs-002"]);
  expect((await exported(run, "--annotated", "none", "--all")).ids).toEqual(["shs-002#1"]);
  expect((await exported(run, "--annotated", "accept", "--annotator", "ann")).ids).toEqual(["shs-001", "shs-002"]);
  expect((await exported(run, "--annotated", "unsure", "--annotator", "bob")).ids).toEqual(["shs-002"]);
  expect((await exported(run, "--all", "--tags", "polite")).ids).toEqual(["shs-001"]);
  expect((await exported(run, "--all", "--tag", "odd")).ids).toEqual(["shs-002#1"]);
  expect((await exported(run, "--all", "--tag", "polite", "--annotator", "bob")).ids).toEqual([]);
  expect((await exported(run, "--annotated", "any", "--tag", "!wrong-date")).ids).toEqual(["shs-001", "shs-002"]);
});

test("what people judged replaces the defaults, and without --annotated nothing changes", async () => {
  const run = copyRun();
  const before = await exported(run);
  const failed = Object.entries(before.left_out).find(([reason]) => reason.startsWith("failed its checks"));
  expect(failed?.[1]).toBeGreaterThan(0); // otherwise this test shows nothing
  for (const id of ["shs-001", "shs-001#1", "shs-002", "shs-002#1"]) say(run, "ann", id, { verdict: "accept" });
  const { files: _, ...after } = (await exported(run)) as Exported & { files?: string[]; ids: string[] };
  expect([after.ids, after.left_out]).toEqual([before.ids, before.left_out]);
  expect((await exported(run, "--annotated", "accept")).ids).toHaveLength(4);
  expect((await exported(run, "--annotated", "accept", "--solved")).ids).toEqual(before.ids);
});

test("names that nobody has and verdicts that do not exist are refused", async () => {
  const run = annotatedRun();
  const refused = (...flags: string[]): Promise<Finished> =>
    work.run(["export", run, "--format", "jsonl", "--out", "none.jsonl", ...flags]);
  expect(await refused("--annotator", "boob")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("bob"),
  });
  expect((await refused("--annotated", "acept")).stderr).toContain('no annotation "acept"; did you mean "accept"');
  expect(work.has("none.jsonl")).toBe(false);
});

test("a report counts verdicts by annotator and says how far they agree, as text, JSON and page", async () => {
  const run = annotatedRun();
  say(run, "<i>eve", "shs-002", { verdict: "accept" });
  const { code, stdout } = await work.run(["report", run]);
  expect(code).toBe(0);
  expect(stdout).toContain("3 rollouts with a verdict of people: 1 accept, 1 reject, 0 unsure, 1 mixed.");
  expect(stdout).toContain("Annotated, but not in the run: 1.");
  expect(stdout).toMatch(/^annotator +judged +accept +reject +unsure +messages +notes$/m);
  expect(stdout).toMatch(/^ann +3 +2 +1 +0 +1 +1$/m);
  // agreed 2 of 3; chance (2·1 + 1·1) / 9 = 1/3: (2/3 - 1/3) / (2/3)
  expect(stdout).toContain("ann and bob agree on 2 of 3 that both judged: Cohen's kappa 0.50.");
  expect(stdout).toContain("<i>eve and ann agree on 1 of 1 that both judged: kappa is not defined");
  expect(stdout).toContain("tags: odd 1, polite 1, wrong-date 1");
  const report = JSON.parse(work.read(`${run}/report.json`)) as { annotations: object };
  expect(report.annotations).toEqual({
    verdicts: { accept: 1, reject: 1, unsure: 0, mixed: 1 },
    rollouts: 3,
    annotators: [
      { annotator: "<i>eve", accept: 1, reject: 0, unsure: 0, notes: 0, messages: 0 },
      { annotator: "ann", accept: 2, reject: 1, unsure: 0, notes: 1, messages: 1 },
      { annotator: "bob", accept: 1, reject: 1, unsure: 1, notes: 1, messages: 0 },
    ],
    tags: ["odd", "polite", "wrong-date"].map((tag) => ({ tag, rollouts: 1 })),
    agreement: [
      { annotators: ["<i>eve", "ann"], rollouts: 1, agreed: 1, kappa: null },
      { annotators: ["<i>eve", "bob"], rollouts: 1, agreed: 0, kappa: 0 },
      { annotators: ["ann", "bob"], rollouts: 3, agreed: 2, kappa: 0.5 },
    ],
    unknown: 1,
  });
  const html = work.read(`${run}/report.html`);
  expect(html).toContain("<h2>Annotations</h2>");
  expect(html).toContain("<td>&lt;i&gt;eve</td>");
  expect(html).not.toContain("<i>eve");
  const both = await work.run(["report", run, copyRun(), "--out", "both"]);
  expect(both.stdout).toContain(`${run}:\n3 rollouts with a verdict of people`);
  expect((await work.run(["report", copyRun()])).stdout).not.toContain("verdict of people");
});

test("show prints what people said about a rollout, without their control characters", async () => {
  const run = annotatedRun();
  const { stdout } = await work.run(["show", run, "shs-001"]);
  expect(stdout).toMatch(/^ accept {2}by ann, tags polite, 2026-01-01T00:00:00\.000Z$/m);
  expect(stdout).toMatch(/^ accept {2}by bob, 2026-01-01T00:00:00\.000Z\n {9}on second thoughts$/m);
  const other = (await work.run(["show", run, "shs-002#1"])).stdout;
  expect(other).toMatch(/^ reject {2}by ann, on message 0 \(user\), tags odd, .*\n {9}·\[31mred$/m);
});

test("damaged lines are named by every command that reads them, and a resume leaves the file alone", async () => {
  const run = annotatedRun();
  const file = `${run}/annotations.jsonl`;
  const before = `${work.read(file)}broken\n{"torn`;
  work.write(file, before);
  const named = "annotations.jsonl: 1 damaged line left out (line 10 is not valid JSON)";
  expect((await work.run(["show", run, "shs-001"])).stderr).toContain(named);
  expect((await work.run(["report", run])).stderr).toContain(named);
  const args = [
    "export",
    run,
    "--format",
    "jsonl",
    "--out",
    "damaged.jsonl",
    "--annotated",
    "any",
    "--include-scripted",
  ];
  expect((await work.run(args)).stderr).toContain(named);
  const verified = await work.run(["status", run, "--verify"]);
  expect([verified.code, verified.stdout]).toEqual([3, expect.stringContaining("annotations.jsonl")]);
  expect((await work.run(["resume", run, "--quiet"])).code).toBe(0);
  expect(work.read(file)).toBe(before);
});
