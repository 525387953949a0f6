// The config, every key once: its type, default, description and flag. YAML files, flags, `--help`, the JSON Schema
// for editors and the tables of docs/config.md are all made from here. Strict: an unknown key is an error.
import { z } from "zod";
import { MODES, parseSplit } from "../core/index.ts";
import { STOP_CONDITIONS } from "../dialogue/index.ts";
import { CONNECT_SECONDS, IDLE_SECONDS, registrySchema, TOOL_FORMATS } from "../models/index.ts";
import { evaluationSchema } from "../scoring/index.ts";
import { CALL_SECONDS, mcpServersSchema, toolFaultsSchema } from "../tools/index.ts";

/** How a key is set on the command line. */
type FlagSpec = {
  /** placeholder for the value, such as `<n>`; switches have none */
  value?: string;
  /** replaces the key's own name with dashes */
  name?: string;
  /** one letter, as the original system has it */
  short?: string;
  /** what a second flag does, which switches it off */
  negation?: string;
  /** a different description from the key's, for a flag that means the opposite */
  sentence?: string;
};

/** The registry treats an empty entry as missing. */
const flags = z.registry<FlagSpec & { isFlag: true }>();

/** A key with a flag on every command that runs rollouts. */
function flag<T extends z.ZodType>(value: string | undefined, type: T, sentence: string, more: FlagSpec = {}): T {
  const described = type.describe(sentence);
  flags.add(described, { value, ...more, isFlag: true });
  return described;
}

const positive = z.int().positive();
const text = z.string().min(1);
const path = z.string().optional();
const off = z.boolean().default(false);
const on = z.boolean().default(true);
const names = z.array(text).optional();
const temperature = z.number().min(0).optional();
const share = z.number().min(0).max(1).optional();

const partyFields = {
  model: text.optional().describe("provider/model, or a name of the model registry"),
  temperature: temperature.describe("sampling temperature"),
  top_p: share.describe("nucleus sampling"),
  max_tokens: positive.optional().describe("longest reply in tokens"),
  system_prompt: path.describe(
    "replaces the system prompt; {policy} (agent) and {scenario} (user) stand for the domain's and the query's own, {answer_format} (agent) for how answers are marked",
  ),
  system_prompt_file: path.describe("the same, from a file"),
  enable_thinking: z.boolean().optional().describe("whether the model reasons before it answers"),
  thinking: z
    .union([z.boolean(), z.looseObject({ type: z.string().optional() })])
    .optional()
    .describe("the same as providers take it, such as {type: enabled, budget_tokens: 4000}"),
  api_base: z
    .union([z.string(), z.array(z.string()).min(1)])
    .optional()
    .describe("base URL, or several replicas; a provider's own key is never sent there"),
  api_key: z.string().nullable().optional().describe(`a literal, \${VAR} or \${VAR:-default}`),
  api: z.enum(["chat", "responses"]).optional().describe("which of OpenAI's two APIs to use, as in the model registry"),
  tool_format: z
    .enum(TOOL_FORMATS)
    .optional()
    .describe("how tools, calls and results go over the wire; default: the model registry's, else native"),
  timeout: z.number().positive().optional().describe("seconds for one model call"),
  max_retries: z
    .int()
    .nonnegative()
    .optional()
    .describe("attempts after a failure of the endpoint; a lost connection is waited for 90 s, unless this is 0"),
  extra_params: z
    .record(z.string(), z.json())
    .optional()
    .describe("merged into every request body; may hold variables"),
  send_seed: z.boolean().optional().describe("send the rollout's seed to the provider"),
  recover_text_calls: z
    .boolean()
    .optional()
    .describe("take tool calls that the model wrote as text, and tag the record"),
};

const userFields = {
  ...partyFields,
  guidelines_file: path.describe("a file that replaces the user simulator's guidelines"),
  custom_guidelines: path.describe("added to the user simulator's guidelines"),
};

const agentSchema = z.union([text, z.strictObject(partyFields)]).describe("a model's name, or its settings");
const userSchema = z.union([text, z.strictObject(userFields)]).describe("a model's name, or its settings");

const servers = mcpServersSchema.optional();
const MCP_FILE = "a JSON or YAML file that holds mcpServers";
const RUNS_OWN = "instead of the run's";

/** what a timer can count */
const MAX_SECONDS = 2_000_000;
const isolation = z.enum(["none", "process"]);
/** `json:` is followed by the name of a field. */
const answerFormat = z
  .string()
  .regex(/^(answer-tag|boxed|last-line|whole|json:.+)$/, "must be answer-tag, boxed, last-line, json:FIELD or whole")
  .optional();

const datasetSchema = z
  .strictObject({
    path: path.describe("query file (JSON lines or one JSON array); default: the domain's own"),
    output_path: path.describe("where its records go; default: trajectories/NAME.jsonl in the run folder"),
    rounds: z
      .boolean()
      .optional()
      .describe("one file for each round of rollouts (iter1.jsonl, iter2.jsonl, …), with the fields of question sets"),
    mcp_domain: path.describe("domain or combination (A_B or A+B, in any order); default: the dataset's name"),
    tools: z
      .union([text, z.array(text)])
      .optional()
      .describe(
        "the domains (or mcpServers) to use, where mcp_domain does not say it, and `calculator`, `search` or `visit`; an empty list: none",
      ),
    tool_files: z
      .array(text)
      .optional()
      .describe("files of plain functions (.py, .ts, .js), each of them a tool, next to the dataset's other tools"),
    corpus: path.describe("a folder or file of documents, for the tools `search` and `visit`"),
    answer_format: answerFormat.describe(RUNS_OWN),
    base_path: path.describe("its own dataset folder"),
    mcpServers: servers.describe("real MCP servers instead of a domain"),
    mcp_config_file: path.describe(MCP_FILE),
    setup: z
      .array(z.strictObject({ name: text, arguments: z.record(z.string(), z.json()).optional() }))
      .optional()
      .describe(
        "calls that make each rollout's world before the dialogue begins, each with `name` and `arguments`; a query's own `setup` comes after",
      ),
    user_tools: z
      .array(text)
      .optional()
      .describe("tools that are the simulated user's and not the agent's: `tool`, `Server.tool` or `Server.*`"),
    faults: toolFaultsSchema.optional().describe("faults that its tools inject on purpose"),
    isolation: isolation.optional().describe(RUNS_OWN),
    agent: agentSchema.optional(),
    user: userSchema.optional(),
    max_turns: positive.optional().describe(RUNS_OWN),
    max_steps_per_turn: positive.optional().describe(RUNS_OWN),
    mode: z.enum(MODES).optional().describe(RUNS_OWN),
  })
  .nullable();

const discoverSchema = z.strictObject({
  base_path: path.describe("dataset folder; default: the run's"),
  kind: z.enum(["single", "cross"]).optional().describe("only domains, or only combinations; default: both"),
  output_dir: path.describe("the run folder"),
  min_domains: positive.optional().describe("2 and more: only combinations of at least so many domains"),
  require_policy: z.boolean().optional().describe("only what has a policy"),
  filter_domains: names.describe("only what has one of these domains"),
  exclude_domains: names.describe("nothing that has one of these domains"),
  agent_model: path.describe(RUNS_OWN),
  user_model: path.describe(RUNS_OWN),
  agent_temperature: temperature.describe(RUNS_OWN),
  user_temperature: temperature.describe(RUNS_OWN),
  enable_thinking: z.boolean().optional().describe(RUNS_OWN),
  max_turns: positive.optional().describe(RUNS_OWN),
  max_steps_per_turn: positive.optional().describe(RUNS_OWN),
  mode: z.enum(MODES).optional().describe(RUNS_OWN),
});

export const LOG_LEVELS = [
  ...(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const),
  ...(["debug", "info", "warning", "error", "critical"] as const),
] as const;

type Condition = (typeof STOP_CONDITIONS)[number];
type ConditionShape = { [C in Condition as C["key"]]: C["schema"] };

/** Each stop condition brings its own key. */
const conditionKeys = Object.fromEntries(STOP_CONDITIONS.map(({ key, schema }) => [key, schema])) as ConditionShape;
const { max_turns: maxTurns, max_rollout_seconds: maxSeconds } = conditionKeys;

/** The keys of a config in sections, as the docs show them. */
export const CONFIG_SECTIONS = {
  run: {
    $schema: path.describe("for editors; ignored"),
    datasets: z
      .union([z.record(text, datasetSchema), z.array(text).min(1)])
      .optional()
      .describe("the datasets by name; or a list of domains and combinations, with everything else at its default"),
    auto_discover: discoverSchema.optional().describe("everything in a dataset folder, instead of datasets"),
    dataset: flag("<name>", path, "only this one of the datasets", { short: "d" }),
    output_dir: flag("<dir>", path, "the run folder; default: outputs/NAME, by config or command"),
    base_path: flag(
      "<dir>",
      path,
      "dataset folder; default: ./datasets, ./rollout/tools/datasets, else the bundled domains",
      { sentence: "dataset folder; default: ./datasets, else the bundled domains" },
    ),
    query_dir: flag("<dir>", path, "queries from another folder"),
    policy_dir: flag("<dir>", path, "policies from another folder"),
    bundled: flag(undefined, off, "the bundled domains, even where ./datasets exists"),
    limit: flag("<n>", positive.optional(), "only the first so many queries of each dataset"),
    ids: flag("<a,b>", z.array(text).optional(), "only these queries"),
    split: flag(
      "<i/n>",
      z
        .string()
        .refine((text) => parseSplit(text) !== undefined, "must be a share such as 2/5: from 1/5 to 5/5")
        .optional(),
      "only this share of the queries, such as 2/5, on machines that share nothing; all shares together are the run",
      { sentence: "only this share of the queries; see docs/runs.md and rollout merge" },
    ),
    rollouts: flag("<n>", positive.default(1), "attempts at each query; more later adds only those"),
    max_workers: flag("<n>", positive.default(8), "rollouts at once, within and across datasets"),
    seed: flag("<n>", z.int().nonnegative().default(0), "seed of the run; each rollout's own is derived from it"),
    eval: flag(
      undefined,
      z.union([z.boolean(), evaluationSchema]).default(false),
      "score each rollout as soon as it is finished; a mapping says how",
      { sentence: "score each rollout as soon as it is finished" },
    ),
    judge_model: flag(
      "<name>",
      path,
      "score each rollout, and let this judge decide what rules cannot: eval with this judge_model",
      { sentence: "score also by this judge" },
    ),
    resume: flag(undefined, on, "continue an earlier run in the folder; false starts next to it, never over it", {
      sentence: "continue an earlier run in the folder (the default)",
      negation: "start next to an earlier run, never over it",
      short: "r",
    }),
    allow_drift: flag(undefined, off, "continue although settings changed, and mark what is made from now on"),
    retry_failed: flag(
      undefined,
      z.boolean().optional(),
      "true tries failed rollouts again, however often; false (`--no-retry-failed`) never; default: three attempts in all",
      {
        sentence: "try failed rollouts again, however often (default: three attempts)",
        negation: "leave rollouts that failed for infrastructure reasons",
      },
    ),
    max_cost: flag(
      "<dollars>",
      z.number().positive().optional(),
      "dollars that the whole run may cost; then it stops, resumably",
    ),
    max_tokens_total: flag("<n>", positive.optional(), "tokens that the whole run may use; then it stops, resumably"),
    record: flag("<dir>", path, "record every model call into this folder of cassettes"),
    replay: flag("<dir>", path, "answer model calls from recorded cassettes: no network, no key"),
    use_checkpoints: on.describe("false journals no entries: rollouts that are cut off start over"),
    checkpoint_dir: path.describe("another folder for the journal"),
    sync: z
      .enum(["batch", "always", "never"])
      .default("batch")
      .describe("records are on disk after at most 100 ms, at once, or when the system likes"),
  },
  parties: {
    agent_model: flag(
      "<name>",
      path,
      "model of the agent; default: scripted for bundled domains, else openai/deepseek-v3.2-fc if registered",
      { sentence: "model of the agent" },
    ),
    user_model: flag(
      "<name>",
      path,
      "model of the simulated user; default: scripted for bundled domains, else openai/gpt-5 if registered",
      { sentence: "model of the simulated user" },
    ),
    agent_temperature: flag("<t>", temperature, "temperature of the agent"),
    user_temperature: flag("<t>", temperature, "temperature of the simulated user"),
    top_p: flag("<p>", share, "nucleus sampling of the agent"),
    tool_format: flag(
      "<format>",
      z.enum(TOOL_FORMATS).optional(),
      "how the agent's tools and calls go over the wire; default: the model registry's, else native",
      { sentence: "how the agent's tools and calls go over the wire (default: native)" },
    ),
    system_prompt_file: flag(
      "<file>",
      path,
      "replaces the agent's system prompt; {policy} and {answer_format} stand for the domain's policy and how answers are marked",
      { name: "system-prompt", sentence: "replaces the agent's system prompt" },
    ),
    answer_format: flag(
      "<format>",
      answerFormat,
      "how answers to questions are marked: answer-tag, boxed, last-line, json:FIELD or whole; default: answer-tag where there is one, else the whole",
      { sentence: "how answers are marked: answer-tag, boxed, last-line, json:FIELD or whole" },
    ),
    enable_thinking: flag(undefined, z.boolean().optional(), "whether the agent reasons before it answers", {
      name: "thinking",
      sentence: "the agent reasons before it answers",
      negation: "the agent answers without reasoning",
    }),
    max_turns: flag("<n>", maxTurns, maxTurns.description ?? ""),
    max_steps_per_turn: flag("<n>", positive.default(10), "agent replies in one turn, tool calls included"),
    context_limit: flag("<tokens>", positive.optional(), "the agent's context; default: the registry's or catalogue's"),
    on_context_full: flag(
      "<what>",
      z.enum(["end", "answer", "summarise"]).default("end"),
      "near the end of the context: end there, ask once for the answer, or go on from a summary",
    ),
    summary_model: flag("<name>", path, "model that writes the summaries; default: the agent's"),
    mode: flag("<mode>", z.enum(MODES).default("positive"), "the right tools, another domain's, or none"),
  },
  monitor: {
    enable_monitor: on.describe("false switches off all monitor_… keys"),
    ...conditionKeys,
    max_rollout_seconds: flag("<seconds>", maxSeconds, maxSeconds.description ?? "", { name: "timeout" }),
    monitor_use_llm_judge: off.describe("ask a model after each turn whether the dialogue is over"),
    monitor_judge_model: path.describe("that model"),
  },
  tools: {
    mcpServers: servers.describe("real MCP servers for datasets that name no domain, as other tools write them"),
    mcp_config_file: flag("<file>", path, MCP_FILE, { name: "mcp" }),
    tool_files: flag(
      "<a,b>",
      z.array(text).optional(),
      "files of plain functions (.py, .ts, .js), each of them a tool, for datasets that name no domain",
      { name: "tools" },
    ),
    corpus: flag(
      "<dir>",
      path,
      "a folder or file of documents for the tools `search` and `visit`, for datasets that name no domain",
      { sentence: "documents for the tools search and visit" },
    ),
    python: flag("<path>", path, "Python for dropped-in servers: an interpreter or a virtual environment"),
    python_processes: flag(
      "<n>",
      z.union([z.literal("auto"), positive]).default("auto"),
      "processes for the servers in Python: a number, or auto: one for each domain, and more, up to the number of cores, when calls wait",
      { sentence: "processes for the servers in Python, or auto: more when calls wait" },
    ),
    tool_names: z
      .enum(["prefixed", "dotted"])
      .default("prefixed")
      .describe("tools of a combination as sap__tool or sap.tool"),
    faults: toolFaultsSchema.optional().describe("faults that tools inject on purpose, repeatable by the run's seed"),
    tool_timeout: z
      .number()
      .positive()
      .max(MAX_SECONDS)
      .optional()
      .describe(
        `seconds for one call of any kind of tool; default: ${CALL_SECONDS}, for MCP servers their own \`timeout\``,
      ),
    isolation: isolation
      .default("none")
      .describe(
        "process: servers in TypeScript or JavaScript run in processes of their own, as those in Python always do",
      ),
  },
  models: {
    models: registrySchema.optional().describe("models registered here, as in a models.yml"),
    models_config_file: flag("<file>", path, "your models.yml; default: configs/models.yml, where it exists", {
      name: "models-config",
    }),
    connect_timeout: z
      .number()
      .positive()
      .default(CONNECT_SECONDS)
      .describe("seconds for connecting to a model endpoint"),
    idle_timeout: z
      .number()
      .positive()
      .default(IDLE_SECONDS)
      .describe("seconds that a reply which has begun may pause"),
    sticky: flag(
      "<what>",
      z.enum(["rollout", "question"]).default("rollout"),
      "what stays on one of several replicas: each rollout, or all rollouts of a question",
    ),
  },
  printing: {
    verbose: flag(undefined, off, "print agent, user and tool texts as they come", { short: "v" }),
    verbose_colors: flag(undefined, on, "false prints without colours", {
      name: "no-colors",
      sentence: "print without colours",
    }),
    verbose_max_length: z.int().nonnegative().default(500).describe("longer texts are cut; 0: none"),
    log_file: path.describe("one JSON line for each event; never the texts of dialogues"),
    log_level: z.enum(LOG_LEVELS).default("INFO").describe("DEBUG adds a line for each entry"),
  },
};

const { run, parties, monitor, tools, models, printing } = CONFIG_SECTIONS;

export const configSchema = z.strictObject({ ...run, ...monitor, ...parties, ...tools, ...models, ...printing });

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
