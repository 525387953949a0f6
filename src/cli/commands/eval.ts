// `rollout eval`: scores a run, finished or not, again and again, without generating anything.
import { readYaml } from "../../config/index.ts";
import { dropUndefined } from "../../core/index.ts";
import { registryFileSchema } from "../../models/index.ts";
import { openRun } from "../../runs/index.ts";
import {
  buildReport,
  type EvaluationCounts,
  type EvaluationSettings,
  evaluationSchema,
  mergeSettings,
  scoreRun,
} from "../../scoring/index.ts";
import { list, whole } from "../flags.ts";
import type { Configure, Host } from "../host.ts";
import { listenForInterrupt } from "../interrupt.ts";
import { reportLines, worstLines } from "../printing/report-text.ts";
import { createTerminal, printable } from "../printing/terminal.ts";

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

export const configure: Configure = (command, host, done) => {
  command
    .argument("<folder>")
    .option("--check <a,b>", "these checks, or files of your own (default: all that need no judge)", list)
    .option("--judge-model <name>", "model that judges; adds the checks that need one")
    .option("--votes <n>", evaluationSchema.shape.votes.description ?? "", whole(1))
    .option("--rules <file>", "YAML with the keys of a config's eval")
    .option("--models-config <file>", "your models.yml")
    .option("--base-path <dir>", "dataset folder, where it is another one than the run was made with")
    .option("--python <path>", "Python for dropped-in servers: an interpreter or a virtual environment")
    .option("--max-workers <n>", "rollouts at once (default: as many as the run had)", whole(1))
    .option("--quiet", "print nothing but errors")
    .addHelpText("after", EXAMPLES)
    .action(async (folder: string, flags: EvalFlags) => done(await runEval(folder, flags, host)));
};

async function runEval(folder: string, flags: EvalFlags, host: Host): Promise<number> {
  const terminal = createTerminal(host);
  const { manifest } = openRun(folder);
  const settings = settingsFrom(flags);
  const interrupt = listenForInterrupt(host, () => terminal.err("Stopping; what is scored is kept."));
  try {
    const counts = await scoreRun({
      folder,
      settings,
      env: host.env,
      registry: flags.modelsConfig ? readYaml(flags.modelsConfig, registryFileSchema).models : undefined,
      basePath: flags.basePath,
      python: flags.python,
      maxWorkers: flags.maxWorkers,
      park: interrupt.park,
      onNotice: (message) => terminal.err(printable(message)),
    });
    if (!flags.quiet) {
      const report = buildReport(folder, mergeSettings(manifest, settings).score);
      const lines = [summaryLine(counts, folder), ...reportLines(terminal, report), ...worstLines(terminal, report)];
      for (const line of lines) terminal.out(line);
    }
    return interrupt.park.aborted ? 130 : 0;
  } finally {
    interrupt.release();
  }
}

/** The rules file, overridden by the flags. */
function settingsFrom({ check: checks, judgeModel: judge_model, votes, rules }: EvalFlags): EvaluationSettings {
  const own: EvaluationSettings = rules ? readYaml(rules, evaluationSchema) : {};
  return { ...own, ...dropUndefined({ checks, judge_model, votes }) };
}

function summaryLine({ rollouts, scored, kept, checks }: EvaluationCounts, folder: string): string {
  const done = scored === 0 ? "nothing new to score" : `${scored} scored, ${checks} results`;
  return `${rollouts} rollouts in ${folder}: ${done}${kept > 0 ? `, ${kept} results kept from before` : ""}`;
}
