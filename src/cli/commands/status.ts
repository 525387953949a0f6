// `rollout status`: the state of a run, from another terminal or afterwards.
import { PROGRAM_COMMAND, UsageError } from "../../core/index.ts";
import { newestRun, type RunOverview, readRun } from "../../runs/index.ts";
import type { Configure } from "../host.ts";
import { readLoad } from "../live-load.ts";
import { quote, shortPath } from "../printing/shell-text.ts";
import { createTerminal, fitWidth, type Terminal } from "../printing/terminal.ts";
import { totalsBlock } from "../printing/totals-text.ts";

const EXAMPLES = `
Examples:
  rollout status                      the run under outputs/ that was written to last
  rollout status outputs/example
  rollout status outputs/example --json`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("[folder]")
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
};

function newest(): string {
  const folder = newestRun("outputs");
  if (folder) return folder;
  throw new UsageError("There is no run under outputs/; say which folder: rollout status DIR");
}

function statusOf({ path, tally, writer }: RunOverview, now: number) {
  const { startedAt, endedAt, stoppedBy } = tally;
  return {
    folder: path,
    state: stateOf(tally, writer !== undefined, now),
    process: writer && { pid: writer.pid, host: writer.host },
    started_at: new Date(startedAt).toISOString(),
    ended_at: endedAt === undefined ? undefined : new Date(endedAt).toISOString(),
    stopped_by: stoppedBy,
    resume_command: `rollout resume ${quote(shortPath(path))}`,
    totals: tally.totals(now),
    endpoints: writer && (readLoad(path)?.endpoints ?? []),
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
  const folder = shortPath(path);
  const state = stateOf(tally, writer !== undefined, now);
  const who = writer ? ` by process ${writer.pid} on ${writer.host}` : "";
  const since = new Date(tally.endedAt ?? tally.startedAt).toISOString().slice(0, 19).replace("T", " ");
  const { failed } = tally.totals(now);
  const resumes = state === "stopped" || (state === "finished" && failed > 0);
  return [
    terminal.paint("bold", `${folder}: ${state}${who} since ${since} UTC`),
    ...totalsBlock(terminal, tally, { now, load: writer && readLoad(path), rows: Number.POSITIVE_INFINITY }),
    ...(resumes ? [`To continue: ${PROGRAM_COMMAND} resume ${quote(folder)}`] : []),
  ].map((line) => (terminal.interactive ? fitWidth(line, terminal.columns()) : line));
}
