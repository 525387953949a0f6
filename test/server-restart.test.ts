import { type ChildProcess, spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { PROGRAM } from "./support/cli.ts";
import { canonical, networkRun, play } from "./support/network-run.ts";

/** A model server in a process of its own. */
async function startServer(port: number): Promise<{ url: string; port: number; kill(): Promise<void> }> {
  const args = [PROGRAM, "mock-llm", "--port", String(port), "--latency", "20-60"];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  const url = await new Promise<string>((resolve) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const ready = /ready at (\S+),/.exec(text)?.[1];
      if (ready) resolve(ready);
    });
  });
  return { url, port: Number(new URL(url).port), kill };
}

test("a server that is killed in the middle and comes back costs no rollout", async () => {
  const first = await startServer(0);
  const retries = { max_retries: 1 };
  const datasets = { StudentAcademicPortal: { agent: retries, user: retries } };
  const run = (max_workers: number) => networkRun(first.url, { config: { datasets, limit: 6, max_workers } });
  const undisturbed = await play(run(6));
  let replies = 0;
  let restart: Promise<unknown> | undefined;
  const restarted = async () => {
    await first.kill();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await startServer(first.port);
  };
  const { result, records } = await play(run(3), {
    onEvent: (event) => {
      if (event.type === "entry-end" && ++replies === 10) restart = restarted();
    },
  });
  await restart;
  expect(result).toMatchObject({ finished: 6, failed: 0, left: 0 });
  expect(canonical(records)).toEqual(canonical(undisturbed.records));
}, 60_000);
