// The config, every key once: its type, its default, its sentence and its flag. YAML files, flags, `--help`, the JSON Schema
// for editors and the tables of docs/config.md are all made from here. Strict: an unknown key is an error.
import { z } from "zod";
import { MODES } from "../core/index.ts";
import { STOP_CONDITIONS } from "../dialogue/index.ts";
import { registrySchema } from "../models/index.ts";
import { evaluationSchema } from "../scoring/index.ts";
import { mcpServersSchema, toolFaultsSchema } from "../tools/index.ts";

/** How a key is set on the command line. */
type FlagSpec = {
  /** what stands for the value, such as `<n>`; switches have none */
  value?: string;
  /** instead of the key's own name, with dashes */
  name?: string;
  /** another sentence than the key's, for a flag that says the opposite */
  sentence?: string;
};

/** The registry takes an empty entry for none. */
const flags = z.registry<FlagSpec & { isFlag: true }>();

/** Gives a key a flag on every command that runs rollouts. */
function withFlag<T extends z.ZodType>(type: T, flag: FlagSpec = {}): T {
  flags.add(type, { ...flag, isFlag: true });
  return type;
}

const positive = z.int().positive();
const text = z.string().min(1);

const thinking = z
  .union([z.boolean(), z.looseObject({ type: z.string().optional() })])
  .describe("the same as providers take it, such as {type: enabled, budget_tokens: 4000}");

const partyFields = {
  model: text.optional().describe("provider/model, or a name of the model registry"),
  temperature: z.number().min(0).optional().describe("sampling temperature"),
  top_p: z.number().min(0).max(1).optional().describe("nucleus sampling"),
  max_tokens: positive.optional().describe("longest reply in tokens"),
  system_prompt: z
    .string()
    .optional()
    .describe(
      "replaces the system prompt; {policy} (agent) and {scenario} (user) stand for the domain's and the query's own",
    ),
  system_prompt_file: z.string().optional().describe("the same, from a file"),
  enable_thinking: z.boolean().optional().describe("whether the model reasons before it answers"),
  thinking: thinking.optional(),
  api_base: z
    .union([z.string(), z.array(z.string()).min(1)])
    .optional()
    .describe("base URL, or several replicas; a provider's own key is never sent there"),
  api_key: z.string().nullable().optional().describe(`a literal, \${VAR} or \${VAR:-default}`),
  timeout: z.number().positive().optional().describe("seconds for one model call"),
  max_retries: z.int().nonnegative().optional().describe("attempts after a failure of the endpoint"),
  extra_params: z.record(z.string(), z.json()).optional().describe("merged into every request body"),
  send_seed: z.boolean().optional().describe("send the rollout's seed to the provider"),
  recover_text_calls: z
    .boolean()
    .optional()
    .describe("take tool calls that the model wrote as text, and tag the record"),
};

const agentSchema = z.union([text, z.strictObject(partyFields)]).describe("a model's name, or its settings");
const userSchema = z
  .union([
    text,
    z.strictObject({
      ...partyFields,
      guidelines_file: z.string().optional().describe("a file that replaces the user simulator's guidelines"),
      custom_guidelines: z.string().optional().describe("added to the user simulator's guidelines"),
    }),
  ])
  .describe("a model's name, or its settings");

const datasetSchema = z
  .strictObject({
    path: z.string().optional().describe("query file (JSONL); default: the domain's own"),
    output_path: z
      .string()
      .optional()
      .describe("where its records go; default: trajectories/NAME.jsonl in the run folder"),
    rounds: z
      .boolean()
      .optional()
      .describe("one file for each round of rollouts (iter1.jsonl, iter2.jsonl, …), with the fields of question sets"),
    mcp_domain: z
      .string()
      .optional()
      .describe("domain or combination (A_B or A+B, in any order); default: the dataset's name"),
    tools: z
      .union([text, z.array(text)])
      .optional()
      .describe("the domains (or mcpServers) to use, where mcp_domain does not say it; an empty list: none"),
    base_path: z.string().optional().describe("its own dataset folder"),
    mcpServers: mcpServersSchema.optional().describe("real MCP servers instead of a domain"),
    mcp_config_file: z.string().optional().describe("a JSON or YAML file that holds mcpServers"),
    faults: toolFaultsSchema.optional().describe("faults that its tools inject on purpose"),
    agent: agentSchema.optional(),
    user: userSchema.optional(),
    max_turns: positive.optional().describe("instead of the run's"),
    max_steps_per_turn: positive.optional().describe("instead of the run's"),
    mode: z.enum(MODES).optional().describe("instead of the run's"),
  })
  .nullable();

export const LOG_LEVELS = [
  ...(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const),
  ...(["debug", "info", "warning", "error", "critical"] as const),
] as const;

type Condition = (typeof STOP_CONDITIONS)[number];
type ConditionShape = { [C in Condition as C["key"]]: C["schema"] };

/** Each stop condition brings its own key. */
const conditionKeys = Object.fromEntries(STOP_CONDITIONS.map(({ key, schema }) => [key, schema])) as ConditionShape;

/** The keys of a config in sections, as the docs show them. */
export const CONFIG_SECTIONS = {
  run: {
    $schema: z.string().optional().describe("for editors; ignored"),
    datasets: z
      .union([z.record(text, datasetSchema), z.array(text).min(1)])
      .optional()
      .describe("the datasets by name; or a list of domains and combinations, with everything else at its default"),
    auto_discover: z
      .strictObject({
        base_path: z.string().optional().describe("dataset folder; default: the run's"),
        kind: z.enum(["single", "cross"]).optional().describe("only domains, or only combinations; default: both"),
        output_dir: z.string().optional().describe("the run folder"),
        min_domains: positive.optional().describe("2 and more: only combinations of at least so many domains"),
        require_policy: z.boolean().optional().describe("only what has a policy"),
        agent_model: z.string().optional().describe("instead of the run's"),
        user_model: z.string().optional().describe("instead of the run's"),
      })
      .optional()
      .describe("everything in a dataset folder, instead of datasets"),
    dataset: withFlag(z.string().optional().describe("only this one of the datasets"), { value: "<name>" }),
    output_dir: withFlag(
      z.string().optional().describe("the run folder; default: outputs/NAME, by config or command"),
      {
        value: "<dir>",
      },
    ),
    base_path: withFlag(
      z.string().optional().describe("dataset folder; default: ./datasets/*_domain, else the bundled domains"),
      { value: "<dir>" },
    ),
    query_dir: withFlag(z.string().optional().describe("queries from another folder"), { value: "<dir>" }),
    policy_dir: withFlag(z.string().optional().describe("policies from another folder"), { value: "<dir>" }),
    bundled: withFlag(z.boolean().default(false).describe("the bundled domains, even where ./datasets exists")),
    limit: withFlag(positive.optional().describe("only the first so many queries of each dataset"), { value: "<n>" }),
    ids: withFlag(z.array(text).optional().describe("only these queries"), { value: "<a,b>" }),
    rollouts: withFlag(positive.default(1).describe("attempts at each query; more later adds only those"), {
      value: "<n>",
    }),
    max_workers: withFlag(positive.default(8).describe("rollouts at once, within and across datasets"), {
      value: "<n>",
    }),
    seed: withFlag(
      z.int().nonnegative().default(0).describe("seed of the run; each rollout's own is derived from it"),
      {
        value: "<n>",
      },
    ),
    eval: withFlag(
      z
        .union([z.boolean(), evaluationSchema])
        .default(false)
        .describe("score each rollout as soon as it is finished; a mapping says how"),
      { sentence: "score each rollout as soon as it is finished" },
    ),
    resume: withFlag(
      z
        .boolean()
        .default(true)
        .describe("continue an earlier run in the folder; false starts next to it, never over it"),
      { sentence: "continue an earlier run in the folder (the default)" },
    ),
    allow_drift: withFlag(
      z.boolean().default(false).describe("continue although settings changed, and mark what is made from now on"),
    ),
    retry_failed: withFlag(
      z.boolean().default(true).describe("try rollouts again that failed for infrastructure reasons"),
      {
        name: "no-retry-failed",
        sentence: "leave rollouts that failed for infrastructure reasons",
      },
    ),
    max_cost: withFlag(
      z.number().positive().optional().describe("dollars that the whole run may cost; then it stops, resumably"),
      {
        value: "<dollars>",
      },
    ),
    max_tokens_total: withFlag(
      positive.optional().describe("tokens that the whole run may use; then it stops, resumably"),
      {
        value: "<n>",
      },
    ),
    record: withFlag(z.string().optional().describe("record every model call into this folder of cassettes"), {
      value: "<dir>",
    }),
    replay: withFlag(z.string().optional().describe("answer model calls from recorded cassettes: no network, no key"), {
      value: "<dir>",
    }),
    use_checkpoints: z
      .boolean()
      .default(true)
      .describe("false journals no entries: rollouts that are cut off start over"),
    checkpoint_dir: z.string().optional().describe("another folder for the journal"),
    sync: z
      .enum(["batch", "always", "never"])
      .default("batch")
      .describe("records are on disk after at most 100 ms, at once, or when the system likes"),
  },
  parties: {
    agent_model: withFlag(
      z
        .string()
        .optional()
        .describe(
          "model of the agent; default: scripted for bundled domains, else openai/deepseek-v3.2-fc if registered",
        ),
      { value: "<name>", sentence: "model of the agent" },
    ),
    user_model: withFlag(
      z
        .string()
        .optional()
        .describe(
          "model of the simulated user; default: scripted for bundled domains, else openai/gpt-5 if registered",
        ),
      { value: "<name>", sentence: "model of the simulated user" },
    ),
    agent_temperature: withFlag(z.number().min(0).optional().describe("temperature of the agent"), { value: "<t>" }),
    user_temperature: withFlag(z.number().min(0).optional().describe("temperature of the simulated user"), {
      value: "<t>",
    }),
    enable_thinking: withFlag(z.boolean().optional().describe("whether the agent reasons before it answers"), {
      name: "no-thinking",
      sentence: "the agent answers without reasoning",
    }),
    max_turns: withFlag(conditionKeys.max_turns, { value: "<n>" }),
    max_steps_per_turn: withFlag(positive.default(10).describe("agent replies in one turn, tool calls included"), {
      value: "<n>",
    }),
    mode: withFlag(z.enum(MODES).default("positive").describe("the right tools, another domain's, or none"), {
      value: "<mode>",
    }),
  },
  monitor: {
    enable_monitor: z.boolean().default(true).describe("false switches off all monitor_… keys"),
    ...conditionKeys,
    monitor_use_llm_judge: z
      .boolean()
      .default(false)
      .describe("ask a model after each turn whether the dialogue is over"),
    monitor_judge_model: z.string().optional().describe("that model"),
  },
  tools: {
    mcpServers: mcpServersSchema
      .optional()
      .describe("real MCP servers for datasets that name no domain, as other tools write them"),
    mcp_config_file: z.string().optional().describe("a JSON or YAML file that holds mcpServers"),
    python: withFlag(
      z.string().optional().describe("Python for dropped-in servers: an interpreter or a virtual environment"),
      { value: "<path>" },
    ),
    tool_names: z
      .enum(["prefixed", "dotted"])
      .default("prefixed")
      .describe("tools of a combination as sap__tool or sap.tool"),
    faults: toolFaultsSchema.optional().describe("faults that tools inject on purpose, repeatable by the run's seed"),
  },
  models: {
    models: registrySchema.optional().describe("models registered here, as in a models.yml"),
    models_config_file: withFlag(z.string().optional().describe("your models.yml"), {
      value: "<file>",
      name: "models-config",
    }),
    connect_timeout: z.number().positive().default(10).describe("seconds for connecting to a model endpoint"),
    idle_timeout: z.number().positive().default(120).describe("seconds that a reply which has begun may pause"),
  },
  printing: {
    verbose: withFlag(z.boolean().default(false).describe("print agent, user and tool texts as they come")),
    verbose_colors: z.boolean().default(true).describe("false prints them without colours"),
    verbose_max_length: positive.default(500).describe("longer texts are cut"),
    log_file: z.string().optional().describe("one JSON line for each event; never the texts of dialogues"),
    log_level: z.enum(LOG_LEVELS).default("INFO").describe("DEBUG adds a line for each entry"),
  },
};

const { run, parties, monitor, tools, models, printing } = CONFIG_SECTIONS;

export const configSchema = z.strictObject({ ...run, ...parties, ...monitor, ...tools, ...models, ...printing });

/** As a file or a program writes it: every key may be left out. */
export type Config = z.input<typeof configSchema>;
/** With every default filled in. */
export type FullConfig = z.output<typeof configSchema>;
export type DatasetConfig = NonNullable<z.infer<typeof datasetSchema>>;
export type AgentConfig = z.infer<typeof agentSchema>;
export type UserConfig = z.infer<typeof userSchema>;

export type ConfigFlag = FlagSpec & { key: keyof Config & string; schema: z.ZodType };

/** The flags of every command that runs rollouts. */
export function listFlags(): ConfigFlag[] {
  return Object.entries(configSchema.shape).flatMap(([key, schema]) => {
    const flag = flags.get(schema);
    return flag ? [{ ...flag, key: key as ConfigFlag["key"], schema }] : [];
  });
}

/** For editors. */
export function configJsonSchema(): { [key: string]: unknown } {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" });
  return { $schema, title: "Rollout config", ...schema };
}
