// Commands on damaged runs: every one ends with a message and a documented code, none with a stack, and a resume leaves
// exactly one good record of each rollout.
import { cpSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { main } from "../src/cli/main.ts";

const DATASET = "StudentHealthServices";
const RECORDS = `trajectories/${DATASET}.jsonl`;
const IDS = ["shs-001", "shs-001#1", "shs-002", "shs-002#1"];
const root = mkdtempSync(join(tmpdir(), "rollout-damage-"));
const base = join(root, "base");
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Ended = { code: number; stdout: string; stderr: string };

/** The program in this process: a process for each of hundreds of commands would take minutes. */
async function rollout(...args: string[]): Promise<Ended> {
  const ended = { code: 0, stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => ({
    on: () => {},
    write: (text: string) => {
      ended[name] += text;
      return true;
    },
  });
  const host = {
    ...{ stdout: stream("stdout"), stderr: stream("stderr"), env: {}, argv: ["node", "rollout", ...args] },
    ...{ on: () => {}, off: () => {}, once: () => {}, exit: () => {}, chdir: () => {}, exitCode: undefined },
    ...{ emit: () => true, kill: () => true, pid: process.pid },
  };
  await main(host as unknown as Parameters<typeof main>[0]);
  return { ...ended, code: host.exitCode ?? 0 };
}

const failure = {
  id: "shs-009",
  query_id: "shs-009",
  rollout: 0,
  dataset: DATASET,
  attempt: 1,
  error: "gone",
  kind: "server",
};

beforeAll(async () => {
  const run = ["single", "--domains", DATASET, "--bundled", "--limit", "2", "--rollouts", "2", "--eval", "--quiet"];
  expect(await rollout(...run, "--output-dir", base)).toEqual({ code: 0, stdout: "", stderr: "" });
  writeFileSync(join(base, "failures.jsonl"), `${JSON.stringify(failure)}\n`);
});

let copies = 0;

/** A copy of the run with one file changed. */
function damaged(file: string, change: (bytes: Buffer) => Buffer): string {
  const run = join(root, `copy-${++copies}`);
  cpSync(base, run, { recursive: true });
  const manifest = join(run, "manifest.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replaceAll(base, run));
  writeFileSync(join(run, file), change(readFileSync(join(run, file))));
  return run;
}

const readers = (run: string) => [
  ["status", run],
  ["status", run, "--verify"],
  ["show", run],
  ["show", run, "shs-001"],
  ["show", run, "shs-002#1", "--json"],
  ["eval", run],
  ["report", run, "--out", `${run}.report`],
  ["export", run, "--format", "openai", "--out", `${run}.out.jsonl`, "--all"],
  ["stats", run],
  ["label", run, "--out", `${run}.labelled.jsonl`],
  ["replay", run],
  ["sort", run],
];

function expectPlainEnd({ code, stderr }: Ended, command: string[]): void {
  expect([0, 2, 3], `${command.join(" ")}: ${stderr}`).toContain(code);
  expect(stderr).not.toMatch(/This is a bug|^ +at /m);
  if (code === 2) expect(stderr).not.toBe("");
}

function idsIn(run: string): string[] {
  const lines = readFileSync(join(run, RECORDS), "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line).id as string).sort();
}

const FILES = [RECORDS, "journal.jsonl", "failures.jsonl", "prompts.jsonl", "scores.jsonl", "manifest.json"];

test("random bytes changed, put in or taken out anywhere", { timeout: 120_000 }, async () => {
  const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const piece = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
    fc
      .constantFrom("\n", "\0\0\0\0", "null", "{}", '"', "9", "}\n{", "\ufeff", "\r\n")
      .map((text) => Buffer.from(text)),
  );
  const change = fc.record({ at: place, taken: fc.constantFrom(0, 1, 1, 30, 3000), put: piece });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...FILES),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      async (file, changes) => {
        const run = damaged(file, (bytes) =>
          changes.reduce((whole, { at, taken, put }) => {
            const start = Math.floor(at * whole.length);
            return Buffer.concat([whole.subarray(0, start), put, whole.subarray(start + taken)]);
          }, bytes),
        );
        for (const command of readers(run)) expectPlainEnd(await rollout(...command), command);
        const resumed = await rollout("resume", run, "--quiet");
        expectPlainEnd(resumed, ["resume"]);
        if (file === "manifest.json") return;
        expect(resumed.code).toBe(0);
        expect(idsIn(run)).toEqual(IDS);
        expect((await rollout("status", run, "--verify")).stdout).toContain("4 records good, 0 damaged lines");
      },
    ),
    { numRuns: 25 },
  );
});

test("those who only look leave damaged lines out, say which and why, and change nothing", async () => {
  const run = damaged(RECORDS, (bytes) => {
    const [first, ...others] = bytes.toString("utf8").split("\n");
    return Buffer.from([first, "{half", ...others].join("\n"));
  });
  const before = readFileSync(join(run, RECORDS));
  const said = /StudentHealthServices\.jsonl: 1 damaged line left out \(line 2 is not valid JSON\)/;
  for (const command of [
    ["show", run],
    ["eval", run],
    ["report", run, "--out", `${run}.report`],
  ]) {
    const { code, stderr } = await rollout(...command);
    expect([code, stderr.match(new RegExp(said, "g"))?.length], command[0]).toEqual([0, 1]);
  }
  const exported = await rollout("export", run, "--format", "openai", "--out", `${run}.jsonl`, "--all");
  expect(exported.stdout).toContain("5 records in = 4 used");
  expect(exported.stdout).toMatch(/left out: is not valid JSON .*:2\)/);
  expect(readFileSync(join(run, RECORDS))).toEqual(before);
});

test("status --verify names every damaged line, and exits with 3; a record without a checksum is none", async () => {
  const whole = await rollout("status", base, "--verify", "--json");
  expect(whole.code).toBe(0);
  expect(JSON.parse(whole.stdout).verified).toEqual({ good: 4, without_checksum: 0, damaged: [] });
  const run = damaged(RECORDS, (bytes) => {
    const [first = "", second = "", ...others] = bytes.toString("utf8").split("\n");
    const bare = first.replace(/,"checksum":"\w+"/, "");
    return Buffer.from([bare, second.replace('"content":"', '"content":"x'), ...others].join("\n"));
  });
  writeFileSync(join(run, "failures.jsonl"), "no\n");
  const { code, stdout } = await rollout("status", run, "--verify");
  expect(code).toBe(3);
  expect(stdout).toContain("verified: 2 records good, 1 without a checksum that parse and fit, 2 damaged lines");
  expect(stdout).toContain(`${RECORDS}:2: does not match its checksum`);
  expect(stdout).toContain("failures.jsonl:1: is not valid JSON");
  const exported = await rollout("export", run, "--format", "openai", "--out", `${run}.jsonl`, "--all");
  expect(exported.stdout).toContain("note: changed since it was written: its checksum does not match");
});

test("whatever stands in a lock that nobody has touched for a while, it is taken over", async () => {
  for (const text of [
    "",
    "\0\0\0",
    "{",
    "[]",
    '{"host": 7, "pid": "x"}',
    '{"host": "h", "pid": 0, "processStart": ""}',
  ]) {
    const run = damaged("manifest.json", (bytes) => bytes);
    writeFileSync(join(run, "lock"), text);
    utimesSync(join(run, "lock"), new Date(0), new Date(0));
    expect(await rollout("resume", run, "--quiet")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect((await rollout("status", run)).code).toBe(0);
  }
});

test("a manifest that is not whole is named, with what to do", async () => {
  for (const [text, told] of [
    ["{", "is not valid JSON"],
    ['{"format_version": 2, "config": {}, "datasets": null}', '"datasets" is missing'],
    ['{"format_version": 2, "config": {}, "datasets": {"D": {"output": 7}}}', 'dataset "D" is not whole'],
  ] as const) {
    const run = damaged("manifest.json", () => Buffer.from(text));
    for (const command of [...readers(run), ["resume", run]]) {
      const { code, stderr } = await rollout(...command);
      expect(code, command[0]).toBe(2);
      expect(stderr).toContain(told);
      expect(stderr).toContain("run the command that began the run again");
    }
  }
});
