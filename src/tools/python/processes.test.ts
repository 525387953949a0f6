import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { answer, createPool, havePython, open } from "../../../test/support/python/support.ts";
import type { UsageError } from "../../core/index.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.runIf(await havePython())("the processes of a pool", () => {
  test("sessions spread over the pool's processes, which are started only when needed", async () => {
    const pool = createPool({ size: 2 });
    expect(pool.processIds()).toEqual([]);
    const desks = [];
    for (let seed = 0; seed < 4; seed++) desks.push(await open(pool, "TroubleDesk", seed));
    const processes = await Promise.all(desks.map((desk) => answer(desk, "process")));
    expect(new Set(processes)).toEqual(new Set(pool.processIds()));
    expect(processes[2]).toBe(processes[0]);
    expect(processes[3]).toBe(processes[1]);
    await pool.close();
  });

  test("closing the pool ends what servers started, and removes the folders they worked in", async () => {
    const pool = createPool();
    const desk = await open(pool, "TroubleDesk");
    const started = Number(await answer(desk, "start_child"));
    const { TMPDIR } = (await answer(desk, "environment")) as { TMPDIR: string };
    const [python] = pool.processIds();
    await pool.close();
    await until(() => !alive(started) && !alive(python as number));
    expect(existsSync(TMPDIR)).toBe(false);
  });

  test.each([
    ["SIGKILL", "hang_in_c"],
    ["SIGKILL", "hang"],
    ["SIGINT", "echo"],
    ["SIGKILL", "echo"],
  ] as const)("no process is left after %s of the parent, while servers are busy with %s", async (signal, tool) => {
    const script = join(folder, "parent.ts");
    const support = fileURLToPath(new URL("../../../test/support/python/support.ts", import.meta.url));
    writeFileSync(
      script,
      `import { answer, call, createPool, open } from ${JSON.stringify(support)};
      void (async () => {
        const pool = createPool();
        const desk = await open(pool, "TroubleDesk");
        const started = await answer(desk, "start_child");
        void call(desk, process.argv[2]);
        setTimeout(() => console.log(JSON.stringify([started, ...pool.processIds()])), 100);
        setTimeout(() => {}, 60_000);
      })();`,
    );
    const parent = spawn(process.execPath, ["--import", "tsx", script, tool], {
      env: { ...process.env, TMPDIR: folder }, // a killed parent cannot remove the folders of its children
      stdio: ["ignore", "pipe", "inherit"],
    });
    const line = await new Promise<string>((resolve) => parent.stdout.once("data", (chunk) => resolve(String(chunk))));
    const processes = JSON.parse(line) as number[];
    expect(processes).toHaveLength(2);
    expect(processes.every(alive)).toBe(true);
    parent.kill(signal);
    await until(() => !processes.some(alive));
  });

  test("a virtual environment's folder can be named", async () => {
    const environment = join(folder, "venv");
    const made = spawnSync("python3", ["-m", "venv", "--without-pip", environment]);
    expect(made.status).toBe(0);
    const pool = createPool({ python: environment });
    const desk = await open(pool, "TroubleDesk");
    expect(await answer(desk, "prefix")).toEqual([environment]);
    await desk.close();
    await pool.close();
  });
});

test("without Python, or with one too old, one line says so and names --python", async () => {
  const failing = (options: Parameters<typeof createPool>[0]) =>
    createPool(options)
      .ready()
      .catch((error: UsageError) => [error.name, error.message]);
  expect(await failing({ environment: { PATH: folder } })).toEqual([
    "UsageError",
    "The tools of this dataset need Python 3.9 or newer, but python3 was not found and python was not found: install it, or name one with --python PATH.",
  ]);
  const old = join(folder, "old-python");
  writeFileSync(old, "#!/bin/sh\necho /usr/bin/old\necho 3.6\n", { mode: 0o755 });
  expect(await failing({ python: old })).toEqual([
    "UsageError",
    `The tools of this dataset need Python 3.9 or newer, but ${old} is version 3.6: give --python another one.`,
  ]);
});

/** A process that has ended but has not been reaped is not alive. */
function alive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
