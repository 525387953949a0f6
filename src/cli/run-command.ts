// Running what a command has resolved: show progress, print the result, choose the exit code.
import { join } from "node:path";
import type { ResolvedRun } from "../config/index.ts";
import {
  messageOf,
  PROGRAM_COMMAND,
  type RunEvent,
  sum,
  systemClock,
  type Trajectory,
  timestamp,
  UsageError,
} from "../core/index.ts";
import { dryRun, preflight, runPilot } from "../estimates/index.ts";
import { jsonLine } from "../files/index.ts";
import { type OwnModels, SetupError } from "../models/index.ts";
import { createLoadWriter, DriftError, makeRollouts, type RunLoad, type RunResult } from "../runner/index.ts";
import {
  readFailures,
  readTrajectories,
  summarise,
  type ToolErrors,
  ToolErrorTally,
  writeSummary,
} from "../runs/index.ts";
import { buildReport, type QuestionSet, type Report, summariseQuestions, TaskScores } from "../scoring/index.ts";
import type { Viewer } from "../viewer/index.ts";
import { hideVariables } from "./environment.ts";
import type { RunFlags } from "./flags.ts";
import { joinFleet } from "./fleet.ts";
import type { Host } from "./host.ts";
import { listenForInterrupt } from "./interrupt.ts";
import { trajectoryLines } from "./printing/dialogue-text.ts";
import { dryRunLines, pilotLines } from "./printing/dry-run-text.ts";
import { toolErrorLines } from "./printing/failures-text.ts";
import { createLog } from "./printing/log.ts";
import { createProgress, type ProgressView } from "./printing/progress.ts";
import { questionLines } from "./printing/questions-text.ts";
import { reportLines } from "./printing/report-text.ts";
import { headline, nextLines, remainingLines, stopLines } from "./printing/result-text.ts";
import { quote, shortPath } from "./printing/shell-text.ts";
import { summaryLines } from "./printing/summary-text.ts";
import { createTerminal, printableJson, printableName, type Terminal } from "./printing/terminal.ts";
import { createVerboseView } from "./printing/verbose-view.ts";
import { withTelemetry } from "./telemetry.ts";

/** A person who plays one of the parties, and sees the run in their own way. */
export type Player = { agents: OwnModels; view: ProgressView; leave(): void };

export async function runCommand(host: Host, run: ResolvedRun, flags: RunFlags, player?: Player): Promise<number> {
  hideVariables(run);
  if (flags.dryRun || flags.pilot) return showPlan(host, run, flags);
  const terminal = createTerminal(host, { colours: run.config.verbose_colors });
  let load: (() => RunLoad) | undefined;
  const view = player?.view ?? createView(terminal, run, flags, () => load?.());
  const live = createLoadWriter(() => load?.());
  const page = flags.view ? await servePage(terminal, run.folder) : undefined;
  const log = createLog(run.config.log_file, run.config.log_level, (text) => view.say(text));
  let { folder } = run;
  let begun = false;
  const place = flags.queue === undefined ? "" : ", with the same --queue";
  const interrupt = listenForInterrupt(host, (text) =>
    view.say(begun ? `${text}\nTo continue later${place}: ${resumeCommand(folder)}` : "Stopping: nothing has begun."),
  );
  if (player) interrupt.park.addEventListener("abort", player.leave);
  let isPrinted = false;
  const note = (message: string) => {
    const event: RunEvent = { type: "run-note", at: timestamp(systemClock), message };
    log.onEvent(event);
    if (!isPrinted || flags.json) view.onEvent(event);
    else if (!flags.quiet) terminal.err(message);
  };
  const toolErrors = new ToolErrorTally();
  const startedAt = performance.now();
  host.exitCode = INTERRUPTED; // in case the process has to leave before the run is over
  try {
    return await withTelemetry(host, flags, note, async (telemetry) => {
      const fleet = await joinFleet(host, flags, { say: note, abort: interrupt.abort, isPlayed: player !== undefined });
      const result = await makeRollouts(run, {
        env: host.env,
        park: interrupt.park,
        abort: interrupt.abort,
        telemetry,
        agents: player?.agents,
        fleet,
        inspect: preflight,
        watchNetwork: (watched) => {
          load = watched;
        },
        onEvent: (event) => {
          if (event.type === "run-start") {
            folder = event.folder;
            begun = true;
            live.follow(folder);
            page?.show(folder);
          }
          toolErrors.add(event);
          log.onEvent(event);
          view.onEvent(event);
        },
      });
      host.exitCode = exitCode(result);
      view.stop();
      const elapsedMs = performance.now() - startedAt;
      printResult(terminal, run, result, { ...flags, elapsedMs, toolErrors: toolErrors.list() });
      isPrinted = true;
      return exitCode(result);
    });
  } catch (error) {
    if (interrupt.park.aborted && error === interrupt.park.reason) return INTERRUPTED; // nothing had begun
    if (error instanceof SetupError) throw setupProblem(error, folder);
    throw error instanceof DriftError ? withCommands(error, host.argv) : error;
  } finally {
    view.stop();
    live.stop();
    interrupt.release();
    log.close();
    await page?.close();
  }
}

/** Only this run, and only while it goes on; `rollout view` shows it afterwards. */
async function servePage(terminal: Terminal, folder: string): Promise<Viewer> {
  const { startViewer } = await import("../viewer/index.ts");
  const page = await startViewer({ folders: [folder] });
  terminal.err(`The run can be watched at ${page.address}`);
  return page;
}

/** Shows what would be done; a pilot actually does a little of it. */
async function showPlan(host: Host, run: ResolvedRun, flags: RunFlags): Promise<number> {
  const { pilot: queries } = flags;
  const terminal = createTerminal(host);
  for (const note of run.notes ?? []) terminal.err(printableName(note));
  const planned = await dryRun(run, { env: host.env });
  const { max_workers: maxWorkers, split } = run.config;
  const shown = planned.map((dataset) => ({ ...dataset, output: shortPath(dataset.output) }));
  const about = { maxWorkers, folder: shortPath(run.folder), pilot: queries !== undefined, split };
  for (const line of dryRunLines(shown, about)) terminal.out(line);
  if (queries === undefined) return 0;
  const interrupt = listenForInterrupt(host, (text) => terminal.err(text));
  try {
    const { park, abort } = interrupt;
    const pilot = await withTelemetry(
      host,
      flags,
      (text) => terminal.err(text),
      (telemetry) => runPilot(run, queries, { env: host.env, park, abort, telemetry }),
    );
    if (park.aborted || abort.aborted) return INTERRUPTED;
    for (const line of pilotLines(pilot, planned, { maxWorkers, folder: shortPath(pilot.folder) })) terminal.out(line);
    if (pilot.left > 0) return 4; // only a budget stops a pilot early
    return pilot.failed > 0 ? 3 : 0;
  } catch (error) {
    if (interrupt.park.aborted && error === interrupt.park.reason) return INTERRUPTED;
    throw error;
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
  load: () => RunLoad | undefined,
): ProgressView {
  const say = (text: string) => terminal.err(text);
  if (flags.json)
    return { onEvent: (event) => terminal.out(printableJson(jsonLine(event).trimEnd())), say, stop: () => {} };
  if (flags.quiet) return { onEvent: () => {}, say, stop: () => {} };
  const now = () => performance.now();
  if (!config.verbose) return createProgress(terminal, { now, load });
  const maxLength = config.verbose_max_length || Number.POSITIVE_INFINITY;
  return createVerboseView(terminal, { now, load, maxLength, nameDataset: datasets.length > 1 });
}

type ResultOptions = RunFlags & { elapsedMs: number; toolErrors: ToolErrors[] };

function printResult(
  terminal: Terminal,
  { config, datasets }: ResolvedRun,
  result: RunResult,
  options: ResultOptions,
): void {
  const summaries = Object.fromEntries(Object.entries(result.outputs).map(([name, file]) => [name, summarise(file)]));
  const isShown = !options.quiet && !options.json;
  const report =
    (isShown || datasets.some(({ rounds }) => rounds)) &&
    config.eval &&
    buildReport(result.folder, config.eval === true ? undefined : config.eval.score);
  const questions = questionSets(result.folder, datasets, report);
  keepSummary(terminal, join(result.folder, "summary.json"), summaries, questions && { questions });
  const failures = readFailures(result.folder);
  const scripted = Object.values(summaries).some((summary) => summary.scripted > 0);
  const records = sum(Object.values(summaries).map((summary) => summary.rollouts));
  const troubles = [
    ...remainingLines(terminal, result.folder, failures),
    ...toolErrorText(terminal, options.toolErrors),
    ...stopLines(result, config),
  ];
  const next = nextLines(result, { config, failures, scripted, records });
  if (!isShown) {
    const isOver = result.failed === 0 && result.stoppedBy !== "budget";
    for (const line of isOver ? [] : [...troubles, ...next]) terminal.err(line);
    return;
  }
  const begun = result.finished + result.failed + result.left;
  terminal.out(`\n${terminal.paint("bold", headline(result, begun, options.elapsedMs))}\n`);
  for (const line of summaryLines(terminal, summaries)) terminal.out(line);
  if (scripted) {
    const text =
      "Scripted models took part; every record says so. What they said is no model's output, and their tokens are in no total.";
    terminal.out(terminal.paint("gray", text));
  }
  if (report) for (const line of reportLines(terminal, report)) terminal.out(line);
  else {
    for (const [name, set] of Object.entries(questions ?? {}))
      for (const line of questionLines(terminal, name, set)) terminal.out(line);
    if (begun > 0) printExample(terminal, result);
  }
  terminal.out("");
  for (const file of Object.values(result.outputs)) terminal.out(`trajectories  ${shortPath(file)}`);
  terminal.out(`run folder    ${shortPath(result.folder)}`);
  for (const lines of [troubles, next]) if (lines.length > 0) terminal.out(`\n${lines.join("\n")}`);
}

/** Undefined if the run has no question sets. */
function questionSets(
  folder: string,
  datasets: ResolvedRun["datasets"],
  report: Report | false,
): { [dataset: string]: QuestionSet } | undefined {
  if (!datasets.some(({ rounds }) => rounds)) return undefined;
  if (!report) return summariseQuestions(folder, new TaskScores(folder));
  const sets = Object.entries(report.datasets).flatMap(([name, { questions }]) =>
    questions ? [[name, questions]] : [],
  );
  return Object.fromEntries(sets);
}

/** It can be made again from the records: a disk that cannot be written does not hide the result. */
function keepSummary(
  terminal: Terminal,
  file: string,
  summaries: Parameters<typeof writeSummary>[1],
  more?: object,
): void {
  try {
    writeSummary(file, summaries, more);
  } catch (error) {
    terminal.err(`${shortPath(file)} was not written: ${messageOf(error)}`);
  }
}

function toolErrorText(terminal: Terminal, tools: ToolErrors[]): string[] {
  if (tools.length === 0) return [];
  return [terminal.paint("yellow", "Tool errors, by tool:"), ...toolErrorLines(terminal, tools)];
}

function resumeCommand(folder: string): string {
  return `${PROGRAM_COMMAND} resume ${quote(shortPath(folder))}`;
}

/** The given command, once for a new folder and once for continuing in this one. */
function withCommands(error: DriftError, argv: readonly string[]): UsageError {
  const words = argv.slice(2).filter((word) => !/^--(no-)?resume$|^--allow-drift$/.test(word));
  const command = [PROGRAM_COMMAND, ...words.map(quote)].join(" ");
  return new UsageError(
    `${error.message}\nTo start next to it, in a new folder:  ${command} --no-resume\nTo keep what is finished and make the rest under the new settings, marked:  ${command} --allow-drift`,
  );
}

function setupProblem({ message }: SetupError, folder: string): UsageError {
  return new UsageError(
    `${message}\nThe run stopped there; no rollout has used up an attempt. Once that is right, to continue: ${resumeCommand(folder)}`,
  );
}

/** The first that is ours: an output_path may begin with records of the original system. */
function firstTrajectory(file: string): Trajectory | undefined {
  for (const { trajectory } of readTrajectories(file, "", () => {})) {
    if (trajectory.metadata.fingerprint) return trajectory;
  }
  return undefined;
}

function printExample(terminal: Terminal, result: RunResult): void {
  const [file] = Object.values(result.outputs);
  const trajectory = file && firstTrajectory(file);
  if (!trajectory) return;
  const { id, domains, metadata } = trajectory;
  const title = terminal.paint("bold", `One of them: ${printableName(id)}`);
  terminal.out(`\n${title} (${printableName(domains.join(" + "))}, stop reason ${metadata.stop_reason})\n`);
  for (const text of trajectoryLines(terminal, trajectory, 400)) terminal.out(text);
}
