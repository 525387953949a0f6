// `rollout status`: the state of a run, from another terminal or afterwards.

import type { Config } from "../../config/index.ts";
import { UsageError } from "../../core/index.ts";
import { readLoad, resumeCommand, spentText, usedBy } from "../../runner/index.ts";
import {
  type FailureRecord,
  groupFailures,
  newestRun,
  type RunOverview,
  readFailures,
  readRun,
  type VerifiedRun,
  verifyRun,
} from "../../runs/index.ts";
import type { Configure } from "../host.ts";
import { createCountProgress } from "../printing/count-progress.ts";
import { hang } from "../printing/failures-text.ts";
import { shortPath } from "../printing/shell-text.ts";
import {
  createTerminal,
  fitWidth,
  printable,
  printableJson,
  printableName,
  type Terminal,
} from "../printing/terminal.ts";
import { totalsBlock } from "../printing/totals-text.ts";

const EXAMPLES = `
Examples:
  rollout status                      the run under outputs/ that was written to last
  rollout status outputs/example
  rollout status outputs/example --json
  rollout status outputs/example --verify      reads every line; exit code 3 if something is damaged`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("[folder]")
    .option("--json", "as one JSON object")
    .option("--verify", "read all records and hold them against their checksums")
    .addHelpText("after", EXAMPLES)
    .action((folder: string | undefined, { json, verify }: { json?: boolean; verify?: boolean }) => {
      const terminal = createTerminal(host);
      const run = readRun(folder ?? newest());
      const progress = createCountProgress(host, { text: "reading the run", quiet: json });
      const verified = verify ? verifyRun(run.path, () => progress.count("records verified")) : undefined;
      progress.stop();
      const tell = (sentence: string) => terminal.err(printableName(sentence));
      if (run.damage !== undefined && !verified) tell(run.damage);
      const failures = run.writer ? [] : readFailures(run.path, verified ? () => {} : tell);
      const status = { ...run, failures };
      const now = Date.now();
      if (json) terminal.out(printableJson(JSON.stringify({ ...statusOf(status, now), verified })));
      else
        for (const line of [...statusLines(terminal, status, now), ...(verified ? verifiedLines(verified) : [])])
          terminal.out(line);
      done(verified && verified.damaged.length > 0 ? DAMAGED : 0);
    });
};

const DAMAGED = 3;

function verifiedLines({ good, without_checksum: bare, damaged }: VerifiedRun): string[] {
  const others = bare > 0 ? `, ${bare} without a checksum that parse and fit` : "";
  return [
    `verified: ${good} ${good === 1 ? "record" : "records"} good${others}, ${damaged.length} damaged ${damaged.length === 1 ? "line" : "lines"}`,
    ...damaged.map(({ file, line, reason }) => printable(`  ${shortPath(file)}:${line}: ${reason}`)),
    ...(damaged.length > 0 ? ["A resume sets damaged lines aside and makes what is missing again."] : []),
  ];
}

type Status = RunOverview & { failures: FailureRecord[] };

function newest(): string {
  const folder = newestRun("outputs");
  if (folder) return folder;
  throw new UsageError("There is no run under outputs/; say which folder: rollout status DIR");
}

function statusOf(run: Status, now: number) {
  const { path, manifest, tally, writer, failures } = run;
  const { startedAt, endedAt, stoppedBy, stopMessage } = tally;
  const load = writer && readLoad(path);
  return {
    folder: path,
    split: (manifest.config as Config | undefined)?.split,
    state: stateOf(tally, writer !== undefined, now),
    process: writer && { pid: writer.pid, host: writer.host },
    started_at: new Date(startedAt).toISOString(),
    ended_at: endedAt === undefined ? undefined : new Date(endedAt).toISOString(),
    stopped_by: stoppedBy,
    message: stopMessage,
    resume_command: resumeCommand(shortPath(run.path), run, now).replace(/^npx /, ""),
    totals: tally.totals(now),
    failures: writer ? tally.totals(now).failures : groupFailures(failures),
    endpoints: writer && (load?.endpoints ?? []),
    /** of a run on a queue */
    workers: load?.workers,
    /** those that take long */
    calls: writer && slowCalls(load),
    datasets: tally.datasets,
  };
}

function slowCalls(load: ReturnType<typeof readLoad>): object[] {
  return (load?.calls ?? []).map(({ since, ...call }) => ({ ...call, seconds: ((load?.now ?? 0) - since) / 1000 }));
}

function stateOf(tally: RunOverview["tally"], isRunning: boolean, now: number): "running" | "finished" | "stopped" {
  if (isRunning) return "running";
  const { planned, done, failed } = tally.totals(now);
  // a judge that cannot be used stops a run whose rollouts are all made
  return done + failed >= planned && tally.stoppedBy !== "setup" ? "finished" : "stopped";
}

function statusLines(terminal: Terminal, run: Status, now: number): string[] {
  // while it runs, what failed before may be being tried again: then there are none
  const { path, manifest, tally, writer, failures } = run;
  const { split } = (manifest.config ?? {}) as Config;
  const folder = `${shortPath(path)}${split ? ` (share ${split})` : ""}`;
  const state = stateOf(tally, writer !== undefined, now);
  const who = writer ? ` by process ${writer.pid} on ${writer.host}` : "";
  const since = new Date(tally.endedAt ?? tally.startedAt).toISOString().slice(0, 19).replace("T", " ");
  const rows = Number.POSITIVE_INFINITY;
  const groups = writer ? undefined : groupFailures(failures);
  const resumes = state === "stopped" || (state === "finished" && failures.length > 0);
  return [
    terminal.paint("bold", `${folder}: ${state}${who} since ${since} UTC`),
    ...totalsBlock(terminal, tally, { now, load: writer && readLoad(path), rows, failures: groups }).map((line) =>
      terminal.interactive ? fitWidth(line, terminal.columns()) : line,
    ),
    ...stopText(terminal, run, now),
    ...(resumes ? [`To continue: ${resumeCommand(shortPath(run.path), run, now)}`] : []),
  ];
}

/** Why it stopped, if it was not just interrupted. */
function stopText(terminal: Terminal, { tally, manifest }: RunOverview, now: number): string[] {
  const { stopMessage, stoppedBy } = tally;
  if (stopMessage !== undefined) return hang(terminal, "stopped: ", printable(stopMessage));
  if (stoppedBy !== "budget") return [];
  return [`stopped by its budget: ${spentText(manifest.config as Config, usedBy(tally, now))}`];
}
