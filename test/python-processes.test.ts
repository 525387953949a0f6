// How many Python processes play a run changes nothing in it.
import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Config, resolveConfig } from "../src/config/index.ts";
import type { RunEvent } from "../src/core/index.ts";
import { makeRollouts, replayRun } from "../src/runner/index.ts";
import { workFolder } from "./support/cli.ts";
import { canonical } from "./support/network-run.ts";
import { readRecords } from "./support/play.ts";
import { havePython } from "./support/python/support.ts";
import { writePythonDataset } from "./support/python-dataset.ts";

/** Each process that loads the server leaves its number in a file next to it. */
const TELLS = `
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "processes.txt"), "a") as f: f.write(f"{os.getpid()}\\n")
`;
const SERVER = "single domain/mcp_servers/SlotDesk.py";

function datasetFolder(queries: number): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-python-dataset-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writePythonDataset(folder, { queries });
  appendFileSync(join(folder, SERVER), TELLS);
  return folder;
}

type Scene = { run: string; config?: Config; park?: AbortSignal; onEvent?: (event: RunEvent) => void };

async function play(folder: string, { run, config, ...options }: Scene) {
  const scripted = { agent_model: "scripted/agent", user_model: "scripted/user" };
  const asked = { datasets: ["SlotDesk"], base_path: folder, rollouts: 2, ...scripted, ...config };
  const result = await makeRollouts(resolveConfig(asked, { folder: join(folder, run) }), {
    env: process.env,
    ...options,
  });
  const records = Object.values(result.outputs).flatMap((file) => readRecords<never>(file));
  return { records, hash: createHash("sha256").update(canonical(records).join("\n")).digest("hex") };
}

/** How many loaded the server since the last question. */
function countProcesses(folder: string): number {
  const file = join(folder, SERVER.replace("SlotDesk.py", "processes.txt"));
  const pids = new Set(readFileSync(file, "utf8").trim().split("\n"));
  rmSync(file);
  return pids.size;
}

describe.runIf(await havePython())("python_processes", () => {
  test("1, 4 or auto: the records are the same, byte for byte", async () => {
    const folder = datasetFolder(12);
    const one = await play(folder, { run: "one", config: { python_processes: 1, max_workers: 12 } });
    expect(one.records).toHaveLength(24);
    expect(countProcesses(folder)).toBe(1);
    const four = await play(folder, { run: "four", config: { python_processes: 4, max_workers: 12 } });
    expect(countProcesses(folder)).toBe(4);
    const auto = await play(folder, { run: "auto", config: { max_workers: 12 } });
    expect(countProcesses(folder)).toBeLessThanOrEqual(availableParallelism());
    const alone = await play(folder, { run: "alone", config: { max_workers: 1 } });
    expect(countProcesses(folder)).toBe(1);
    expect([four.hash, auto.hash, alone.hash]).toEqual([one.hash, one.hash, one.hash]);
  });

  test("a run is continued with another number, and is the same as one that was never stopped", async () => {
    const folder = datasetFolder(6);
    const whole = await play(folder, { run: "whole", config: { python_processes: 1 } });
    for (const [before, after] of [
      [1, 4],
      [4, "auto"],
    ] as const) {
      const run = `from-${before}`;
      const park = new AbortController();
      let entries = 0;
      const onEvent = (event: RunEvent) => {
        if (event.type === "entry-end" && ++entries === 20) park.abort();
      };
      const config = { python_processes: before, max_workers: 5 };
      const stopped = await play(folder, { run, config, park: park.signal, onEvent });
      expect(stopped.records.length).toBeLessThan(12);
      const starts: RunEvent[] = [];
      const continued = await play(folder, {
        run,
        config: { python_processes: after, max_workers: 5 },
        onEvent: (event) => void (event.type === "run-start" && starts.push(event)),
      });
      expect(starts).toMatchObject([{ datasets: [{ continuing: expect.any(Number) }] }]);
      expect(continued.hash).toBe(whole.hash);
    }
    const replayed = await replayRun({ folder: join(folder, "from-4"), env: process.env });
    expect(replayed).toMatchObject({ records: { agree: 12, differ: 0, left: 0 } });
  });

  test("the flag takes a number or auto, and says what it takes", async () => {
    const work = workFolder();
    writePythonDataset(join(work.path, "data"), { queries: 2 });
    const command = ["single", "--base-path", "data", "--domains", "SlotDesk", "--quiet"];
    const scripted = ["--agent-model", "scripted/agent", "--user-model", "scripted/user"];
    for (const [n, value] of ["2", "auto"].entries()) {
      const output = ["--output-dir", `out-${n}`, "--python-processes", value];
      expect(await work.run([...command, ...scripted, ...output])).toMatchObject({ code: 0, stderr: "" });
      const { config } = JSON.parse(work.read(`out-${n}/manifest.json`));
      expect(String(config.python_processes)).toBe(value);
    }
    for (const value of ["0", "1.5", "many", "-1"]) {
      const refused = await work.run([...command, ...scripted, `--python-processes=${value}`]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("auto or a whole number of at least 1");
    }
  });
});
