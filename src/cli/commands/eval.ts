// `rollout eval`: scores a run, finished or not, again and again, without generating anything; also record files that
// were made elsewhere.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createServerOpener, DatasetLocator, readModelsFile, readYaml } from "../../config/index.ts";
import { dropUndefined, UsageError } from "../../core/index.ts";
import type { DomainFiles } from "../../domains/index.ts";
import { MANIFEST_FILE, openRun } from "../../runs/index.ts";
import {
  buildReport,
  type EvaluationCounts,
  type EvaluationSettings,
  evaluationSchema,
  mergeSettings,
  type Report,
  scoreFiles,
  scoreRun,
} from "../../scoring/index.ts";
import { readEnvFile } from "../env-file.ts";
import { hideVariables } from "../environment.ts";
import { GROUPS, list, whole } from "../flags.ts";
import type { Configure, Host } from "../host.ts";
import { listenForInterrupt } from "../interrupt.ts";
import { createCountProgress } from "../printing/count-progress.ts";
import { reportLines, worstLines } from "../printing/report-text.ts";
import { createTerminal, printableJson, printableName, type Terminal } from "../printing/terminal.ts";

type EvalFlags = {
  check?: string[];
  judgeModel?: string;
  votes?: number;
  rules?: string;
  modelsConfig?: string;
  basePath?: string;
  bundled?: boolean;
  domains?: string[];
  python?: string;
  maxWorkers?: number;
  force?: boolean;
  quiet?: boolean;
  json?: boolean;
};

const EXAMPLES = `
Examples:
  rollout eval outputs/example
  rollout eval outputs/example --check state,policy
  rollout eval outputs/example --check quality --judge-model openai/gpt-5 --votes 3
  rollout eval outputs/example --check ./checks/polite.ts
  rollout eval records.jsonl --base-path datasets --domains SlotDesk      records made elsewhere`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<path>", "a run; or, with --domains, a file of records made elsewhere, or a folder of such files")
    .optionsGroup(GROUPS.input)
    .option("--base-path <dir>", "dataset folder, where it is another one than the run was made with")
    .option("--bundled", "the bundled domains, for records made elsewhere")
    .option("--domains <names...>", "the domain, or the one combination, of records made elsewhere")
    .option("--python <path>", "Python for dropped-in servers: an interpreter or a virtual environment")
    .optionsGroup(GROUPS.models)
    .option("--judge-model <name>", "model that judges; adds the checks that need one")
    .option("--models-config <file>", "your models.yml (default: configs/models.yml, where it exists)")
    .optionsGroup(GROUPS.limits)
    .option("--max-workers <n>", "rollouts at once (default: as many as the run had, else 8)", whole(1))
    .optionsGroup(GROUPS.run)
    .option(
      "--check <a,b>",
      "these checks alone, or files of your own: they decide (default: all that need no judge)",
      list,
    )
    .option("--votes <n>", evaluationSchema.shape.votes.description ?? "", whole(1))
    .option("--rules <file>", "YAML with the keys of a config's eval")
    .option("--force", "score everything again, also what has not changed")
    .optionsGroup(GROUPS.output)
    .option("--quiet", "print nothing but errors")
    .option("--json", "print counts and report as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action(async (path: string, flags: EvalFlags) => done(await runEval(path, flags, host)));
};

async function runEval(path: string, flags: EvalFlags, host: Host): Promise<number> {
  const terminal = createTerminal(host);
  const domain = findDomain(path, flags);
  const manifest = domain ? undefined : openRun(path).manifest;
  if (manifest?.config_file) readEnvFile(host, manifest.config_file);
  const settings = settingsFrom(flags);
  const registry = readModelsFile(flags.modelsConfig);
  hideVariables(manifest?.config, registry, settings);
  const interrupt = listenForInterrupt(host, () => terminal.err("Stopping; what is scored is kept."));
  const progress = createCountProgress(host, { text: "no rollout scored yet", quiet: flags.quiet || flags.json });
  const told = new Set<string>();
  const onNotice = (message: string) => {
    progress.erase();
    if (!told.has(message)) terminal.err(printableName(message));
    told.add(message);
  };
  try {
    const options = {
      settings,
      env: host.env,
      registry,
      python: flags.python,
      maxWorkers: flags.maxWorkers,
      force: flags.force,
      park: interrupt.park,
      abort: interrupt.abort,
      onNotice,
      onRollout: () => progress.count("rollouts scored"),
    };
    const records = domain && (await scoreFiles({ ...options, path, domain }));
    const counts =
      records?.counts ??
      (await scoreRun({ ...options, folder: path, basePath: flags.basePath, openServers: createServerOpener }));
    progress.stop();
    if (!flags.quiet || flags.json) {
      const report =
        records?.report ??
        buildReport(path, mergeSettings(openRun(path).manifest, settings).score, { only: counts.only });
      const scoresFile = records?.scoresFile;
      report.damage.forEach(onNotice);
      if (flags.json) terminal.out(printableJson(JSON.stringify({ counts, scores_file: scoresFile, report })));
      else for (const line of resultLines(terminal, { path, counts, report, scoresFile })) terminal.out(line);
    }
    return interrupt.park.aborted ? 130 : 0;
  } catch (error) {
    if (interrupt.park.aborted && error === interrupt.park.reason) return 130;
    throw error;
  } finally {
    progress.stop();
    interrupt.release();
  }
}

type Result = { path: string; counts: EvaluationCounts; report: Report; scoresFile: string | undefined };

/** `scoresFile` is of records made elsewhere: what `show` reads is a run folder. */
function resultLines(terminal: Terminal, { path, counts, report, scoresFile }: Result): string[] {
  const last = scoresFile === undefined ? worstLines(terminal, report) : ["", `The scores are in ${scoresFile}`];
  return [summaryLine(counts, path), ...reportLines(terminal, report), ...last];
}

/** Of records made elsewhere; undefined for a run, whose manifest names its own. */
function findDomain(path: string, { domains, basePath, bundled }: EvalFlags): DomainFiles | undefined {
  if (!existsSync(path) || existsSync(join(path, MANIFEST_FILE))) {
    openRun(path); // or says that there is none
    if (!domains && !bundled) return undefined;
    throw new UsageError(
      `${path} is a run, and its manifest names its domains: --domains and --bundled are for records without a manifest`,
    );
  }
  const names = (domains ?? []).flatMap(list);
  const missing = [
    ...(basePath || bundled ? [] : ["--base-path DATASET (or --bundled)"]),
    ...(names.length > 0 ? [] : ["--domains NAME (for a combination A,B)"]),
  ];
  if (missing.length > 0)
    throw new UsageError(`${path} has no manifest.json: to score records made elsewhere, add ${missing.join(" and ")}`);
  return new DatasetLocator({ base_path: basePath, bundled }).findServers(names).files;
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
