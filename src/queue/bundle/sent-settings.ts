// A run's settings as they are sent: what a worker plays by, and nothing that only the collecting side uses.
import type { DatasetSpec, FullConfig, ResolvedRun } from "../../config/index.ts";
import { UsageError } from "../../core/index.ts";
import { findEntry, type PartyModel, type Registry } from "../../models/index.ts";
import { listTableFiles } from "../../tools/index.ts";

/** Resolved into datasets and registry, or of no use to a worker: outputs, scores, printing. */
const LEFT_OUT = [
  ...(["$schema", "datasets", "auto_discover", "dataset", "base_path", "query_dir", "policy_dir", "bundled"] as const),
  ...(["output_dir", "checkpoint_dir", "log_file", "record", "judge_model"] as const),
  ...(["models", "models_config_file", "mcpServers", "mcp_config_file", "tool_files", "corpus"] as const),
  ...(["system_prompt_file", "agent_model", "user_model", "verbose"] as const),
] satisfies (keyof FullConfig)[];

export function sentConfig(config: FullConfig): FullConfig {
  if (config.record !== undefined)
    throw new UsageError(
      "record (--record) does not go with a queue: the calls are made on many machines, and cassettes stay where they are made",
    );
  const left: readonly string[] = LEFT_OUT;
  const kept = Object.entries(config).filter(([key]) => !left.includes(key));
  return { ...(Object.fromEntries(kept) as FullConfig), eval: false };
}

/** Without what it does not use: files that nobody reads there, domains whose tools are not offered. */
export function sentDataset(spec: DatasetSpec): DatasetSpec {
  const { output: _output, domain, otherDomains, mode, user, ...rest } = spec;
  const others = mode === "wrong_tool" ? otherDomains.filter(({ servers }) => servers.length === 1) : [];
  return {
    ...rest,
    mode,
    user: rest.maxTurns > 1 ? user : { model: "", settings: {}, prompt: {} },
    domain: {
      ...domain,
      queryFiles: [],
      tableFolders: domain.tableFolders.filter((folder) => listTableFiles(folder).length > 0),
    },
    otherDomains: others.map(({ toolListFiles, ...files }) => ({
      ...files,
      toolListFiles,
      queryFiles: [],
      policyFile: undefined,
      serverFiles: {},
      tableFolders: [],
    })),
  };
}

/** The models that play, with the place that names each. */
export function listParties({ datasets, judge, summary }: ResolvedRun): { party: PartyModel; where: string }[] {
  const own = datasets.flatMap(({ name, agent, user, maxTurns }) => [
    { party: agent, where: `datasets.${name}.agent` },
    ...(maxTurns > 1 ? [{ party: user, where: `datasets.${name}.user` }] : []),
  ]);
  return [
    ...own,
    ...(judge ? [{ party: judge, where: "monitor_judge_model" }] : []),
    ...(summary ? [{ party: summary, where: "summary_model" }] : []),
  ];
}

/** The entries that they use: others may hold anything. */
export function sentRegistry(registry: Registry, parties: readonly { party: PartyModel }[]): Registry {
  const used = new Set(parties.map(({ party }) => findEntry(party.model, registry)?.entry));
  return Object.fromEntries(Object.entries(registry).filter(([, entry]) => used.has(entry)));
}
