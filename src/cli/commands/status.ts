// `rollout status`: the state of a run, from another terminal or afterwards.

import type { Config } from "../../config/index.ts";
import { PROGRAM_COMMAND, UsageError } from "../../core/index.ts";
import {
  type FailureRecord,
  groupFailures,
  isLastAttempt,
  newestRun,
  type RunOverview,
  readFailures,
  readRun,
} from "../../runs/index.ts";
import type { Configure } from "../host.ts";
import { readLoad } from "../live-load.ts";
import { hang } from "../printing/failures-text.ts";
import { largerBudget, spentText } from "../printing/result-text.ts";
import { quote, shortPath } from "../printing/shell-text.ts";
import { createTerminal, fitWidth, printable, printableJson, type Terminal } from "../printing/terminal.ts";
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
        json
          ? printableJson(JSON.stringify(statusOf(run, Date.now())))
          : statusLines(terminal, run, Date.now()).join("\n"),
      );
      done(0);
    });
};

function newest(): string {
  const folder = newestRun("outputs");
  if (folder) return folder;
  throw new UsageError("There is no run under outputs/; say which folder: rollout status DIR");
}

function statusOf(run: RunOverview, now: number) {
  const { path, tally, writer } = run;
  const failures = writer ? [] : readFailures(path);
  const { startedAt, endedAt, stoppedBy, stopMessage } = tally;
  return {
    folder: path,
    state: stateOf(tally, writer !== undefined, now),
    process: writer && { pid: writer.pid, host: writer.host },
    started_at: new Date(startedAt).toISOString(),
    ended_at: endedAt === undefined ? undefined : new Date(endedAt).toISOString(),
    stopped_by: stoppedBy,
    message: stopMessage,
    resume_command: resumeCommand(run, failures, now).replace(/^npx /, ""),
    totals: tally.totals(now),
    failures: writer ? tally.totals(now).failures : groupFailures(failures),
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
  const rows = Number.POSITIVE_INFINITY;
  // while it runs, what failed before may be being tried again
  const failures = writer ? [] : readFailures(path);
  const groups = writer ? undefined : groupFailures(failures);
  const resumes = state === "stopped" || (state === "finished" && failures.length > 0);
  return [
    terminal.paint("bold", `${folder}: ${state}${who} since ${since} UTC`),
    ...totalsBlock(terminal, tally, { now, load: writer && readLoad(path), rows, failures: groups }).map((line) =>
      terminal.interactive ? fitWidth(line, terminal.columns()) : line,
    ),
    ...stopText(terminal, run, now),
    ...(resumes ? [`To continue: ${resumeCommand(run, failures, now)}`] : []),
  ];
}

/** Why it stopped, if it was not just interrupted. */
function stopText(terminal: Terminal, { tally, manifest }: RunOverview, now: number): string[] {
  const { stopMessage, stoppedBy } = tally;
  if (stopMessage !== undefined) return hang(terminal, "stopped: ", printable(stopMessage));
  if (stoppedBy !== "budget") return [];
  return [`stopped by its budget: ${spentText(manifest.config as Config, tally.totals(now))}`];
}

/** A command that really goes on. */
function resumeCommand({ path, tally, manifest }: RunOverview, failures: FailureRecord[], now: number): string {
  const config = manifest.config as Config;
  const isSpent = tally.stoppedBy === "budget";
  const { done, failed, planned } = tally.totals(now);
  const isStuck =
    failures.length > 0 && done + failed >= planned && (failures.every(isLastAttempt) || config.retry_failed === false);
  const flags = [...(isSpent ? [largerBudget(config, tally.totals(now))] : []), ...(isStuck ? ["--retry-failed"] : [])];
  return [`${PROGRAM_COMMAND} resume`, quote(shortPath(path)), ...flags].join(" ");
}
