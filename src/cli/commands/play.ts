// `rollout play`: a person takes the agent's or the user's seat in one dialogue.
import { join } from "node:path";
import { Option } from "commander";
import { DatasetLocator, type ResolvedRun, resolveConfig, resolveConfigFile } from "../../config/index.ts";
import { type Party, UsageError } from "../../core/index.ts";
import { openQueryFiles } from "../../domains/index.ts";
import { fileName } from "../../files/index.ts";
import { findFreePath, MANIFEST_FILE, readManifest, readRun } from "../../runs/index.ts";
import { readEnvFile } from "../env-file.ts";
import { addConfigFlags, GROUPS, toPatch, whole } from "../flags.ts";
import type { Configure } from "../host.ts";
import type { SeatFlags } from "../take-seat.ts";

type PlayFlags = SeatFlags & { as: Party; config?: string };

const EXAMPLES = `
Examples:
  rollout play StudentAcademicPortal --as user              talk to the scripted agent, in the terminal
  rollout play StudentAcademicPortal --as agent --eval      be the agent: call the tools, then be scored
  rollout play StudentAcademicPortal --as agent --view      the same on a page, with a form for each tool
  rollout play mine QUERY --as user --config my.yml --agent-model openai/gpt-4.1

In the terminal, /help lists what can be typed. Ctrl-C leaves; the same command goes on where you left. The record
is like any other; its party is named human.`;

/** Those that make sense for one dialogue. */
const KEYS = [
  ...["base_path", "query_dir", "policy_dir", "bundled", "mode", "python", "mcp_config_file", "tool_files"],
  ...["agent_model", "user_model", "agent_temperature", "user_temperature", "enable_thinking", "models_config_file"],
  ...["max_turns", "max_steps_per_turn", "max_rollout_seconds", "max_cost", "max_tokens_total"],
  ...["seed", "eval", "judge_model", "resume", "allow_drift", "system_prompt_file", "output_dir", "verbose_colors"],
] as Parameters<typeof addConfigFlags>[1];

export const configure: Configure = (command, host, done) => {
  command
    .argument("<domain>", "a domain, a combination (A,B), or with --config one of its datasets")
    .argument("[query]", "the id of a query (default: the first)")
    .optionsGroup(GROUPS.input)
    .addOption(new Option("--as <party>", "whose seat you take").choices(["agent", "user"]).makeOptionMandatory())
    .option("-c, --config <file>", "YAML config that has the dataset");
  addConfigFlags(command, KEYS)
    .optionsGroup(GROUPS.output)
    .option("--view", "play on a page in the browser; its address is printed")
    .option("--no-open", "with --view: do not open a browser")
    .option("--port <n>", "with --view: port to listen on; 0 takes any that is free", whole(0), 0)
    .addHelpText("after", EXAMPLES)
    .action(async (domain: string, query: string | undefined, flags: PlayFlags) => {
      if (flags.config) readEnvFile(host, flags.config);
      const run = resolveSeat(domain, query, flags, toPatch(command));
      const { takeSeat } = await import("../take-seat.ts");
      done(await takeSeat(host, run, flags.as, flags));
    });
};

type Patch = ReturnType<typeof toPatch>;

/** One rollout of one query, in a folder of its own: the one that was left, or a new one. */
function resolveSeat(domain: string, query: string | undefined, flags: PlayFlags, patch: Patch): ResolvedRun {
  const key = flags.as === "agent" ? "agent_model" : "user_model";
  if (patch[key] !== undefined)
    throw new UsageError(`You are the ${flags.as}: leave out --${key.replace("_", "-")}, or take the other seat`);
  const seated = { ...patch, [key]: "human", rollouts: 1, max_workers: 1, use_checkpoints: true, limit: undefined };
  const first = resolveDomain(domain, flags, seated);
  const id = query ?? firstQuery(first);
  const wanted = patch.output_dir ?? join("outputs", "play", fileName(`${domain}-${id}-${flags.as}`));
  const isNew = patch.resume === false || (patch.resume === undefined && isPlayed(wanted));
  const folder = isNew ? findFreePath(wanted) : wanted;
  const own = withoutOutput(first.config.datasets, domain);
  return resolveDomain(domain, flags, { ...seated, ...own, ids: [id], resume: true, output_dir: folder });
}

/** A seat's record goes into its own folder, not to the others of the config. */
function withoutOutput(datasets: ResolvedRun["config"]["datasets"], name: string): Patch {
  const dataset = Array.isArray(datasets) ? undefined : datasets?.[name];
  return dataset?.output_path === undefined ? {} : { datasets: { [name]: { ...dataset, output_path: undefined } } };
}

function resolveDomain(domain: string, { config }: PlayFlags, patch: Patch): ResolvedRun {
  if (config !== undefined) return resolveConfigFile(config, { ...patch, dataset: domain });
  const locator = new DatasetLocator(patch);
  const { name, servers } = locator.findServers(domain.split(",").map((part) => part.trim())).files;
  const datasets = { [name]: servers.length > 1 ? { tools: servers } : {} };
  return resolveConfig({ datasets }, { folder: join("outputs", "play"), patch, locator });
}

function firstQuery({ datasets }: ResolvedRun): string {
  const [dataset] = datasets;
  const [id] = dataset ? openQueryFiles(dataset.queryFiles, dataset.defaults).ids : [];
  if (id === undefined) throw new UsageError(`${dataset?.name ?? "The dataset"} has no queries`);
  return id;
}

function isPlayed(folder: string): boolean {
  if (!readManifest(join(folder, MANIFEST_FILE))) return false;
  const { done, planned } = readRun(folder).tally.totals(Date.now());
  return done >= planned;
}
