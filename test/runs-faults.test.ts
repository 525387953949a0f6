// Disks that fill up or refuse, and texts that break other people's readers.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { PROGRESS, untilStopping, workFolder } from "./support/cli.ts";
import { call, run, STOP, scripted, temporaryFolder } from "./support/play.ts";
import { itemQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const RUN = ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED];
const OUTPUT = "outputs/single/trajectories/Domain1.jsonl";
const FULL_DISK = fileURLToPath(new URL("./support/full-disk.mjs", import.meta.url));

test("a full disk pauses the run with one line for each file; it goes on by itself, and nothing is torn", async () => {
  const work = workFolder();
  writeShop(work, { queries: Array.from({ length: 12 }, (_, n) => itemQuery(`q${n}`)) });
  await work.run([...RUN, "--output-dir", "whole", "--quiet"]);
  work.write("full", "");
  const env = { NODE_OPTIONS: `--import ${FULL_DISK}`, FULL_WHILE: join(work.path, "full") };
  const { child, finished } = work.start([...RUN, "--max-workers", "4"], { env });
  await new Promise<void>((resolve) =>
    child.stdout?.on("data", (text: string) => text.includes("No space left") && resolve()),
  );
  work.remove("full");
  const { code, stdout } = await finished;
  expect(code).toBe(0);
  const told = stdout.split("\n").filter((line) => line.startsWith("No space left for"));
  expect(new Set(told).size).toBe(told.length);
  expect(stdout).toContain("There is room again");
  expect(work.canonical(OUTPUT)).toEqual(work.canonical("whole/trajectories/Domain1.jsonl"));
  expect(work.records("outputs/single/journal.jsonl").length).toBeGreaterThan(12);
});

test("a full disk that stays full does not keep Ctrl-C waiting for ever, and the run can be resumed", async () => {
  const work = workFolder();
  writeShop(work);
  work.write("full", "");
  const env = { NODE_OPTIONS: `--import ${FULL_DISK}`, FULL_WHILE: join(work.path, "full") };
  const { child, finished } = work.start(RUN, { env });
  await new Promise<void>((resolve) =>
    child.stdout?.on("data", (text: string) => text.includes("No space left") && resolve()),
  );
  child.kill("SIGINT");
  await untilStopping(child);
  child.kill("SIGINT");
  // the first may have been enough: the second then meets a process that no longer listens
  expect([130, "SIGINT"]).toContain((await finished).code ?? child.signalCode);
  work.remove("full");
  expect((await work.run([...RUN, "--quiet"])).code).toBe(0);
  expect(work.records(OUTPUT)).toHaveLength(3);
});

test("a disk that becomes read-only is named, waited for, and written to again without a gap", async () => {
  const work = workFolder();
  writeShop(work, { queries: Array.from({ length: 12 }, (_, n) => itemQuery(`q${n}`)) });
  await work.run([...RUN, "--output-dir", "whole", "--quiet"]);
  work.write("full", "EROFS");
  const env = { NODE_OPTIONS: `--import ${FULL_DISK}`, FULL_WHILE: join(work.path, "full") };
  const { child, finished } = work.start([...RUN, "--max-workers", "4"], { env });
  await new Promise<void>((resolve) =>
    child.stdout?.on("data", (text: string) => text.includes("became read-only: paused") && resolve()),
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  work.remove("full");
  const { code, stdout } = await finished;
  expect(code).toBe(0);
  expect(stdout).toContain("can be written again: going on");
  expect(work.canonical(OUTPUT)).toEqual(work.canonical("whole/trajectories/Domain1.jsonl"));
  expect(work.read("outputs/single/failures.jsonl")).toBe("");
});

test.each(["", "EROFS"])(
  "a run that waits for its disk (%s) leaves at the first Ctrl-C, and can be resumed",
  async (fault) => {
    const work = workFolder();
    writeShop(work);
    work.write("full", fault);
    const env = { NODE_OPTIONS: `--import ${FULL_DISK}`, FULL_WHILE: join(work.path, "full") };
    const { child, finished } = work.start(RUN, { env });
    await new Promise<void>((resolve) =>
      child.stdout?.on("data", (text: string) => text.includes("paused") && resolve()),
    );
    const started = performance.now();
    child.kill("SIGTERM");
    const { code, stderr } = await finished;
    expect([code, performance.now() - started < 20_000]).toEqual([130, true]);
    expect(stderr).not.toContain("bug");
    work.remove("full");
    expect((await work.run([...RUN, "--quiet"])).code).toBe(0);
    expect(work.records(OUTPUT)).toHaveLength(3);
  },
);

test("a disk that fails ends the run with one clear line, and a resume goes on from what was kept", async () => {
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("q1"), itemQuery("q2", "slow"), itemQuery("q3")] });
  work.write("slow", "");
  const env = { NODE_OPTIONS: `--import ${FULL_DISK}`, FULL_WHILE: join(work.path, "full") };
  const { finished } = work.start([...RUN, "--max-workers", "1"], { env });
  await work.until("waiting");
  work.write("full", "EIO");
  work.remove("slow");
  const { code, stderr } = await finished;
  expect(code).toBe(2);
  expect(stderr).toMatch(/The disk of .*\.jsonl fails \(EIO: i\/o error/);
  expect(stderr).not.toContain("bug");
  work.remove("full");
  expect((await work.run([...RUN, "--quiet"])).code).toBe(0);
  expect(work.records(OUTPUT).map(({ metadata }) => metadata.attempt)).toEqual([1, 1, 1]);
});

test("a log file on a full disk loses its lines with one note, and the run does not notice", async () => {
  const work = workFolder();
  writeShop(work);
  work.write("config.yml", "log_file: /dev/full\nlog_level: debug\ndatasets: {Domain1: {base_path: shop}}\n");
  const { code, stdout, stderr } = await work.run(["run", "--config", "config.yml", ...SCRIPTED]);
  expect(code).toBe(0);
  expect(stdout).toContain("3 rollouts");
  expect(stderr.replace(PROGRESS, "")).toMatch(/^log_file \/dev\/full cannot be written: ENOSPC.*; the run goes on\n$/);
});

test("a folder that cannot be written is found before anything is played", async () => {
  const work = workFolder();
  writeShop(work);
  work.write("taken", "a file");
  for (const args of [
    ["--output-dir", "taken"],
    ["--output-dir", "taken/run"],
  ]) {
    const { code, stdout, stderr } = await work.run([...RUN, ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Cannot write to");
  }
  work.write("config.yml", "datasets: {Domain1: {base_path: shop, output_path: taken/out.jsonl}}\n");
  const config = await work.run(["run", "--config", "config.yml", ...SCRIPTED]);
  expect(config.code).toBe(2);
  expect(config.stderr).toContain("Cannot write to");
});

test("an output file that two runs share has one writer at a time", async () => {
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("q1", "slow")] });
  work.write("slow", "");
  work.write("config.yml", "datasets: {Domain1: {base_path: shop, output_path: out.jsonl}}\n");
  const run = ["run", "--config", "config.yml", ...SCRIPTED];
  const { child, finished } = work.start([...run, "--output-dir", "one"]);
  await work.until("waiting");
  const { code, stderr } = await work.run([...run, "--output-dir", "two"]);
  expect(code).toBe(2);
  expect(stderr).toContain(`out.jsonl is in use by process ${child.pid}`);
  work.remove("slow");
  expect((await finished).code).toBe(0);
  expect(work.has("out.jsonl.lock")).toBe(false);
});

const ODD =
  "nul \u0000, half \ud800, lines \u2028 \u2029 \u0085 \v \f, feed \r\n, bidi \u202e, NaN 1.0 12345678901234567890";

/** Splits where Python itself would, which is at more characters than a newline. */
const READER = `
import json, sys
count = 0
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8", newline="").read()
    assert text.endswith("\\n"), path
    for line in text.splitlines():
        value = json.loads(line)
        if "trajectories" in path:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        count += 1
print(count)
`;

test("whatever stands in texts, arguments and errors, every line parses in Node and in Python", async () => {
  const folder = temporaryFolder();
  const odd = call(
    "find_student",
    `{"name": "${JSON.stringify(ODD).slice(1, -1)}", "n": 1.0, "id": 12345678901234567890}`,
  );
  const { records } = await run({
    config: { datasets: ["StudentAcademicPortal"], agent_model: "test/agent", user_model: "test/user" },
    folder,
    patch: { limit: 2 },
    models: {
      "test/agent": scripted({ ...odd, content: ODD, reasoning: ODD, opaque: { text: ODD } }, `${ODD}.`, ODD),
      "test/user": scripted(`Well then: ${ODD} Please go on.`, `Thanks for ${ODD} ${STOP}`),
    },
  });
  const [, reply] = records[0]?.messages ?? [];
  const whole = ODD.replace("\ud800", "\ufffd");
  expect(reply).toMatchObject({ content: whole, reasoning_content: whole });
  expect(reply && "tool_calls" in reply && reply.tool_calls?.[0]?.function.arguments).toBe(
    odd.toolCalls?.[0]?.arguments.replace("\\ud800", "\ufffd"),
  );
  expect(records[0]?.metadata.faults).toContainEqual({ type: "repaired_text", texts: "agent 5, user 2" });
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => join(folder, file))
    .filter((file) => readFileSync(file).length > 0);
  const lines = files.flatMap((file) => readFileSync(file, "utf8").trimEnd().split("\n"));
  for (const line of lines) JSON.parse(line);
  const python = spawnSync("python3", ["-c", READER, ...files], { encoding: "utf8" });
  if (python.error) return; // a machine without Python
  expect(python).toMatchObject({ status: 0, stdout: `${lines.length}\n` });
});
