// `rollout eval`: scores a run, finished or not, again and again, without generating anything.
import { join } from "node:path";
import type { Command } from "commander";
import { isObject, systemClock, UsageError } from "../core/index.ts";
import { registryFileSchema } from "../models/index.ts";
import { createResources, openJudge, openNetwork, readYaml, scoredFromManifest } from "../runner/index.ts";
import { type Manifest, readManifest } from "../runs/index.ts";
import {
  buildReport,
  chooseChecks,
  type EvaluationCounts,
  type EvaluationSettings,
  evaluate,
  evaluationSchema,
} from "../scoring/index.ts";
import type { Host } from "./execute.ts";
import { listenForInterrupt } from "./interrupt.ts";
import { list, whole } from "./options.ts";
import { reportLines } from "./report-text.ts";
import { createTerminal } from "./terminal.ts";

type EvalFlags = {
  check?: string[];
  judgeModel?: string;
  votes?: number;
  rules?: string;
  modelsConfig?: string;
  basePath?: string;
  python?: string;
  maxWorkers?: number;
  quiet?: boolean;
};

const EXAMPLES = `
Examples:
  rollout eval outputs/example
  rollout eval outputs/example --check state,policy
  rollout eval outputs/example --check quality --judge-model openai/gpt-5 --votes 3
  rollout eval outputs/example --check ./checks/polite.ts`;

export function addEvalCommand(program: Command, host: Host, done: (code: number) => void): void {
  program
    .command("eval <dir>")
    .description("score a run's rollouts into scores.jsonl; what is scored already is kept")
    .option("--check <a,b>", "these checks, or files of your own (default: all that need no judge)", list)
    .option("--judge-model <name>", "model that judges; adds the checks that need one")
    .option("--votes <n>", "how often the judge is asked (default: 1)", whole(1))
    .option("--rules <file>", "YAML with the keys of a config's eval:")
    .option("--models-config <file>", "your models.yml")
    .option("--base-path <dir>", "dataset folder, where it is another one than the run was made with")
    .option("--python <path>", "Python for dropped-in servers: an interpreter or a virtual environment")
    .option("--max-workers <n>", "rollouts at once (default: 8)", whole(1))
    .option("--quiet", "print nothing but errors")
    .addHelpText("after", EXAMPLES)
    .action(async (dir: string, flags: EvalFlags) => done(await runEval(dir, flags, host)));
}

async function runEval(dir: string, flags: EvalFlags, host: Host): Promise<number> {
  const terminal = createTerminal(host);
  const manifest = requireRun(dir);
  const settings = settingsFrom(manifest, flags);
  const interrupt = listenForInterrupt(host, (text) => terminal.err(text));
  const resources = createResources({
    env: host.env,
    nameStyle: "prefixed",
    onNotice: (text) => terminal.err(text),
    ...(flags.python ? { python: flags.python } : {}),
  });
  const registry = flags.modelsConfig ? readYaml(flags.modelsConfig, registryFileSchema).models : registryOf(manifest);
  const network = openNetwork({ registry, env: host.env, clock: systemClock });
  try {
    const judge = openJudge(settings, network.createClient);
    const counts = await evaluate({
      folder: dir,
      datasets: await scoredFromManifest(manifest, {
        ...resources,
        basePath: flags.basePath,
        onNotice: (text) => terminal.err(text),
      }),
      checks: await chooseChecks(settings, judge !== undefined),
      ...(judge ? { judge } : {}),
      workers: flags.maxWorkers ?? 8,
      signal: interrupt.park,
    });
    if (!flags.quiet) {
      terminal.out(summaryLine(counts, dir));
      for (const line of reportLines(terminal, [buildReport(dir, settings.score)])) terminal.out(line);
    }
    return interrupt.park.aborted ? 130 : 0;
  } finally {
    interrupt.release();
    await Promise.all([network.close(), resources.close()]);
  }
}

export function requireRun(dir: string): Manifest {
  const manifest = readManifest(join(dir, "manifest.json"));
  if (!manifest) throw new UsageError(`${dir} is not a run folder: it has no manifest.json`);
  return manifest;
}

/** The config's own `eval:`, then a file, then flags. */
function settingsFrom({ config }: Manifest, flags: EvalFlags): EvaluationSettings {
  const own = isObject(config) ? evaluationSchema.safeParse(config.eval).data : undefined;
  const { check: checks, judgeModel: judge_model, votes } = flags;
  return {
    ...own,
    ...(flags.rules ? readYaml(flags.rules, evaluationSchema) : {}),
    ...(checks ? { checks } : {}),
    ...(judge_model ? { judge_model } : {}),
    ...(votes ? { votes } : {}),
  };
}

/** Models that the run's config registered; keys are there by name only, which is how they are looked up. */
function registryOf({ config }: Manifest) {
  const models = isObject(config) ? config.models : undefined;
  return registryFileSchema.safeParse({ models }).data?.models ?? {};
}

function summaryLine({ rollouts, scored, kept, checks }: EvaluationCounts, dir: string): string {
  const done = scored === 0 ? "nothing new to score" : `${scored} scored, ${checks} results`;
  return `${rollouts} rollouts in ${dir}: ${done}${kept > 0 ? `, ${kept} results kept from before` : ""}`;
}
