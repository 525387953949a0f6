import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { checkYaml } from "./read-yaml.ts";
import { type Overrides, resolveConfig, resolveConfigFile } from "./resolve.ts";
import { configSchema } from "./schema.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rollout-config-"));
  for (const server of ["Domain1", "Domain2", "CampusNavigatorMCP"]) {
    write(`data/mcp_servers/${server}.mjs`, "export default {};\n");
    write(`data/tool_lists/${server}.json`, "[]\n");
  }
  for (const name of ["Domain1", "Domain2_Domain1"]) write(`data/queries/${name}.jsonl`, "");
  write("data/policies/Domain1.md", "Policy.\n");
  write("queries.jsonl", "");
  write("agent.txt", " Be brief.\n");
  write("guidelines.txt", "Be kind.\n");
  write("models.yml", "models: {my-model: {provider: openai, api_base: 'http://127.0.0.1:9/v1'}}\n");
  return () => rmSync(folder, { recursive: true });
});

function write(file: string, text: string): string {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** A config over the folder above, resolved. `@` in front of a file stands for that folder. */
function resolve(text: string, overrides: Overrides = {}) {
  const config = checkYaml(text.replaceAll("@", `${folder}/`), "c.yml", configSchema);
  return resolveConfig(config, { folder: "outputs/c", resumeCommand: "rollout run --config c.yml" }, overrides);
}

const BASE = "base_path: '@data'\nagent_model: scripted/agent\nuser_model: scripted/user\n";
const dataset = (text: string, overrides?: Overrides) => resolve(text, overrides).run.datasets[0];

test("without any setting but a name, everything has its default", () => {
  const { run } = resolve("datasets: [StudentAcademicPortal]");
  const { datasets, config: _, ...rest } = run;
  expect(rest).toEqual({
    folder: "outputs/c",
    seed: 0,
    rollouts: 1,
    maxWorkers: 8,
    monitor: { maxNoToolTurns: 5, maxRepeatedCalls: 5 },
    limits: {},
    budget: {},
    nameStyle: "prefixed",
    resume: true,
    allowDrift: false,
    retryFailed: true,
    useCheckpoints: true,
    sync: "batch",
    resumeCommand: "rollout run --config c.yml",
  });
  expect(datasets).toMatchObject([
    {
      name: "StudentAcademicPortal",
      agent: { model: "scripted/agent", settings: {}, prompt: {} },
      user: { model: "scripted/user", settings: {}, prompt: {} },
      maxTurns: 20,
      maxStepsPerTurn: 10,
      mode: "positive",
    },
  ]);
});

test("every key of the run arrives where it belongs", () => {
  const { run, config } = resolve(`${BASE}datasets: [Domain1]
output_dir: out
max_workers: 48
seed: 7
limit: 5
resume: false
use_checkpoints: false
checkpoint_dir: checkpoints
sync: always
log_level: WARNING
log_file: logs/x.log
verbose: true
verbose_colors: false
verbose_max_length: 80
enable_monitor: true
monitor_max_no_tool_turns: 3
monitor_max_repeated_calls: 4
monitor_max_tool_errors: 6
monitor_rule_detection: true
monitor_use_llm_judge: true
monitor_judge_model: scripted/judge
max_rollout_tokens: 1000
max_rollout_cost: 0.5
max_rollout_seconds: 60
max_cost: 10
max_tokens_total: 100000
tool_names: dotted
python: .venv
`);
  expect(run).toMatchObject({
    folder: "out",
    maxWorkers: 48,
    seed: 7,
    limit: 5,
    resume: false,
    useCheckpoints: false,
    checkpointDir: "checkpoints",
    sync: "always",
    monitor: {
      maxNoToolTurns: 3,
      maxRepeatedCalls: 4,
      maxToolErrors: 6,
      completionPhrases: true,
      judge: { model: "scripted/judge" },
    },
    limits: { tokens: 1000, costUsd: 0.5, seconds: 60 },
    budget: { costUsd: 10, tokens: 100000 },
    nameStyle: "dotted",
    python: ".venv",
    resumeCommand: "rollout run --config c.yml --resume",
  });
  expect(config).toMatchObject({ log_level: "WARNING", log_file: "logs/x.log", verbose: true, verbose_max_length: 80 });
});

test("every key of a dataset and of its two parties arrives where it belongs", () => {
  const party = `
      model: openai/m
      temperature: 0.2
      top_p: 0.9
      max_tokens: 512
      enable_thinking: true
      api_base: [http://a/v1, http://b/v1]
      api_key: \${MY_KEY}
      timeout: 30
      max_retries: 2
      extra_params: {stop: [x]}
      send_seed: true
      recover_text_calls: true`;
  const resolved = dataset(`${BASE}datasets:
  Mine:
    path: '@queries.jsonl'
    output_path: out.jsonl
    mcp_domain: Domain1_Domain2
    tools: [domain1_mcp, domain2_mcp]
    agent:${party}
      system_prompt_file: '@agent.txt'
    user:${party}
      system_prompt: You are Ann.
      guidelines_file: '@guidelines.txt'
      custom_guidelines: Never shout.
    max_turns: 3
    max_steps_per_turn: 4
    mode: no_tool
`);
  const expected = {
    model: "openai/m",
    apiBase: ["http://a/v1", "http://b/v1"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference stays as it is until a client is made
    apiKey: "${MY_KEY}",
    settings: {
      temperature: 0.2,
      topP: 0.9,
      maxTokens: 512,
      thinking: true,
      timeoutSeconds: 30,
      maxRetries: 2,
      extraParams: { stop: ["x"] },
      sendSeed: true,
      recoverTextCalls: true,
    },
  };
  expect(resolved).toMatchObject({
    name: "Mine",
    domain: { servers: ["Domain2", "Domain1"] }, // the order of the folder's own files
    queryFiles: [join(folder, "queries.jsonl")],
    output: "out.jsonl",
    agent: { ...expected, prompt: { systemPrompt: "Be brief." } },
    user: {
      ...expected,
      prompt: { systemPrompt: "You are Ann.", guidelines: "Be kind.", customGuidelines: "Never shout." },
    },
    maxTurns: 3,
    maxStepsPerTurn: 4,
    mode: "no_tool",
  });
});

test("configs in the field: plain model names, thinking as providers take it, defaults for all datasets", () => {
  const { run } = resolve(`base_path: '@data'
agent_model: openai/a
user_model: openai/u
agent_temperature: 0.1
user_temperature: 0.7
enable_thinking: false
max_turns: 7
max_steps_per_turn: 6
mode: wrong_tool
datasets:
  Domain1:
    agent: openai/own
    user: openai/other
  Domain1_Domain2:
    agent: {thinking: {type: enabled, budget_tokens: 99}, temperature: 0.5}
    max_turns: 2
`);
  const [plain, mapped] = run.datasets;
  expect(plain).toMatchObject({
    agent: { model: "openai/own", settings: { temperature: 0.1, thinking: false } },
    user: { model: "openai/other", settings: { temperature: 0.7 } },
    maxTurns: 7,
    maxStepsPerTurn: 6,
    mode: "wrong_tool",
  });
  expect(mapped).toMatchObject({
    agent: {
      model: "openai/a",
      settings: { temperature: 0.5, thinking: true, thinkingOptions: { type: "enabled", budget_tokens: 99 } },
    },
    user: { model: "openai/u" },
    maxTurns: 2,
  });
  expect(dataset(`${BASE}datasets: {Domain1: {agent: {thinking: {type: disabled}}}}`)?.agent.settings.thinking).toBe(
    false,
  );
  expect(dataset(`${BASE}datasets: {Domain1: {agent: {thinking: true}}}`)?.agent.settings.thinking).toBe(true);
});

test("auto_discover stands for all domains and combinations of a folder that have queries", () => {
  const auto = (more: string) =>
    resolve(`auto_discover: {base_path: '@data', agent_model: scripted/agent, user_model: scripted/user${more}}`);
  expect(auto("").run.datasets.map(({ name }) => name)).toEqual(["Domain1", "Domain2_Domain1"]);
  expect(auto(", min_domains: 2").run.datasets.map(({ name }) => name)).toEqual(["Domain2_Domain1"]);
  expect(auto(", require_policy: true, output_dir: found").run).toMatchObject({
    folder: "found",
    datasets: [{ name: "Domain1" }],
  });
  expect(() => resolve("auto_discover: {base_path: '@data'}\ndatasets: [Domain1]")).toThrow(/exclude each other/);
});

test("a dataset is named by mcp_domain, else tools, else its own name, else its query file, in any order and spelling", () => {
  const servers = (text: string) => dataset(`${BASE}datasets:\n  ${text}`)?.domain.servers;
  expect(servers("Domain2_Domain1:")).toEqual(["Domain2", "Domain1"]);
  expect(servers("Domain1_Domain2:")).toEqual(["Domain2", "Domain1"]);
  expect(servers("x: {mcp_domain: domain2+domain1}")).toEqual(["Domain2", "Domain1"]);
  expect(servers("x: {tools: [domain1_mcp]}")).toEqual(["Domain1"]);
  expect(servers("x: {tools: campus_navigator_mcp}")).toEqual(["CampusNavigatorMCP"]);
  expect(servers("campus_navigator_mcp: {}")).toEqual(["CampusNavigatorMCP"]);
  expect(servers("x: {path: '@data/queries/Domain1.jsonl'}")).toEqual(["Domain1"]);
  expect(() => servers("Domain1: {tools: [Domain9]}")).toThrow(/"Domain1": there is no domain "Domain9"/);
});

test("a folder that holds only one kind of domains serves datasets of that kind", () => {
  write("one-kind/single_domain/mcp_servers/Domain1.mjs", "");
  write("one-kind/single_domain/queries/Domain1.jsonl", "");
  const scripted = "agent_model: scripted/agent\nuser_model: scripted/user\n";
  expect(dataset(`${scripted}base_path: '@one-kind'\ndatasets: [Domain1]`)?.domain.servers).toEqual(["Domain1"]);
  expect(resolve(`${scripted}auto_discover: {base_path: '@one-kind'}`).run.datasets).toHaveLength(1);
  expect(() => resolve(`${scripted}auto_discover: {base_path: '@nowhere'}`)).toThrow(/There is no folder/);
});

test("flags come before the config's own words", () => {
  const config = `${BASE}datasets: {Domain1: {agent: {model: openai/a, temperature: 0.4}, mode: no_tool}}\nseed: 1\nresume: false\n`;
  const { run } = resolve(config, {
    agentModel: "openai/b",
    userModel: "openai/c",
    seed: 2,
    mode: "positive",
    resume: true,
    outputDir: "mine",
    maxWorkers: 3,
    limit: 4,
    ids: ["x"],
    maxCost: 5,
    maxTokensTotal: 6,
    python: "python3",
    allowDrift: true,
    retryFailed: false,
  });
  expect(run).toMatchObject({ seed: 2, resume: true, folder: "mine", maxWorkers: 3, limit: 4, ids: ["x"] });
  expect(run).toMatchObject({
    budget: { costUsd: 5, tokens: 6 },
    python: "python3",
    allowDrift: true,
    retryFailed: false,
  });
  expect(run.datasets).toMatchObject([
    { agent: { model: "openai/b", settings: { temperature: 0.4 } }, user: { model: "openai/c" }, mode: "positive" },
  ]);
  expect(resolve(`${BASE}datasets: [Domain1, Domain1_Domain2]`, { dataset: "Domain1" }).run.datasets).toHaveLength(1);
});

test("models_config_file and inline models come together, the inline ones first", () => {
  const { registry } = resolve(`${BASE}datasets: [Domain1]
models_config_file: '@models.yml'
models:
  extra: {provider: openai, api_base: http://x/v1}
`);
  expect(Object.keys(registry).sort()).toEqual(["extra", "my-model"]);
});

test("keys reach the manifest's copy of the config by name or as <literal>, never as they are", () => {
  const { run } = resolve(`${BASE}datasets: {Domain1: {agent: {model: openai/a, api_key: "\${MY_KEY:-sk-default}"}}}
models:
  m: {api_base: http://x/v1, api_key: sk-secret-1, headers: {authorization: Bearer sk-secret-2}}
`);
  const text = JSON.stringify(run.config);
  expect(text).toContain('"api_key":"MY_KEY"');
  expect(text).toContain('"api_key":"<literal>"');
  for (const secret of ["sk-secret-1", "sk-secret-2", "sk-default"]) expect(text).not.toContain(secret);
});

test.each([
  ["datasets: [Domain9]", /c\.yml:4:12: Dataset "Domain9": there is no domain "Domain9"; did you mean "Domain1"\?/],
  ["datasets:\n  x:\n    mcp_domain: Domain9", /c\.yml:6:17: Dataset "x": there is no domain "Domain9"/],
  ["datasets:\n  Domain1:\n    path: no.jsonl", /c\.yml:6:11: There is no query file no\.jsonl/],
  ["datasets:\n  Domain1:\n    agent: {system_prompt_file: no.txt}", /c\.yml:6:12: There is no prompt file no\.txt/],
  ["datasets:\n  Domain1:\n    user: {guidelines_file: no.txt}", /c\.yml:6:11: There is no prompt file no\.txt/],
  ["datasets:\n  Domain1:\n    agent: {system_prompt: a, system_prompt_file: b}", /c\.yml:6:12: .*exclude each other/],
  ["datasets: [Domain1]\nmodels_config_file: no.yml", /c\.yml:5:21: There is no file no\.yml/],
  ["datasets: [Domain1]\nmonitor_use_llm_judge: true", /c\.yml:5:24: monitor_use_llm_judge needs monitor_judge_model/],
  ["seed: 1", /c\.yml:1:1: The config has neither datasets nor auto_discover/],
])("what a config refers to and does not get is told with its place: %j", (text, expected) => {
  const file = write("c.yml", `${BASE}${text}\n`.replaceAll("@", `${folder}/`));
  expect(() => resolveConfigFile(file)).toThrow(expected);
});
