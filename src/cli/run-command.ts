// Running what a command has resolved: show progress, print the result, choose the exit code.
import { join } from "node:path";
import type { ResolvedRun } from "../config/index.ts";
import { type Trajectory, UsageError } from "../core/index.ts";
import { dryRun, preflight, runPilot } from "../estimates/index.ts";
import { jsonLine, readLines } from "../files/index.ts";
import type { NetworkLoad } from "../models/index.ts";
import { DriftError, makeRollouts, type RunResult } from "../runner/index.ts";
import { FAILURES_FILE, summarise, writeSummary } from "../runs/index.ts";
import { buildReport } from "../scoring/index.ts";
import type { RunFlags } from "./flags.ts";
import type { Host } from "./host.ts";
import { listenForInterrupt } from "./interrupt.ts";
import { createLoadWriter } from "./live-load.ts";
import { trajectoryLines } from "./printing/dialogue-text.ts";
import { dryRunLines, pilotLines } from "./printing/dry-run-text.ts";
import { createLog } from "./printing/log.ts";
import { createProgress, type ProgressView } from "./printing/progress.ts";
import { reportLines } from "./printing/report-text.ts";
import { quote, shortPath } from "./printing/shell-text.ts";
import { summaryLines } from "./printing/summary-text.ts";
import { count, createTerminal, duration, printable, type Terminal, table } from "./printing/terminal.ts";
import { createVerboseView } from "./printing/verbose-view.ts";

export async function runCommand(host: Host, run: ResolvedRun, flags: RunFlags): Promise<number> {
  if (flags.dryRun || flags.pilot) return showPlan(host, run, flags.pilot);
  const terminal = createTerminal(host, { colours: run.config.verbose_colors });
  let load: (() => NetworkLoad) | undefined;
  const view = createView(terminal, run, flags, () => load?.());
  const live = createLoadWriter(() => load?.());
  const log = createLog(run.config.log_file, run.config.log_level);
  let { folder } = run;
  const interrupt = listenForInterrupt(host, (text) =>
    view.say(`${text}\nTo continue later: ${resumeCommand(folder)}`),
  );
  const startedAt = Date.now();
  host.exitCode = INTERRUPTED; // in case the process has to leave before the run is over
  try {
    const result = await makeRollouts(run, {
      env: host.env,
      park: interrupt.park,
      abort: interrupt.abort,
      inspect: preflight,
      watchNetwork: (watched) => {
        load = watched;
      },
      onEvent: (event) => {
        if (event.type === "run-start") {
          folder = event.folder;
          live.follow(folder);
        }
        log.onEvent(event);
        view.onEvent(event);
      },
    });
    host.exitCode = exitCode(result);
    view.stop();
    printResult(terminal, run, result, { ...flags, elapsedMs: Date.now() - startedAt });
    return exitCode(result);
  } catch (error) {
    throw error instanceof DriftError ? withCommands(error, host.argv) : error;
  } finally {
    view.stop();
    live.stop();
    interrupt.release();
    log.close();
  }
}

/** Shows what would be done; a pilot actually does a little of it. */
async function showPlan(host: Host, run: ResolvedRun, queries: number | undefined): Promise<number> {
  const terminal = createTerminal(host);
  for (const note of run.notes ?? []) terminal.err(printable(note));
  const planned = await dryRun(run, { env: host.env });
  const { max_workers: maxWorkers } = run.config;
  const shown = planned.map((dataset) => ({ ...dataset, output: shortPath(dataset.output) }));
  const about = { maxWorkers, folder: shortPath(run.folder), pilot: queries !== undefined };
  for (const line of dryRunLines(shown, about)) terminal.out(line);
  if (queries === undefined) return 0;
  const interrupt = listenForInterrupt(host, (text) => terminal.err(text));
  try {
    const { park, abort } = interrupt;
    const pilot = await runPilot(run, queries, { env: host.env, park, abort });
    if (park.aborted || abort.aborted) return INTERRUPTED;
    for (const line of pilotLines(pilot, planned, { maxWorkers, folder: shortPath(pilot.folder) })) terminal.out(line);
    if (pilot.left > 0) return 4; // only a budget stops a pilot early
    return pilot.failed > 0 ? 3 : 0;
  } finally {
    interrupt.release();
  }
}

const INTERRUPTED = 130;

function exitCode(result: RunResult): number {
  if (result.stoppedBy === "interrupt") return INTERRUPTED;
  if (result.stoppedBy === "budget") return 4;
  return result.failed > 0 ? 3 : 0;
}

function createView(
  terminal: Terminal,
  { config, datasets }: ResolvedRun,
  flags: RunFlags,
  load: () => NetworkLoad | undefined,
): ProgressView {
  const say = (text: string) => terminal.err(text);
  if (flags.json) return { onEvent: (event) => terminal.write(jsonLine(event)), say, stop: () => {} };
  if (flags.quiet) return { onEvent: () => {}, say, stop: () => {} };
  if (!config.verbose) return createProgress(terminal, { now: Date.now, load });
  const maxLength = config.verbose_max_length || Number.POSITIVE_INFINITY;
  return createVerboseView(terminal, { maxLength, nameDataset: datasets.length > 1 });
}

type ResultOptions = RunFlags & { elapsedMs: number };

function printResult(terminal: Terminal, run: ResolvedRun, result: RunResult, options: ResultOptions): void {
  const { config } = run;
  const summaries = Object.fromEntries(Object.entries(result.outputs).map(([name, file]) => [name, summarise(file)]));
  writeSummary(join(result.folder, "summary.json"), summaries);
  if (options.quiet || options.json) {
    if (result.failed > 0) terminal.err(failuresLine(result));
    return;
  }
  const begun = result.finished + result.failed + result.left;
  terminal.out(`\n${terminal.paint("bold", headline(result, begun, options.elapsedMs))}\n`);
  for (const line of summaryLines(terminal, summaries)) terminal.out(line);
  const scripted = Object.values(summaries).some((summary) => summary.scripted > 0);
  if (scripted) {
    const text = "Scripted models played these dialogues; every record says so. They are no model's output.";
    terminal.out(terminal.paint("gray", text));
  }
  if (config.eval) {
    const report = buildReport(result.folder, config.eval === true ? undefined : config.eval.score);
    for (const line of reportLines(terminal, report)) terminal.out(line);
  } else if (begun > 0) printExample(terminal, result);
  terminal.out("");
  for (const file of Object.values(result.outputs)) terminal.out(`trajectories  ${shortPath(file)}`);
  terminal.out(`run folder    ${shortPath(result.folder)}`);
  if (result.failed > 0) terminal.out(`failures      ${failuresLine(result)}`);
  terminal.out(result.left > 0 ? leftText(terminal, run, result) : nextText(result, scripted));
}

function headline({ datasets, finished, folder }: RunResult, begun: number, elapsedMs: number): string {
  const kept = datasets.reduce((sum, dataset) => sum + dataset.kept, 0);
  if (begun === 0) return `Everything is there already: ${count(kept)} rollouts in ${shortPath(folder)}`;
  return `${finished} rollouts in ${duration(elapsedMs)}${kept > 0 ? `, ${kept} kept from before` : ""}`;
}

function leftText(terminal: Terminal, { config }: ResolvedRun, { left, folder, stoppedBy }: RunResult): string {
  const command = (text: string) => terminal.paint("bold", text);
  if (stoppedBy !== "budget")
    return `\nStopped with ${left} rollouts left. To continue: ${command(resumeCommand(folder))}`;
  const flags = (["max_cost", "max_tokens_total"] as const).flatMap((key) =>
    config[key] === undefined ? [] : [`--${key.replaceAll("_", "-")} ${config[key] * 2}`],
  );
  const larger = [resumeCommand(folder), ...flags].join(" ");
  return `\nThe budget is spent, with ${left} rollouts left. To continue with a larger one: ${command(larger)}`;
}

function nextText({ folder }: RunResult, scripted: boolean): string {
  const shown = quote(shortPath(folder));
  const next = [
    [`npx rollout eval ${shown}`, "which of them are solved"],
    [
      `npx rollout export ${shown} --format openai --out data${scripted ? " --include-scripted" : ""}`,
      "what a trainer loads",
    ],
    ["npx rollout single --list --verbose", "what is bundled"],
    ["npx rollout --help", "everything else"],
  ];
  return ["\nNext:", ...table(next).map((line) => `  ${line}`)].join("\n");
}

function failuresLine({ folder, failed, datasets }: RunResult): string {
  const givenUp = datasets.reduce((sum, dataset) => sum + dataset.givenUp, 0);
  const again = failed > givenUp ? "run the same command to try them again" : "they are not tried again";
  return `${shortPath(join(folder, FAILURES_FILE))}: ${failed} rollouts failed for infrastructure reasons; ${again}`;
}

function resumeCommand(folder: string): string {
  return `npx rollout resume ${quote(shortPath(folder))}`;
}

/** The given command, once for a new folder and once for continuing in this one. */
function withCommands(error: DriftError, argv: readonly string[]): UsageError {
  const words = argv.slice(2).filter((word) => !/^--(no-)?resume$|^--allow-drift$/.test(word));
  const command = ["npx rollout", ...words.map(quote)].join(" ");
  return new UsageError(
    `${error.message}\nTo start next to it, in a new folder:  ${command} --no-resume\nTo keep what is finished and make the rest under the new settings, marked:  ${command} --allow-drift`,
  );
}

/** The first that is ours: an output_path may begin with records of the original system. */
function firstTrajectory(file: string): Trajectory | undefined {
  for (const { bytes } of readLines(file)) {
    const trajectory = JSON.parse(bytes.toString("utf8")) as Trajectory;
    if (trajectory.query_id !== undefined) return trajectory;
  }
  return undefined;
}

function printExample(terminal: Terminal, result: RunResult): void {
  const [file] = Object.values(result.outputs);
  const trajectory = file && firstTrajectory(file);
  if (!trajectory) return;
  const { id, domains, metadata } = trajectory;
  const title = terminal.paint("bold", `One of them: ${printable(id)}`);
  terminal.out(`\n${title} (${domains.join(" + ")}, stop reason ${metadata.stop_reason})\n`);
  for (const text of trajectoryLines(terminal, trajectory, 400)) terminal.out(text);
}
