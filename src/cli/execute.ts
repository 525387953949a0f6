// Running what a command has resolved: wire the models, show progress, print what came of it, choose the exit code.
import { createReadStream } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import type { RunEvent, Trajectory } from "../core/index.ts";
import { type DryDataset, dryRunResolved, type ResolvedRun, type RunResult, runResolved } from "../runner/index.ts";
import { summarise, writeSummary } from "../runs/index.ts";
import { entryLines, trajectoryLines } from "./dialogue-text.ts";
import { listenForInterrupt } from "./interrupt.ts";
import { createLog } from "./log.ts";
import { createProgress, type ProgressView } from "./progress.ts";
import { summaryLines } from "./summary-text.ts";
import { count, createTerminal, duration, type Terminal, table } from "./terminal.ts";
import { PROGRAM_VERSION } from "./version.ts";

export type Host = Pick<NodeJS.Process, "stdout" | "stderr" | "env" | "on" | "off" | "exit">;

export type ExecuteOptions = { dryRun?: boolean; verbose?: boolean; quiet?: boolean };

export async function execute(host: Host, resolved: ResolvedRun, options: ExecuteOptions): Promise<number> {
  const terminal = createTerminal(host);
  const own = { programVersion: PROGRAM_VERSION, env: host.env };
  if (options.dryRun) return printDryRun(terminal, resolved, await dryRunResolved(resolved, own));
  const view = createView(terminal, resolved, options);
  const log = createLog(resolved.config.log_file, resolved.config.log_level);
  const interrupt = listenForInterrupt(host, (text) => terminal.err(text));
  const startedAt = Date.now();
  try {
    const result = await runResolved(resolved, {
      ...own,
      park: interrupt.park,
      abort: interrupt.abort,
      onEvent: (event) => {
        log.onEvent(event);
        view.onEvent(event);
      },
    });
    view.stop();
    await printResult(terminal, resolved, result, { ...options, elapsedMs: Date.now() - startedAt });
    return exitCode(result);
  } finally {
    view.stop();
    interrupt.release();
    log.close();
  }
}

function exitCode(result: RunResult): number {
  if (result.stoppedBy === "interrupt") return 130;
  if (result.stoppedBy === "budget") return 4;
  return result.failed > 0 ? 3 : 0;
}

function createView(terminal: Terminal, { config, run }: ResolvedRun, options: ExecuteOptions): ProgressView {
  if (options.quiet) return { onEvent: () => {}, stop: () => {} };
  if (!(options.verbose ?? config.verbose)) return createProgress(terminal, () => Date.now());
  const painted =
    config.verbose_colors === false ? { ...terminal, paint: (_: unknown, text: string) => text } : terminal;
  return createVerboseView(painted, config.verbose_max_length ?? 500, run.datasets.length > 1);
}

/** Every text as it comes; one entry's lines stay together, under the name of its rollout. */
function createVerboseView(terminal: Terminal, maxLength: number, nameDataset: boolean): ProgressView {
  let last = "";
  const onEvent = (event: RunEvent) => {
    if (event.type === "run-note") terminal.out(event.message);
    if (event.type !== "entry-end" && event.type !== "rollout-end") return;
    const id = `${nameDataset ? `${event.dataset} ` : ""}${event.queryId}${event.rollout > 0 ? `#${event.rollout}` : ""}`;
    const lines =
      event.type === "entry-end"
        ? entryLines(terminal, event.entry, maxLength)
        : [
            `         ${event.outcome.stopReason}, ${event.turns} turns, ${event.toolCalls} tool calls, ${duration(event.durationMs)}`,
          ];
    terminal.out([...(id === last ? [] : [terminal.paint("bold", `── ${id}`)]), ...lines].join("\n"));
    last = id;
  };
  return { onEvent, stop: () => {} };
}

function printDryRun(terminal: Terminal, { run }: ResolvedRun, datasets: DryDataset[]): number {
  const rows = datasets.map((dataset) => [
    dataset.name,
    String(dataset.queries),
    String(dataset.rollouts),
    String(dataset.kept),
    String(dataset.tools),
    dataset.agent,
    dataset.user ?? "–",
    dataset.mode,
    shown(dataset.output),
  ]);
  for (const line of table(
    [["dataset", "queries", "rollouts", "there", "tools", "agent", "user", "mode", "output"], ...rows],
    { right: [1, 2, 3, 4] },
  ))
    terminal.out(line);
  const left = datasets.reduce((sum, dataset) => sum + dataset.rollouts - dataset.kept, 0);
  terminal.out(
    `\n${left} rollouts to make, ${run.maxWorkers} at once, run folder ${shown(run.folder)}. Nothing was written.`,
  );
  return 0;
}

async function printResult(
  terminal: Terminal,
  { run }: ResolvedRun,
  result: RunResult,
  options: ExecuteOptions & { elapsedMs: number },
): Promise<void> {
  const summaries = Object.fromEntries(Object.entries(result.outputs).map(([name, file]) => [name, summarise(file)]));
  writeSummary(join(result.folder, "summary.json"), summaries);
  if (options.quiet) return;
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
  if (Object.values(summaries).some((summary) => summary.scripted > 0)) {
    terminal.out(
      terminal.paint(
        "gray",
        "Scripted models played these dialogues; every record says so. They are no model's output.",
      ),
    );
  }
  if (begun > 0) await printExample(terminal, result);
  terminal.out("");
  for (const file of Object.values(result.outputs)) terminal.out(`trajectories  ${shown(file)}`);
  terminal.out(`run folder    ${shown(result.folder)}`);
  if (result.failed > 0)
    terminal.out(
      `failures      ${shown(join(result.folder, "failures.jsonl"))}: ${result.failed} rollouts ended for infrastructure reasons; run the same command to try them again`,
    );
  if (result.left > 0)
    terminal.out(
      `\nStopped with ${result.left} rollouts left. To go on: ${terminal.paint("bold", `npx ${run.resumeCommand}`)}`,
    );
  else {
    terminal.out("\nNext:");
    terminal.out("  npx rollout single --list --verbose                      what is bundled");
    terminal.out("  npx rollout cross --all --agent-model 'scripted/agent?skill=0.7'   an agent that errs");
    terminal.out("  npx rollout --help                                       everything else");
  }
}

async function printExample(terminal: Terminal, result: RunResult): Promise<void> {
  const [file] = Object.values(result.outputs);
  const trajectory = file && (await firstRecord(file));
  if (!trajectory) return;
  terminal.out(
    `\n${terminal.paint("bold", `One of them: ${trajectory.id}`)} (${trajectory.domains.join(" + ")}, ended by ${trajectory.metadata.stop_reason})\n`,
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
