// `rollout single` and `rollout cross`: domains or combinations of a dataset folder, without a config file.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { stringify } from "yaml";
import { UsageError } from "../core/index.ts";
import { type DatasetKind, type DomainFiles, openQueryFiles } from "../domains/index.ts";
import {
  type Config,
  DEFAULTS,
  defined,
  listDomains,
  locateDomain,
  locateFolder,
  resolveConfig,
  type Source,
} from "../runner/index.ts";
import { fileName, jsonLine } from "../runs/index.ts";
import { execute, type Host } from "./execute.ts";
import { domainLines } from "./list-text.ts";
import { addRunOptions, commandLine, overridesFrom, type RunFlags, temperature, whole } from "./options.ts";
import { createTerminal } from "./terminal.ts";

type BatchFlags = RunFlags & {
  all?: boolean;
  domains?: string[];
  list?: boolean;
  maxTurns?: number;
  maxStepsPerTurn?: number;
  agentTemperature?: number;
  userTemperature?: number;
  thinking?: boolean;
  modelsConfig?: string;
  basePath?: string;
  queryDir?: string;
  policyDir?: string;
  generateConfigs?: boolean;
  configOutputDir?: string;
  mergeQueries?: boolean;
  requirePolicy?: boolean;
  minDomains?: number;
};

const EXAMPLES = {
  single: `
Examples:
  rollout single --list --verbose
  rollout single --domains StudentAcademicPortal --limit 5
  rollout single --all --max-workers 32 --output-dir outputs/all
  rollout single --all --agent-model 'scripted/agent?skill=0.7' --output-dir outputs/skill-0.7`,
  cross: `
Examples:
  rollout cross --list --verbose
  rollout cross --domains StudentFinancialServices StudentAcademicPortal --limit 5
  rollout cross --all --max-workers 32 --output-dir outputs/combinations
  rollout cross --generate-configs --config-output-dir configs/generated`,
};

export function addBatchCommand(kind: DatasetKind, program: Command, host: Host, done: (code: number) => void): void {
  const what = kind === "single" ? "domains" : "combinations";
  const command = addRunOptions(program.command(kind).description(`make rollouts of ${what} of a dataset folder`))
    .option("--all", `all ${what}`)
    .option("--domains <names...>", kind === "single" ? "these domains" : "one combination, in any order")
    .option("--list", `list the ${what} (with --verbose: tools, policy, what is missing)`)
    .option("--max-turns <n>", `turns at most (default: ${DEFAULTS.maxTurns})`, whole(1))
    .option("--max-steps-per-turn <n>", `steps of one turn at most (default: ${DEFAULTS.maxStepsPerTurn})`, whole(1))
    .option("--agent-temperature <t>", "temperature of the agent", temperature)
    .option("--user-temperature <t>", "temperature of the simulated user", temperature)
    .option("--no-thinking", "the agent answers without reasoning")
    .option("--models-config <file>", "your models.yml")
    .option("--base-path <dir>", `dataset folder (default: ./datasets/${kind}_domain, else the bundled domains)`)
    .option("--query-dir <dir>", "queries from another folder")
    .option("--policy-dir <dir>", "policies from another folder")
    .option("--generate-configs", "write one config file each, and exit")
    .option("--config-output-dir <dir>", "where they go (default: configs/generated)");
  if (kind === "cross") {
    command
      .option("--merge-queries", "write scattered query files merged, and exit")
      .option("--require-policy", "only combinations that have a policy")
      .option("--min-domains <n>", "only combinations of so many domains (default: 2)", whole(2));
  }
  command
    .addHelpText("after", EXAMPLES[kind])
    .action(async (flags: BatchFlags) => done(await runBatch(kind, flags, host)));
}

async function runBatch(kind: DatasetKind, flags: BatchFlags, host: Host): Promise<number> {
  const terminal = createTerminal(host);
  const source: Source = defined({
    basePath: flags.basePath,
    bundled: flags.bundled,
    queryDir: flags.queryDir,
    policyDir: flags.policyDir,
  });
  const { folder, bundled } = locateFolder(kind, source);
  const runnable = listDomains(folder.list(kind), { minDomains: flags.minDomains, requirePolicy: flags.requirePolicy });
  if (flags.list) {
    const listed = flags.verbose ? folder.list(kind) : runnable;
    for (const line of domainLines(terminal, listed, {
      verbose: flags.verbose ?? false,
      path: bundled ? "bundled" : folder.path,
    }))
      terminal.out(line);
    return 0;
  }
  const chosen = chooseDomains(kind, flags, runnable, (names) => locateDomain(names, source).files);
  if (flags.mergeQueries)
    return mergeQueries(chosen, flags.queryDir ?? join(folder.path, "queries"), (text) => terminal.out(text));
  const config = configFor(kind, chosen, flags);
  if (flags.generateConfigs) return generateConfigs(config, flags, (text) => terminal.out(text));
  const origin = { folder: join("outputs", kind), resumeCommand: commandLine(kind, flags) };
  return execute(host, resolveConfig(config, origin, overridesFrom(flags)), flags);
}

function chooseDomains(
  kind: DatasetKind,
  flags: BatchFlags,
  runnable: DomainFiles[],
  find: (names: string[]) => DomainFiles,
): DomainFiles[] {
  const everything = flags.all || flags.generateConfigs || flags.mergeQueries;
  if (!flags.domains && !everything)
    throw new UsageError(`Say which: --all, or --domains ${kind === "single" ? "NAME…" : "A B"} (--list shows them)`);
  if (!flags.domains) {
    if (runnable.length === 0)
      throw new UsageError(
        kind === "single" ? "There are no domains with queries here" : "There are no combinations with queries here",
      );
    return runnable;
  }
  const names = flags.domains.flatMap((name) => name.split(",")).filter((name) => name !== "");
  if (kind === "cross" && names.length < 2)
    throw new UsageError("A combination needs two domains or more: --domains A B");
  const found = kind === "single" ? names.map((name) => find([name])) : [find(names)];
  for (const files of found) {
    if (files.queryFiles.length === 0)
      throw new UsageError(
        `${files.name} has no queries: ${files.missing.join(", ")} ${files.missing.length === 1 ? "is" : "are"} missing`,
      );
  }
  return found;
}

function configFor(kind: DatasetKind, domains: DomainFiles[], flags: BatchFlags): Config {
  return defined({
    datasets: Object.fromEntries(
      domains.map((files) => [files.name, kind === "cross" ? { tools: files.servers } : {}]),
    ),
    base_path: flags.basePath,
    query_dir: flags.queryDir,
    policy_dir: flags.policyDir,
    models_config_file: flags.modelsConfig,
    agent_temperature: flags.agentTemperature,
    user_temperature: flags.userTemperature,
    enable_thinking: flags.thinking === false ? false : undefined,
    max_turns: flags.maxTurns,
    max_steps_per_turn: flags.maxStepsPerTurn,
  });
}

/** One file each, with what is in force written out, for review. */
function generateConfigs(config: Config, flags: BatchFlags, print: (text: string) => void): number {
  const folder = flags.configOutputDir ?? join("configs", "generated");
  mkdirSync(folder, { recursive: true });
  const { datasets, ...settings } = config;
  for (const [name, dataset] of Object.entries((datasets ?? {}) as { [name: string]: object })) {
    const file = join(folder, `${fileName(name)}.yml`);
    const written = {
      output_dir: join(flags.outputDir ?? "outputs", fileName(name)),
      max_workers: flags.maxWorkers ?? DEFAULTS.maxWorkers,
      seed: flags.seed ?? DEFAULTS.seed,
      ...settings,
      ...defined({ agent_model: flags.agentModel, user_model: flags.userModel, mode: flags.mode, limit: flags.limit }),
      max_turns: flags.maxTurns ?? DEFAULTS.maxTurns,
      max_steps_per_turn: flags.maxStepsPerTurn ?? DEFAULTS.maxStepsPerTurn,
      datasets: { [name]: dataset },
    };
    writeFileSync(file, stringify(written));
    print(file);
  }
  return 0;
}

function mergeQueries(domains: DomainFiles[], folder: string, print: (text: string) => void): number {
  for (const files of domains) {
    const queries = openQueryFiles(files.queryFiles);
    const target = join(folder, `${fileName(files.name)}.jsonl`);
    const lines = queries.ids.map((_, index) => jsonLine(queries.record(index)));
    writeFileSync(target, lines.join(""));
    print(
      `${target}: ${queries.size} queries from ${files.queryFiles.length} files, ${queries.repeats} repeats left out`,
    );
    for (const { id, keptAs, first, second } of queries.clashes) {
      print(
        `  "${id}" stands for two queries (${first.file}:${first.line}, ${second.file}:${second.line}); the second is "${keptAs}"`,
      );
    }
  }
  return 0;
}
