import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  call,
  FAULTY_SERVER,
  isRunning,
  processesIn,
  temporaryFile,
  until,
  withHub,
} from "../../../test/support/mcp/support.ts";

// The stubborn server ignores SIGTERM and the end of its input, and has started a process that does so too.
describe.concurrent("no server process is left", () => {
  test("after a normal end, even of servers that ignore the end of their input", async () => {
    const log = temporaryFile();
    await withHub({ isolation: "fresh", flags: ["--stubborn", "--log", log] }, async (hub) => {
      const closed = await hub.open();
      await call(closed, "read");
      await closed.close();
      await hub.open(); // still open when the hub closes
    });
    expect(processesIn(log)).toHaveLength(4);
    await untilGone(log);
  });

  test("when the hub closes while a server is still starting", async () => {
    const log = temporaryFile();
    await withHub({ flags: ["--slow-start", "60000", "--log", log] }, async (hub) => {
      const opening = hub.open();
      opening.catch(() => {});
      await until(() => processesIn(log).length === 1);
    });
    await untilGone(log);
  });

  test("when the server itself crashed and left a process behind", async () => {
    const log = temporaryFile();
    await withHub({ isolation: "shared", flags: ["--stubborn", "--log", log] }, async (hub) => {
      await expect(call(await hub.open(), "crash")).rejects.toThrow("exited with code 3");
      await untilGone(log);
    });
  });

  test.each(["SIGKILL", "SIGINT", "SIGTERM"] as const)("after the parent was ended by %s", async (signal) => {
    const log = temporaryFile();
    const parent = startParent(["--stubborn", "--log", log]);
    const [said] = await once(parent.stdout as NodeJS.ReadableStream, "data");
    const folder = String(said).trim();
    expect(existsSync(folder)).toBe(true);
    expect(processesIn(log).filter(isRunning)).toHaveLength(2);
    parent.kill(signal);
    await untilGone(log);
    expect(existsSync(folder)).toBe(false);
  });
});

/** A process that was killed goes a moment after the call that kills it. */
function untilGone(log: string): Promise<void> {
  return until(() => !processesIn(log).some(isRunning));
}

function startParent(flags: string[]): ChildProcess {
  const program = fileURLToPath(new URL("../../../test/support/mcp/parent.mjs", import.meta.url));
  const args = ["--import", "tsx", program, process.execPath, FAULTY_SERVER, ...flags];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}
