// `rollout single` and `rollout cross`: domains or combinations of a dataset folder, without a config file.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import {
  type Config,
  type ConfigPatch,
  chooseRunnable,
  DatasetLocator,
  findDomains,
  type ResolvedRun,
  resolveConfig,
} from "../../config/index.ts";
import { UsageError } from "../../core/index.ts";
import { type DatasetKind, type DomainFiles, openQueryFiles } from "../../domains/index.ts";
import { fileName, jsonLine } from "../../files/index.ts";
import { addRunFlags, GROUPS, type RunFlags, toPatch, whole } from "../flags.ts";
import type { Configure, Host } from "../host.ts";
import { domainLines } from "../printing/list-text.ts";
import { createTerminal, printableName, type Terminal } from "../printing/terminal.ts";

type BatchFlags = RunFlags & {
  all?: boolean;
  domains?: string[];
  list?: boolean;
  generateConfigs?: boolean;
  configOutputDir?: string;
  mergeQueries?: boolean;
  requirePolicy?: boolean;
  force?: boolean;
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
  rollout cross --domains StudentFinancialServices StudentAcademicPortal --limit 5
  rollout cross --all --max-workers 32 --output-dir outputs/combinations
  rollout cross --generate-configs --config-output-dir configs/generated`,
};

export function configureFor(kind: DatasetKind): Configure {
  const what = kind === "single" ? "domains" : "combinations";
  return (command, host, done) => {
    command
      .optionsGroup(GROUPS.input)
      .option("--all", `all ${what}`)
      .option("--domains <names...>", kind === "single" ? "these domains" : "one combination, in any order")
      .option("--list", `list the ${what} (with --verbose: tools, policy, what is missing)`)
      .option("--generate-configs", "write one config file each, and exit")
      .option("--config-output-dir <dir>", "where they go", join("configs", "generated"))
      .option("-f, --force", "write over config files that are there already");
    if (kind === "cross") {
      command
        .option("--merge-queries", "write scattered query files merged, and exit")
        .option("--require-policy", "only combinations that have a policy")
        .option("--min-domains <n>", "only combinations of at least so many domains", whole(2), 2);
    }
    addRunFlags(command, { of: "domains" })
      .addHelpText("after", EXAMPLES[kind])
      .action(async (flags: BatchFlags) => {
        const run = resolveBatch(kind, flags, toPatch(command), host);
        if (typeof run === "number") return done(run);
        const { runCommand } = await import("../run-command.ts");
        done(await runCommand(host, run, flags));
      });
  };
}

/** The run that the flags ask for; or, if they ask for something else, its exit code. */
function resolveBatch(kind: DatasetKind, flags: BatchFlags, patch: ConfigPatch, host: Host): ResolvedRun | number {
  const locator = new DatasetLocator(patch);
  const batch: Batch = { kind, flags, patch, locator, terminal: createTerminal(host) };
  if (flags.list) return listDomains(batch);
  const choice = chooseDatasets(batch);
  if (flags.mergeQueries) return mergeQueries(batch, choice);
  if (flags.generateConfigs) return generateConfigs(batch, choice);
  return resolveConfig(choice, { folder: join("outputs", kind), patch, locator });
}

type Batch = { kind: DatasetKind; flags: BatchFlags; patch: ConfigPatch; locator: DatasetLocator; terminal: Terminal };

function listDomains({ kind, flags, patch, locator, terminal }: Batch): number {
  const { verbose = false } = patch;
  const opened = locator.folder(kind);
  const { folder, bundled } = opened;
  locator.use(opened);
  for (const note of locator.notes()) terminal.err(printableName(note));
  const all = folder.list(kind);
  const { minDomains: min_domains, requirePolicy: require_policy } = flags;
  const listed = verbose ? all : chooseRunnable(all, { min_domains, require_policy });
  const path = bundled ? "bundled" : folder.path;
  for (const line of domainLines(terminal, listed, { verbose, path })) terminal.out(line);
  return 0;
}

type Choice = Pick<Config, "datasets" | "auto_discover">;

/** The datasets that the flags name, as a config would: those named, or all of them. */
function chooseDatasets({ kind, flags, locator }: Batch): Choice {
  const { minDomains: min_domains, requirePolicy: require_policy } = flags;
  if (!flags.domains) {
    if (!flags.all && !flags.generateConfigs && !flags.mergeQueries)
      throw new UsageError(`Say which: --all, or --domains ${kind === "single" ? "NAME…" : "A B"} (--list shows them)`);
    return { auto_discover: { kind, min_domains, require_policy } };
  }
  const names = flags.domains.flatMap((name) => name.split(",")).filter((name) => name !== "");
  if (kind === "cross" && names.length < 2)
    throw new UsageError("A combination needs two domains or more: --domains A B");
  const sets = kind === "single" ? names.map((name) => [name]) : [names];
  return { datasets: datasetsOf(sets.map((set) => requireQueries(locator.findServers(set).files))) };
}

function datasetsOf(domains: DomainFiles[]): Config["datasets"] {
  return Object.fromEntries(domains.map(({ name, servers }) => [name, servers.length > 1 ? { tools: servers } : {}]));
}

function requireQueries(files: DomainFiles): DomainFiles {
  if (files.queryFiles.length > 0) return files;
  const { name, missing } = files;
  throw new UsageError(`${name} has no queries: ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`);
}

/** One file per dataset, with the effective settings written out, for review. */
function generateConfigs({ flags, patch, locator, terminal }: Batch, choice: Choice): number {
  const { configOutputDir: folder = "." } = flags;
  const { output_dir = "outputs", ...settings } = patch;
  const made = findDomains(choice, locator).map((files) => {
    const file = join(folder, `${fileName(files.name)}.yml`);
    const datasets = datasetsOf([files]);
    const run = join(output_dir, fileName(files.name));
    const { config } = resolveConfig({ datasets }, { folder: run, patch: settings, locator });
    const { max_workers, seed, rollouts, max_turns, max_steps_per_turn, mode } = config;
    const written = {
      output_dir: run,
      ...{ max_workers, seed, rollouts, max_turns, max_steps_per_turn, mode },
      ...settings,
      datasets,
    };
    return { file, text: stringify(written) };
  });
  const other = made.find(({ file, text }) => existsSync(file) && readFileSync(file, "utf8") !== text);
  if (other && !flags.force) throw new UsageError(`${other.file} is there already and differs: --force writes over it`);
  mkdirSync(folder, { recursive: true });
  for (const { file, text } of made) {
    writeFileSync(file, text);
    terminal.out(file);
  }
  return 0;
}

function mergeQueries({ kind, patch, locator, terminal }: Batch, choice: Choice): number {
  const folder = patch.query_dir ?? join(locator.folder(kind).folder.path, "queries");
  for (const files of findDomains(choice, locator)) {
    const queries = openQueryFiles(files.queryFiles);
    const target = join(folder, `${fileName(files.name)}.jsonl`);
    const lines = queries.ids.map((_, index) => jsonLine(queries.record(index)));
    writeFileSync(target, lines.join(""));
    terminal.out(
      `${target}: ${queries.size} queries from ${files.queryFiles.length} files, ${queries.repeats} repeats left out`,
    );
    for (const { id, keptAs, first, second } of queries.clashes) {
      terminal.out(
        `  "${id}" is used by two queries (${first.file}:${first.line}, ${second.file}:${second.line}); the second is "${keptAs}"`,
      );
    }
  }
  return 0;
}
