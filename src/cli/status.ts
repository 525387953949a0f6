// `rollout status`: how a run stands, from another terminal or after it.
import { relative } from "node:path";
import type { Command } from "commander";
import { UsageError } from "../core/index.ts";
import { newestRun, type RunOverview, readRun } from "../runs/index.ts";
import type { Host } from "./execute.ts";
import { readLoad } from "./live-load.ts";
import { createTerminal, fitted, type Terminal } from "./terminal.ts";
import { totalsBlock } from "./totals-text.ts";

const EXAMPLES = `
Examples:
  rollout status                      the run under outputs/ that was written to last
  rollout status outputs/example
  rollout status outputs/example --json`;

export function addStatusCommand(program: Command, host: Host, done: (code: number) => void): void {
  program
    .command("status [folder]")
    .description("how a run stands: done, running, waiting, failed, rate, tokens, money")
    .option("--json", "as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action((folder: string | undefined, { json }: { json?: boolean }) => {
      const terminal = createTerminal(host);
      const run = readRun(folder ?? newest());
      terminal.out(
        json ? JSON.stringify(statusOf(run, Date.now())) : statusLines(terminal, run, Date.now()).join("\n"),
      );
      done(0);
    });
}

function newest(): string {
  const folder = newestRun("outputs");
  if (folder) return folder;
  throw new UsageError("There is no run under outputs/; say which folder: rollout status DIR");
}

function statusOf({ path, manifest, tally, writer }: RunOverview, now: number) {
  const { startedAt, endedAt, stoppedBy } = tally;
  return {
    folder: path,
    state: stateOf(tally, writer !== undefined, now),
    ...(writer ? { process: { pid: writer.pid, host: writer.host } } : {}),
    started_at: new Date(startedAt).toISOString(),
    ...(endedAt === undefined ? {} : { ended_at: new Date(endedAt).toISOString() }),
    ...(stoppedBy ? { stopped_by: stoppedBy } : {}),
    resume_command: manifest.resume_command,
    totals: tally.totals(now),
    ...(writer ? { endpoints: readLoad(path)?.endpoints ?? [] } : {}),
    datasets: tally.datasets,
  };
}

function stateOf(tally: RunOverview["tally"], isRunning: boolean, now: number): "running" | "finished" | "stopped" {
  if (isRunning) return "running";
  const { planned, done, failed } = tally.totals(now);
  return done + failed >= planned ? "finished" : "stopped";
}

function statusLines(terminal: Terminal, run: RunOverview, now: number): string[] {
  const { path, tally, writer } = run;
  const near = relative("", path);
  const folder = near.startsWith("..") ? path : near;
  const state = stateOf(tally, writer !== undefined, now);
  const who = writer ? ` by process ${writer.pid} on ${writer.host}` : "";
  const since = new Date(tally.endedAt ?? tally.startedAt).toISOString().slice(0, 19).replace("T", " ");
  const { failed } = tally.totals(now);
  const resumes = state === "stopped" || (state === "finished" && failed > 0);
  return [
    terminal.paint("bold", `${folder}: ${state}${who} since ${since} UTC`),
    ...totalsBlock(terminal, tally, { now, load: writer && readLoad(path), rows: Number.POSITIVE_INFINITY }),
    ...(resumes ? [`To go on: npx rollout resume ${folder}`] : []),
  ].map((line) => (terminal.interactive ? fitted(line, terminal.columns()) : line));
}
