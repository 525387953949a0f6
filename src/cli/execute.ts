// Running what a command has resolved: wire the models, show progress, print what came of it, choose the exit code.
import { createReadStream } from "node:fs";
import { join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { type Trajectory, UsageError } from "../core/index.ts";
import type { NetworkLoad } from "../models/index.ts";
import {
  type Cassette,
  dryRunResolved,
  quote,
  type ResolvedRun,
  type RunResolvedOptions,
  type RunResult,
  runPilot,
  runResolved,
} from "../runner/index.ts";
import { jsonLine, summarise, writeSummary } from "../runs/index.ts";
import { buildReport } from "../scoring/index.ts";
import { trajectoryLines } from "./dialogue-text.ts";
import { dryRunLines, pilotLines } from "./dry-run-text.ts";
import { listenForInterrupt } from "./interrupt.ts";
import { createLoadWriter } from "./live-load.ts";
import { createLog } from "./log.ts";
import { createProgress, type ProgressView } from "./progress.ts";
import { reportLines } from "./report-text.ts";
import { summaryLines } from "./summary-text.ts";
import { count, createTerminal, duration, printable, type Terminal, table } from "./terminal.ts";
import { createVerboseView } from "./verbose-view.ts";
import { PROGRAM_VERSION } from "./version.ts";

export type Host = Pick<NodeJS.Process, "stdout" | "stderr" | "env" | "on" | "off" | "exit" | "exitCode">;

export type ExecuteOptions = {
  dryRun?: boolean;
  verbose?: boolean;
  quiet?: boolean;
  /** events on standard output, one JSON object a line, and nothing else there */
  json?: boolean;
  record?: string;
  replay?: string;
  pilot?: number;
};

export async function execute(host: Host, resolved: ResolvedRun, options: ExecuteOptions): Promise<number> {
  const terminal = createTerminal(host);
  const own = { programVersion: PROGRAM_VERSION, env: host.env, cassette: cassetteOf(options) };
  if (options.dryRun || options.pilot) return plan(host, resolved, { ...own, pilot: options.pilot });
  let load: (() => NetworkLoad) | undefined;
  const view = createView(terminal, resolved, { ...options, load: () => load?.() });
  const live = createLoadWriter(() => load?.());
  const log = createLog(resolved.config.log_file, resolved.config.log_level);
  let folder = resolved.run.folder;
  const interrupt = listenForInterrupt(host, (text) =>
    view.say(`${text}\nTo go on later: npx ${resumeCommand(resolved.run, folder)}`),
  );
  const startedAt = Date.now();
  host.exitCode = INTERRUPTED; // what it is if the process has to leave before the run is over
  try {
    const result = await runResolved(resolved, {
      ...own,
      park: interrupt.park,
      abort: interrupt.abort,
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
    await printResult(terminal, resolved, result, { ...options, elapsedMs: Date.now() - startedAt });
    return exitCode(result);
  } finally {
    view.stop();
    live.stop();
    interrupt.release();
    log.close();
  }
}

/** Shows what would be done; a pilot really does a little of it. */
async function plan(
  host: Host,
  resolved: ResolvedRun,
  { pilot: queries, ...own }: RunResolvedOptions & { pilot?: number | undefined },
): Promise<number> {
  const terminal = createTerminal(host);
  const planned = await dryRunResolved(resolved, own);
  const { maxWorkers, folder } = resolved.run;
  const near = planned.map((dataset) => ({ ...dataset, output: shown(dataset.output) }));
  for (const line of dryRunLines(near, { maxWorkers, folder: shown(folder), pilot: queries !== undefined }))
    terminal.out(line);
  if (queries === undefined) return 0;
  const interrupt = listenForInterrupt(host, (text) => terminal.err(text));
  try {
    const pilot = await runPilot(resolved, queries, { ...own, park: interrupt.park, abort: interrupt.abort });
    if (interrupt.park.aborted || interrupt.abort.aborted) return INTERRUPTED;
    for (const line of pilotLines(pilot, planned, { maxWorkers, folder: shown(pilot.folder) })) terminal.out(line);
    if (pilot.left > 0) return 4; // nothing but a budget stops a pilot early
    return pilot.failed > 0 ? 3 : 0;
  } finally {
    interrupt.release();
  }
}

function cassetteOf({ record, replay }: ExecuteOptions): Cassette | undefined {
  if (record !== undefined && replay !== undefined) throw new UsageError("--record and --replay exclude each other");
  if (record !== undefined) return { record };
  return replay === undefined ? undefined : { replay };
}

const INTERRUPTED = 130;

function exitCode(result: RunResult): number {
  if (result.stoppedBy === "interrupt") return INTERRUPTED;
  if (result.stoppedBy === "budget") return 4;
  return result.failed > 0 ? 3 : 0;
}

function createView(
  terminal: Terminal,
  { config, run }: ResolvedRun,
  options: ExecuteOptions & { load: () => NetworkLoad | undefined },
): ProgressView {
  const say = (text: string) => terminal.err(text);
  if (options.json) return { onEvent: (event) => terminal.write(jsonLine(event)), say, stop: () => {} };
  if (options.quiet) return { onEvent: () => {}, say, stop: () => {} };
  if (!(options.verbose ?? config.verbose)) return createProgress(terminal, { now: Date.now, load: options.load });
  const painted =
    config.verbose_colors === false ? { ...terminal, paint: (_: unknown, text: string) => text } : terminal;
  const maxLength = config.verbose_max_length ?? 500;
  return createVerboseView(painted, { maxLength, nameDataset: run.datasets.length > 1 });
}

async function printResult(
  terminal: Terminal,
  { run }: ResolvedRun,
  result: RunResult,
  options: ExecuteOptions & { elapsedMs: number },
): Promise<void> {
  const summaries = Object.fromEntries(Object.entries(result.outputs).map(([name, file]) => [name, summarise(file)]));
  writeSummary(join(result.folder, "summary.json"), summaries);
  if (options.quiet || options.json) {
    if (result.failed > 0) terminal.err(failuresLine(result));
    return;
  }
  const kept = result.datasets.reduce((sum, dataset) => sum + dataset.kept, 0);
  const begun = result.finished + result.failed + result.left;
  terminal.out("");
  if (begun === 0)
    terminal.out(
      terminal.paint("bold", `Everything is there already: ${count(kept)} rollouts in ${shown(result.folder)}`),
    );
  else
    terminal.out(
      terminal.paint(
        "bold",
        `${result.finished} rollouts in ${duration(options.elapsedMs)}${kept > 0 ? `, ${kept} kept from before` : ""}`,
      ),
    );
  terminal.out("");
  for (const line of summaryLines(terminal, summaries)) terminal.out(line);
  const scripted = Object.values(summaries).some((summary) => summary.scripted > 0);
  if (scripted) {
    terminal.out(
      terminal.paint(
        "gray",
        "Scripted models played these dialogues; every record says so. They are no model's output.",
      ),
    );
  }
  if (run.evaluation) {
    const report = buildReport(result.folder, run.evaluation.score);
    for (const line of reportLines(terminal, report)) terminal.out(line);
  } else if (begun > 0) await printExample(terminal, result);
  terminal.out("");
  for (const file of Object.values(result.outputs)) terminal.out(`trajectories  ${shown(file)}`);
  terminal.out(`run folder    ${shown(result.folder)}`);
  if (result.failed > 0) terminal.out(`failures      ${failuresLine(result)}`);
  if (result.left > 0)
    terminal.out(
      `\nStopped with ${result.left} rollouts left. To go on: ${terminal.paint("bold", `npx ${resumeCommand(run, result.folder)}`)}`,
    );
  else {
    terminal.out("\nNext:");
    const folder = quote(shown(result.folder));
    const next = [
      [`npx rollout eval ${folder}`, "how good they are"],
      [
        `npx rollout export ${folder} --format openai --out data${scripted ? " --include-scripted" : ""}`,
        "what a trainer loads",
      ],
      ["npx rollout single --list --verbose", "what is bundled"],
      ["npx rollout --help", "everything else"],
    ];
    for (const line of table(next)) terminal.out(`  ${line}`);
  }
}

function failuresLine({ folder, failed, datasets }: RunResult): string {
  const givenUp = datasets.reduce((sum, dataset) => sum + dataset.givenUp, 0);
  const again = failed > givenUp ? "run the same command to try them again" : "they are not tried again";
  return `${shown(join(folder, "failures.jsonl"))}: ${failed} rollouts ended for infrastructure reasons; ${again}`;
}

/** A run that was begun beside another is found again by its folder. */
function resumeCommand(run: ResolvedRun["run"], folder: string): string {
  if (resolve(run.folder) === resolve(folder)) return run.resumeCommand;
  return `${run.resumeCommand.replace(/ --resume$/, "")} --output-dir ${quote(shown(folder))} --resume`;
}

async function printExample(terminal: Terminal, result: RunResult): Promise<void> {
  const [file] = Object.values(result.outputs);
  const trajectory = file && (await firstRecord(file));
  if (!trajectory) return;
  terminal.out(
    `\n${terminal.paint("bold", `One of them: ${printable(trajectory.id)}`)} (${trajectory.domains.join(" + ")}, ended by ${trajectory.metadata.stop_reason})\n`,
  );
  for (const line of trajectoryLines(terminal, trajectory, 400)) terminal.out(line);
}

async function firstRecord(file: string): Promise<Trajectory | undefined> {
  for await (const line of createInterface({ input: createReadStream(file) })) return JSON.parse(line) as Trajectory;
  return undefined;
}

function shown(path: string): string {
  const near = relative("", path);
  return near.startsWith("..") ? path : near;
}
