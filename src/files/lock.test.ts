import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { UsageError } from "../core/index.ts";
import { Lock } from "./lock.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-lock-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "lock");
beforeEach(() => {
  for (const file of readdirSync(folder)) rmSync(join(folder, file));
});

const take = () => Lock.take(path, "outputs/run");
const holder = () => JSON.parse(readFileSync(path, "utf8"));

function leave(lock: { host?: string; pid?: number; processStart?: string }, silentForSeconds = 0): void {
  const since = "2026-01-01T00:00:00.000Z";
  writeFileSync(path, JSON.stringify({ host: hostname(), pid: process.pid, processStart: "", since, ...lock }));
  const then = new Date(Date.now() - silentForSeconds * 1000);
  utimesSync(path, then, then);
}

/** A real process that takes the lock and keeps it. */
async function holdElsewhere(): Promise<ChildProcess> {
  const source = `
    import { Lock } from ${JSON.stringify(new URL("./lock.ts", import.meta.url).href)};
    Lock.take(${JSON.stringify(path)}, "outputs/run");
    console.log("held");
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

describe("a lock", () => {
  test("names its holder and is gone after its release", () => {
    const lock = take();
    expect(holder()).toMatchObject({ host: hostname(), pid: process.pid });
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
    take().release();
  });

  test("is refused while it is held, also within one process", () => {
    const lock = take();
    expect(take).toThrow(UsageError);
    expect(take).toThrow(`outputs/run is in use by process ${process.pid} on ${hostname()} since`);
    lock.release();
  });

  test("held by another process is refused by its pid, and taken over at once when that is killed", async () => {
    const child = await holdElsewhere();
    expect(take).toThrow(`outputs/run is in use by process ${child.pid} on ${hostname()}`);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(holder().pid).toBe(child.pid);
    const lock = take();
    expect(holder().pid).toBe(process.pid);
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test.runIf(existsSync("/proc/self/stat"))("of a process whose pid was given to another is no obstacle", () => {
    leave({ pid: process.pid, processStart: "1" });
    take().release();
    leave({ pid: process.ppid, processStart: "1" });
    take().release();
  });

  test("of another host is kept until that has been silent for a minute", () => {
    leave({ host: "elsewhere", pid: 1 }, 50);
    expect(take).toThrow("outputs/run is in use by process 1 on elsewhere since 2026-01-01");
    leave({ host: "elsewhere", pid: 1 }, 61);
    take().release();
  });

  test("that is not written yet belongs to a process that is just starting, unless it stays so", () => {
    writeFileSync(path, "");
    expect(take).toThrow("is being taken by another process at this moment");
    const then = new Date(Date.now() - 11_000);
    utimesSync(path, then, then);
    take().release();
  });

  test("is taken over by one process at a time, and a guard that was left behind does not last", () => {
    leave({ host: "elsewhere" }, 120);
    writeFileSync(`${path}.takeover`, "");
    expect(take).toThrow("is being taken over by another process at this moment");
    const then = new Date(Date.now() - 11_000);
    utimesSync(`${path}.takeover`, then, then);
    take().release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("that another host has taken over meanwhile is not removed on release", () => {
    const lock = take();
    leave({ host: "elsewhere", pid: 5 });
    lock.release();
    expect(holder()).toMatchObject({ host: "elsewhere", pid: 5 });
  });
});
