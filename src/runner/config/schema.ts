// The YAML config, every key. Strict: a key that nobody knows is an error with the nearest known one.
import { z } from "zod";
import { MODES } from "../../core/index.ts";
import { registrySchema } from "../../models/index.ts";
import { evaluationSchema } from "../../scoring/index.ts";
import { mcpServersSchema, toolFaultsSchema } from "../../tools/index.ts";

const positive = z.int().positive();
const thinking = z
  .union([z.boolean(), z.looseObject({ type: z.string().optional() })])
  .describe("true, false, or as the provider takes it, such as {type: enabled}");

const partyFields = {
  model: z.string().min(1).optional().describe("provider/model, or a name of the model registry"),
  temperature: z.number().min(0).optional(),
  top_p: z.number().min(0).max(1).optional(),
  max_tokens: positive.optional().describe("longest reply in tokens"),
  system_prompt: z.string().optional().describe("replaces the system prompt"),
  system_prompt_file: z.string().optional().describe("a file that replaces the system prompt"),
  enable_thinking: z.boolean().optional().describe("whether the model reasons before it answers"),
  thinking: thinking.optional(),
  api_base: z
    .union([z.string(), z.array(z.string()).min(1)])
    .optional()
    .describe("base URL, or several replicas"),
  api_key: z.string().nullable().optional().describe(`a literal, \${VAR} or \${VAR:-default}`),
  timeout: z.number().positive().optional().describe("seconds for one model call"),
  max_retries: z.int().nonnegative().optional(),
  extra_params: z.record(z.string(), z.json()).optional().describe("merged into every request body"),
  send_seed: z.boolean().optional().describe("send the rollout's seed to the provider"),
  recover_text_calls: z.boolean().optional().describe("take tool calls that the model wrote as text"),
};

const agentSchema = z
  .union([z.string().min(1), z.strictObject(partyFields)])
  .describe("a model's name, or its settings");
const userSchema = z
  .union([
    z.string().min(1),
    z.strictObject({
      ...partyFields,
      guidelines_file: z.string().optional().describe("a file that replaces the user simulator's guidelines"),
      custom_guidelines: z.string().optional().describe("added to the user simulator's guidelines"),
    }),
  ])
  .describe("a model's name, or its settings");

const names = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

const datasetSchema = z
  .strictObject({
    path: z.string().optional().describe("query file (JSONL); default: the domain's own"),
    output_path: z.string().optional().describe("where the trajectories go; default: in the run folder"),
    mcp_domain: z.string().optional().describe("domain or combination (A_B, any order); default: the dataset's name"),
    tools: names.optional().describe("the servers to use, where mcp_domain does not say it"),
    base_path: z.string().optional().describe("dataset folder"),
    mcpServers: mcpServersSchema.optional().describe("real MCP servers instead of a domain"),
    mcp_config_file: z.string().optional().describe("a JSON or YAML file that holds mcpServers"),
    faults: toolFaultsSchema.optional(),
    agent: agentSchema.optional(),
    user: userSchema.optional(),
    max_turns: positive.optional(),
    max_steps_per_turn: positive.optional(),
    mode: z.enum(MODES).optional(),
  })
  .nullable();

export const LOG_LEVELS = [
  ...(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const),
  ...(["debug", "info", "warning", "error", "critical"] as const),
] as const;

export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  datasets: z
    .union([z.record(z.string().min(1), datasetSchema), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe("by name; or just a list of domains and combinations, with everything else at its default"),
  auto_discover: z
    .strictObject({
      base_path: z.string(),
      output_dir: z.string().optional(),
      min_domains: positive.optional(),
      require_policy: z.boolean().optional(),
      agent_model: z.string().optional(),
      user_model: z.string().optional(),
    })
    .optional()
    .describe("run everything in a dataset folder, instead of datasets"),

  output_dir: z.string().optional().describe("the run folder; default: outputs/<name of the config file>"),
  base_path: z.string().optional().describe("dataset folder; default: ./datasets/*_domain, else the bundled domains"),
  query_dir: z.string().optional().describe("queries from another folder than the dataset folder's"),
  policy_dir: z.string().optional().describe("policies from another folder than the dataset folder's"),
  max_workers: positive.optional().describe("rollouts at once"),
  seed: z.int().nonnegative().optional(),
  limit: positive.optional().describe("the first so many queries of each dataset"),
  rollouts: positive.optional().describe("attempts at each query; asking for more later adds only those"),
  eval: z
    .union([z.boolean(), evaluationSchema])
    .optional()
    .describe("score each rollout as soon as it is finished, and how"),
  resume: z.boolean().optional().describe("false starts beside an earlier run, never over it"),
  use_checkpoints: z.boolean().optional().describe("false keeps no journal of unfinished rollouts"),
  checkpoint_dir: z.string().optional().describe("another folder for the journal"),
  sync: z.enum(["batch", "always", "never"]).optional().describe("when records are synced to disk"),

  log_level: z.enum(LOG_LEVELS).optional().describe("what is worth a line in log_file, in upper or lower case"),
  log_file: z.string().optional(),
  verbose: z.boolean().optional().describe("print agent, user and tool texts as they come"),
  verbose_colors: z.boolean().optional(),
  verbose_max_length: positive.optional().describe("longest text that is printed whole"),

  enable_monitor: z.boolean().optional(),
  monitor_max_no_tool_turns: positive.optional().describe("stop after so many turns without a tool call"),
  monitor_max_repeated_calls: positive
    .optional()
    .describe("stop after the same call with the same result so many times"),
  monitor_max_tool_errors: positive.optional().describe("stop after so many tool errors; default: never"),
  monitor_rule_detection: z.boolean().optional().describe("stop when the agent says farewell"),
  monitor_use_llm_judge: z.boolean().optional().describe("ask a model after each turn whether the dialogue is over"),
  monitor_judge_model: z.string().optional(),
  max_rollout_tokens: positive.optional().describe("tokens that one rollout may use"),
  max_rollout_cost: z.number().positive().optional().describe("dollars that one rollout may cost"),
  max_rollout_seconds: z.number().positive().optional().describe("how long one rollout may take"),

  max_cost: z.number().positive().optional().describe("dollars that the whole run may cost"),
  max_tokens_total: positive.optional().describe("tokens that the whole run may use"),

  python: z
    .string()
    .optional()
    .describe("Python for dropped-in servers: an interpreter or a virtual environment's folder"),
  mcpServers: mcpServersSchema
    .optional()
    .describe("real MCP servers for datasets that name no domain, as other tools write them"),
  mcp_config_file: z.string().optional().describe("a JSON or YAML file that holds mcpServers"),
  faults: toolFaultsSchema.optional().describe("trouble that tools make on purpose, on the run's seed"),

  connect_timeout: z.number().positive().optional().describe("seconds for connecting to a model endpoint; default 10"),
  idle_timeout: z
    .number()
    .positive()
    .optional()
    .describe("seconds that a reply which has begun may pause; default 120"),

  models_config_file: z.string().optional().describe("a models.yml"),
  models: registrySchema.optional().describe("models registered here, as in a models.yml"),
  tool_names: z.enum(["prefixed", "dotted"]).optional().describe("in combinations: sap__tool (default) or sap.tool"),

  agent_model: z.string().optional(),
  user_model: z.string().optional(),
  agent_temperature: z.number().min(0).optional(),
  user_temperature: z.number().min(0).optional(),
  enable_thinking: z.boolean().optional(),
  max_turns: positive.optional(),
  max_steps_per_turn: positive.optional(),
  mode: z.enum(MODES).optional(),
});

export type Config = z.infer<typeof configSchema>;
export type DatasetConfig = NonNullable<z.infer<typeof datasetSchema>>;
export type AgentConfig = z.infer<typeof agentSchema>;
export type UserConfig = z.infer<typeof userSchema>;

/** For editors. */
export function configJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" });
  return { $schema, title: "Rollout config", ...schema };
}
