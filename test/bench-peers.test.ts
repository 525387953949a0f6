// The comparison with peers, as far as it goes without installing any: its model server, the floor and our own entry, each
// with two dialogues; and that a busy machine is told or refused.
import { type ChildProcess, execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

type Row = { peer: string; "CPU ms/call": number; "wall/ideal": number; "peak MB": number; "KB/request": number };
type Table = { title: string; rows: Row[]; machine?: { others: number; busy: boolean } };
type Message = { role: string; content: string | null; tool_calls?: { id: string; function: { name: string } }[] };

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-bench-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function untilTheEnd(child: ChildProcess): ChildProcess {
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Its exit code, and all that it printed. */
function runNode(args: string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number; said: string }> {
  return new Promise((done) => {
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    );
  });
}

const readTables = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Table[];
const QUICK = ["peers", "--quick", "--at", "1"];

test("the model server calls eleven tools one after another and then answers, and plays a user who asks and stops", async () => {
  const server = untilTheEnd(fork("bench/support/peers/model-server.mjs", ["1"]));
  const [{ url }] = (await once(server, "message")) as [{ url: string }];
  const ask = async (body: object): Promise<Message> => {
    const response = await fetch(`${url}/chat/completions`, { method: "POST", body: JSON.stringify(body, null, 1) });
    return ((await response.json()) as { choices: [{ message: Message }] }).choices[0].message;
  };
  const messages: Message[] = [{ role: "user", content: "Please look." }];
  const called: string[] = [];
  for (;;) {
    const message = await ask({ messages, tools: [{ type: "function" }] });
    messages.push(message);
    if (!message.tool_calls) break;
    called.push(...message.tool_calls.map((call) => call.function.name));
    messages.push({ role: "tool", content: "found" });
  }
  expect(called).toHaveLength(11);
  expect(called.slice(0, 2)).toEqual(["find_loan", "find_title"]);
  expect(messages.at(-1)?.content).toMatch(/eleven records/);

  expect((await ask({ messages: [{ role: "user", content: "Hi" }] })).content).toMatch(/my records/);
  expect((await ask({ messages: [{ role: "assistant", content: "Please" }] })).content).toBe("###STOP###");
  server.send("what was there?");
  expect((await once(server, "message"))[0]).toMatchObject({ calls: 14, answers: 1 });
});

test("the floor and Rollout play the same dialogues, and the tables say what they took", async () => {
  const folder = temporaryFolder();
  const result = join(folder, "peers.json");
  const [, ...options] = [...QUICK, "--only", "floor,rollout"];
  const { code, said } = await runNode(["bench/suites/peers.mjs", result, ...options]);
  expect({ code, said }).toMatchObject({ code: 0 });
  const [table, ...more] = readTables(result);
  expect(more).toEqual([]);
  expect(table?.rows.map(({ peer }) => peer)).toEqual(["bare undici loop", "Rollout"]);
  for (const row of table?.rows ?? []) {
    expect(row["KB/request"]).toBe(19);
    expect(row["peak MB"]).toBeGreaterThan(20);
    for (const name of ["CPU ms/call", "wall/ideal"] as const) expect(row[name]).toBeTypeOf("number");
  }
  for (const file of ["peers.md", "peers.zh.md"])
    expect(readFileSync(join(folder, file), "utf8")).toMatch(/^\| Rollout \| \d+\.\d+\.\d+ \| /m);
});

test.runIf(process.platform === "linux")("the CPU time of everything that a peer starts is counted", async () => {
  const options = {
    program: process.execPath,
    args: [resolve("bench/support/peers/driver.mjs")],
    file: resolve("test/support/peer-with-child.mjs"),
    folder: temporaryFolder(),
    level: { at: 1, latency: 1, dialogues: 3, warm: 1 },
  };
  const script = `import { drive } from ${JSON.stringify(resolve("bench/support/peers/drive.mjs"))};
    console.log(JSON.stringify(await drive(${JSON.stringify(options)})));`;
  const { said } = await runNode(["--input-type=module", "--eval", script]);
  const { cpuMs, calls } = JSON.parse(said) as { cpuMs: number; calls: number };
  expect(calls).toBe(36);
  expect(cpuMs).toBeGreaterThan(240 / 12 - 1);
});

test("a peer that is not installed is named with the reason, and the others are measured", async () => {
  const result = join(temporaryFolder(), "peers.json");
  const [, ...options] = [...QUICK, "--only", "floor,tau2"];
  const { code } = await runNode(["bench/suites/peers.mjs", result, ...options], { ROLLOUT_BENCH_TAU2: "" });
  expect(code).toBe(0);
  const [measured, missing] = readTables(result);
  expect(measured?.rows.map(({ peer }) => peer)).toEqual(["bare undici loop"]);
  expect(missing?.rows).toEqual([{ peer: "tau2-bench", reason: expect.stringContaining("ROLLOUT_BENCH_TAU2") }]);
});

test("a busy machine is told, in the output and in the results; with --quiet-check nothing is measured on it", async () => {
  const results = temporaryFolder();
  const busy = untilTheEnd(spawn(process.execPath, ["-e", "console.log('busy'); for (;;);"]));
  await once(busy.stdout as NonNullable<typeof busy.stdout>, "data");
  const bench = (...args: string[]) => runNode(["bench/run.mjs", ...args], { ROLLOUT_BENCH_RESULTS: results });

  const refused = await bench("--quiet-check", ...QUICK, "--only", "floor");
  expect(refused.code).toBe(75);
  expect(refused.said).toMatch(/Nothing was measured: other processes use [\d.]+ of \d+ cores/);
  expect(refused.said).not.toMatch(/at once/);

  const told = await bench(...QUICK, "--only", "floor");
  expect(told.code).toBe(0);
  expect(told.said).toMatch(/BUSY MACHINE: other processes use [\d.]+ of \d+ cores/);
  expect(told.said).toMatch(/BUSY MACHINE: while peers ran/);
  expect(readTables(join(results, "peers.json"))[0]?.machine).toMatchObject({ busy: true });
  expect(readFileSync(join(results, "peers.md"), "utf8")).toMatch(/A quick run[\s\S]*The machine was busy/);
});

test.each([
  { args: ["--only", "nobody"], says: /--only nobody: there are floor, rollout, / },
  { args: ["--at", "2"], says: /--at 2: there are 1, 64, 256/ },
  { args: ["--runs", "0"], says: /--runs 0 is not a whole number above 0/ },
  { args: ["--fast"], says: /Unknown option '--fast'/ },
])("peers $args is refused in a sentence", async ({ args, says }) => {
  const { code, said } = await runNode(["bench/suites/peers.mjs", join(temporaryFolder(), "peers.json"), ...args]);
  expect(code).toBe(2);
  expect(said).toMatch(says);
});

test.each([
  { args: ["tools", "--only", "floor"], says: /--only belongs to one of: peers/ },
  { args: ["nothing"], says: /There is no bench "nothing"; there are: .*peers/ },
])("bench $args is refused in a sentence", async ({ args, says }) => {
  const { code, said } = await runNode(["bench/run.mjs", ...args]);
  expect(code).toBe(2);
  expect(said).toMatch(says);
});

test("both languages show the same measurement", () => {
  const numbersOf = (page: string) => {
    const [, table = ""] = /<!-- peers -->\n([\s\S]*?)<!-- \/peers -->/.exec(readFileSync(page, "utf8")) ?? [];
    const rows = table.split("\n").filter((line) => line.startsWith("| "));
    return rows.slice(2);
  };
  expect(numbersOf("docs/speed.md").length).toBeGreaterThan(1);
  expect(numbersOf("docs/zh/speed.md")).toEqual(numbersOf("docs/speed.md"));
});
