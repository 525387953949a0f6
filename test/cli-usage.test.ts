import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { PROGRAM, PROGRESS, workFolder } from "./support/cli.ts";
import { lines, planQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

/** The combination of all bundled domains: no domain is left whose tools could be the wrong ones. */
const OFFICES = ["cross", "--all", "--min-domains", "3"];

const WRONG: [title: string, args: string[], complaint: RegExp][] = [
  ["no command", [], /Usage: rollout/],
  ["an unknown command", ["rum"], /unknown command 'rum'[\s\S]*Did you mean run/],
  ["an unknown flag", ["single", "--all", "--limitt", "3"], /unknown option '--limitt'[\s\S]*Did you mean --limit/],
  ["run without a config", ["run"], /required option '-c, --config <file>'/],
  ["a config that is not there", ["run", "--config", "no.yml"], /There is no file no\.yml/],
  ["a config that is a folder", ["run", "--config", "."], /is a folder/],
  ["a stray word", ["run", "--config", "good.yml", "stray"], /too many arguments/],
  [
    "a dataset that the config lacks",
    ["run", "--config", "good.yml", "--dataset", "Other"],
    /no dataset "Other"; .*Stud/,
  ],
  ["a number that is none", ["single", "--all", "--limit", "some"], /'--limit <n>'.*whole number of at least 1/],
  ["no workers", ["single", "--all", "--max-workers", "0"], /whole number of at least 1/],
  ["a negative temperature", ["single", "--all", "--agent-temperature", "-1"], /number of at least 0/],
  ["an unknown mode", ["single", "--all", "--mode", "negative"], /Allowed choices are positive, wrong_tool, no_tool/],
  ["single without a choice", ["single"], /--all, or --domains/],
  ["a mistyped domain", ["single", "--domains", "StudentAcademicPortl"], /did you mean "StudentAcademicPortal"/],
  ["a combination of one", ["cross", "--domains", "StudentAcademicPortal"], /needs two domains or more/],
  ["too few domains asked for", ["cross", "--all", "--min-domains", "1"], /whole number of at least 2/],
  ["no combination that large", ["cross", "--all", "--min-domains", "9"], /no combinations with queries/],
  ["a dataset folder that is none", ["single", "--all", "--base-path", "."], /is not a dataset folder/],
  ["a scripted model that is none", ["single", "--all", "--agent-model", "scripted/agnt"], /scripted\/agent/],
  ["a knob that is none", ["single", "--all", "--agent-model", "scripted/agent?skil=1"], /no knob "skil"/],
  [
    "a model without provider",
    ["single", "--all", "--agent-model", "nowhere"],
    /"nowhere" is not in the model registry/,
  ],
  [
    "an unknown key",
    ["run", "--config", "unknown.yml"],
    /^unknown\.yml:2:1: unknown key "max_worker"; did you mean "max_workers"/,
  ],
  ["broken YAML", ["run", "--config", "broken.yml"], /^broken\.yml:\d+:\d+: this is not valid YAML/],
  ["a missing query file", ["run", "--config", "missing.yml"], /^missing\.yml:3:11: There is no query file no\.jsonl/],
  ["a bad query line", ["run", "--config", "bad-line.yml", ...SCRIPTED], /bad\.jsonl:2:\d+: .*not valid JSON/],
  [
    "wrong_tool without tools to offer",
    [...OFFICES, "--mode", "wrong_tool"],
    /:1: StudentA\w+: in mode wrong_tool there is nothing to offer for query "afh-001" \(and \d+ more\).* use mode no_tool/,
  ],
  [
    "a dry run of wrong_tool without tools to offer",
    [...OFFICES, "--mode", "wrong_tool", "--dry-run"],
    /nothing to offer for query "afh-001"/,
  ],
  ["a log file that is a folder", ["run", "--config", "log-folder.yml"], /log_file \.\/ is a folder/],
];

test("help is as wide as the terminal, and a hundred columns where there is none", async () => {
  const work = workFolder();
  const widest = async (COLUMNS: string) => {
    const { stdout } = await work.run(["run", "--help"], { env: { COLUMNS } });
    const flags = stdout.slice(0, stdout.indexOf("\nExamples:"));
    return Math.max(...flags.split("\n").map((line) => line.length));
  };
  const [narrow, wide, unknown] = await Promise.all([widest("72"), widest("200"), widest("")]);
  expect(narrow).toBeLessThanOrEqual(72);
  expect(unknown).toBeGreaterThan(80);
  expect(unknown).toBeLessThanOrEqual(100);
  expect(wide).toBeGreaterThan(100);
});

test("every wrong usage exits with 2, says what is wrong without a stack, and writes nothing", async () => {
  const work = workFolder();
  work.write("good.yml", "datasets: [StudentAcademicPortal]\n");
  work.write("unknown.yml", "datasets: [StudentAcademicPortal]\nmax_worker: 3\nlog_file: logs/x.log\n");
  work.write("broken.yml", "datasets:\n  a: [1\n  b: }\n");
  work.write("missing.yml", "datasets:\n  StudentAcademicPortal:\n    path: no.jsonl\nlog_file: logs/x.log\n");
  work.write("bad-line.yml", "datasets:\n  StudentAcademicPortal:\n    path: bad.jsonl\nlog_file: logs/x.log\n");
  work.write("bad.jsonl", `${lines([planQuery("q1", [])])}{"id": oops}\n`);
  work.write("log-folder.yml", "datasets: [StudentAcademicPortal]\nlog_file: ./\n");
  const before = work.names();
  const queue = WRONG.values();
  const answers: unknown[] = [];
  const worker = async () => {
    for (const [title, args, complaint] of queue) {
      const { code, stderr, stdout } = await work.run(args);
      answers.push({ title, code, stdout, said: complaint.test(stderr) || stderr, stack: /\n\s+at /.test(stderr) });
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  expect(answers).toHaveLength(WRONG.length);
  for (const answer of answers) expect(answer).toMatchObject({ code: 2, stdout: "", said: true, stack: false });
  expect(work.names()).toEqual(before);
});

test("a reader that goes away ends the program quietly", async () => {
  const work = workFolder();
  const read = async (args: string) => {
    const shell = spawn("sh", ["-c", `"$0" "$1" ${args} | head -n 1`, process.execPath, PROGRAM], { cwd: work.path });
    let [stdout, stderr] = ["", ""];
    shell.stdout.on("data", (text) => {
      stdout += text;
    });
    shell.stderr.on("data", (text) => {
      stderr += text;
    });
    await new Promise((resolve) => shell.on("close", resolve));
    return { lines: stdout.split("\n").length - 1, stderr: stderr.replace(PROGRESS, "") };
  };
  const runs = ["single --list --verbose", "single --all --verbose --limit 5", "models list", "--help"];
  // a run that is cut off says how it continues
  const quiet = /^(Stopping: [^\n]+\nTo continue later: [^\n]+\n)?$/;
  for (const run of runs) expect(await read(run)).toEqual({ lines: 1, stderr: expect.stringMatching(quiet) });
  expect((await read("2>&1")).lines).toBe(1);
});

test("a run cut off by a reader that went away exits as interrupted and can be resumed", async () => {
  const work = workFolder();
  const { child, finished } = work.start(["single", "--all", "--verbose", "--output-dir", "run"]);
  child.stdout?.once("data", () => child.stdout?.destroy());
  expect((await finished).code).toBe(130);
  const resumed = await work.run(["single", "--all", "--output-dir", "run", "--quiet"]);
  expect(resumed).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("an unwritable run folder is refused before anything is done", async () => {
  const work = workFolder();
  work.write("taken", "");
  const { code, stderr } = await work.run(["single", "--all", "--output-dir", "taken/run"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^Cannot write to .*taken\/run/);
  expect(work.names()).toEqual(["taken"]);
});

test("control characters and bidi marks from texts, ids and bad files are not printed raw", async () => {
  const work = workFolder();
  const evil = "\u001b]0;owned\u0007\u001b[2J\u202e";
  writeShop(work, {
    queries: [planQuery(`q\u001b[31m`, [{ say: `Hi ${evil}there` }, { user: `Bye ${evil} ###STOP###` }])],
  });
  const run = ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED];
  const verbose = await work.run([...run, "--verbose"]);
  const printed = await work.run([...run, "--output-dir", "again"]);
  work.write("shop/queries/Domain1.jsonl", `{"id": ${evil}}\n`);
  const refused = await work.run([...run, "--output-dir", "bad"]);
  expect([verbose.code, printed.code, refused.code]).toEqual([0, 0, 2]);
  expect(verbose.stdout).toContain("there");
  expect(printed.stdout).toContain("there");
  for (const { stdout, stderr } of [verbose, printed, refused])
    for (const control of ["\u001b", "\u0007", "\u202e"]) expect(stdout + stderr).not.toContain(control);
  expect(work.records("outputs/single/trajectories/Domain1.jsonl")[0]?.messages.at(-2)?.content).toContain(evil);
});
