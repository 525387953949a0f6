import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { hideKeys, restoreKeys } from "./keys.ts";
import type { ConfigPatch } from "./patch.ts";
import { checkYaml } from "./read-yaml.ts";
import { resolveConfig, resolveConfigFile, resolveManifest } from "./resolve.ts";
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

/** A config over the folder above, resolved. `@` in front of a file stands for that folder, `%` for an `@`. */
function resolve(text: string, patch: ConfigPatch = {}) {
  const config = checkYaml(text.replaceAll("@", `${folder}/`).replaceAll("%", "@"), "c.yml", configSchema);
  return resolveConfig(config, { folder: "outputs/c", patch });
}

const BASE = "base_path: '@data'\nagent_model: scripted/agent\nuser_model: scripted/user\n";
const dataset = (text: string, patch?: ConfigPatch) => resolve(text, patch).datasets[0];

test("without any setting but a name, everything has its default", () => {
  const { datasets, config, folder: runFolder } = resolve("datasets: [StudentAcademicPortal]");
  expect(runFolder).toBe("outputs/c");
  const { datasets: _, ...rest } = config;
  expect(rest).toEqual({
    isolation: "none",
    python_processes: "auto",
    on_context_full: "end",
    sticky: "rollout",
    seed: 0,
    rollouts: 1,
    max_workers: 8,
    bundled: false,
    eval: false,
    resume: true,
    allow_drift: false,
    use_checkpoints: true,
    sync: "batch",
    max_turns: 20,
    max_steps_per_turn: 10,
    mode: "positive",
    enable_monitor: true,
    monitor_max_no_tool_turns: 5,
    monitor_max_repeated_calls: 5,
    monitor_rule_detection: false,
    monitor_use_llm_judge: false,
    tool_names: "prefixed",
    connect_timeout: 10,
    idle_timeout: 120,
    verbose: false,
    verbose_colors: true,
    verbose_max_length: 500,
    log_level: "INFO",
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

test("what the config says of the run stands in the place of the defaults", () => {
  const run = resolve(`${BASE}datasets: [Domain1]
output_dir: out
max_workers: 48
monitor_use_llm_judge: true
monitor_judge_model: scripted/judge
`);
  expect(run).toMatchObject({ folder: "out", config: { max_workers: 48 }, judge: { model: "scripted/judge" } });
  const off = resolve(`${BASE}datasets: [Domain1]\nenable_monitor: false\nmonitor_use_llm_judge: true\n`);
  expect(off.judge).toBeUndefined();
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
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable stays as it is until a client is made
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
  const run = resolve(`base_path: '@data'
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
  expect(auto("").datasets.map(({ name }) => name)).toEqual(["Domain1", "Domain2_Domain1"]);
  expect(auto(", min_domains: 2").datasets.map(({ name }) => name)).toEqual(["Domain2_Domain1"]);
  expect(auto(", require_policy: true, output_dir: found")).toMatchObject({
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
  expect(resolve(`${scripted}auto_discover: {base_path: '@one-kind'}`).datasets).toHaveLength(1);
  expect(() => resolve(`${scripted}auto_discover: {base_path: '@nowhere'}`)).toThrow(/There is no folder/);
});

test("a patch wins over the config, also over what a dataset says of itself", () => {
  const config = `${BASE}datasets:
  Domain1:
    agent: {model: openai/a, temperature: 0.4, top_p: 0.9, thinking: {type: enabled}}
    user: openai/u
    mode: no_tool
    max_turns: 3
seed: 1
resume: false
eval: {votes: 3}
`;
  const run = resolve(config, {
    agent_model: "openai/b",
    user_model: "openai/c",
    agent_temperature: 0.1,
    enable_thinking: false,
    seed: 2,
    mode: "positive",
    max_turns: 9,
    resume: true,
    output_dir: "mine",
    ids: ["x"],
    eval: true,
  });
  expect(run).toMatchObject({ folder: "mine", config: { seed: 2, resume: true, ids: ["x"], eval: { votes: 3 } } });
  expect(run.datasets).toMatchObject([
    {
      agent: { model: "openai/b", settings: { temperature: 0.1, topP: 0.9, thinking: false } },
      user: { model: "openai/c" },
      mode: "positive",
      maxTurns: 9,
    },
  ]);
  const untouched = resolve(config, { limit: 1 }).datasets[0];
  expect(untouched).toMatchObject({ agent: { model: "openai/a" }, mode: "no_tool", maxTurns: 3 });
  expect(resolve(`${BASE}datasets: [Domain1, Domain1_Domain2]`, { dataset: "Domain1" }).datasets).toHaveLength(1);
});

test("a config from a program is checked like a file", () => {
  const wrong = { datasets: ["Domain1"], max_worker: 3 } as object;
  expect(() => resolveConfig(wrong, { folder: "x" })).toThrow(/unknown key "max_worker"; did you mean "max_workers"/);
});

test("models_config_file and inline models come together, the inline ones first", () => {
  const { registry } = resolve(`${BASE}datasets: [Domain1]
models_config_file: '@models.yml'
models:
  extra: {provider: openai, api_base: http://x/v1}
`);
  expect(Object.keys(registry).sort()).toEqual(["extra", "my-model"]);
});

const SECRETIVE = `${BASE}datasets:
  Domain1: {agent: {model: openai/a, api_key: "\${MY_KEY:-sk-default}"}}
models:
  m: {api_base: "http://me:sk-secret-0%x/v1", api_key: sk-secret-1, headers: {authorization: Bearer sk-secret-2}}
`;

test("keys reach the manifest's copy of the config by name or as <literal>, never as they are", () => {
  const text = JSON.stringify(hideKeys(resolve(SECRETIVE).config));
  expect(text).toContain('"api_key":"MY_KEY"');
  expect(text).toContain('"api_key":"<literal>"');
  for (const secret of ["sk-secret-0", "sk-secret-1", "sk-secret-2", "sk-default"]) expect(text).not.toContain(secret);
});

test("literals in a query, in extra_params and beside a variable are kept as <literal>, harmless ones as they are", () => {
  const entry = {
    api_base: "https://gate/v1?api-key=abc12345&api-version=2024-10-21",
    headers: { X: `Bearer \${A}-\${B}` },
    extra_params: { user: "AKIAIOSFODNN7EXAMPLE", tag: `\${TAG}`, deep: [{ token: "t0k-1234" }], effort: "high" },
  };
  const config = { models: { m: entry }, datasets: { d: { agent: { model: "m" } } } };
  const hidden = hideKeys(config as never) as unknown as typeof config;
  expect(hidden.models.m).toEqual({
    api_base: "<literal>",
    headers: { X: "<literal>" },
    extra_params: { user: "<literal>", tag: `\${TAG}`, deep: [{ token: "<literal>" }], effort: "high" },
  });
  expect(restoreKeys(hidden, () => config)).toEqual(config);
});

test("a run is resolved again from its manifest: names become variables, literals come from the config file", () => {
  const file = write("secretive.yml", SECRETIVE.replaceAll("@data", `${folder}/data`).replaceAll("%", "@"));
  const begun = resolveConfigFile(file, { limit: 2 });
  const manifest = {
    ...{ format_version: 2, program_version: "1", node_version: "v20", created_at: "", updated_at: "", seed: 0 },
    ...{ config_file: file, config: hideKeys(begun.config), datasets: {} },
  };
  const again = resolveManifest(manifest, "outputs/moved", { max_workers: 3 });
  expect(again).toMatchObject({ folder: "outputs/moved", config: { limit: 2, max_workers: 3, resume: true } });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable stays as it is until a client is made
  expect(again.datasets[0]?.agent.apiKey).toBe("${MY_KEY}");
  expect(again.registry.m).toEqual(begun.registry.m);
  expect(() => restoreKeys(manifest.config, () => undefined)).toThrow(/models\.m\.api_base was written as a literal/);
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

test("functions and a corpus count for datasets that name no domain, or next to one where a dataset has them itself", () => {
  const text = `
base_path: "@data"
agent_model: scripted/agent
user_model: scripted/user
tool_files: [run.py]
corpus: run-docs
mcpServers: {desk: {command: node}}
datasets:
  plain: {path: "@queries.jsonl"}
  own: {path: "@queries.jsonl", tool_files: [own.py, own.py], corpus: own-docs}
  Domain1: {}
  beside: {mcp_domain: Domain1, corpus: own-docs}
  chosen: {path: "@queries.jsonl", tools: [search, calculator]}
  server: {path: "@queries.jsonl", tools: [desk, visit]}
  mixed: {tools: [Domain1, calculator]}
  none: {path: "@queries.jsonl", tools: []}
  only: {path: "@queries.jsonl", tools: [], tool_files: [own.py]}
`;
  const shown = (patch?: ConfigPatch) =>
    Object.fromEntries(
      resolve(text, patch).datasets.map(({ name, domain, mcpServers, ownTools }) => [
        name,
        [
          domain.servers.join("+"),
          mcpServers ? "mcp" : "",
          ownTools?.files.join("+") ?? "-",
          ownTools?.corpus ?? "-",
          ownTools?.bundled.join("+") ?? "-",
          ownTools?.besidesFolder ?? "-",
        ].join(" "),
      ]),
    );
  expect(shown()).toEqual({
    plain: "desk+run+corpus mcp run.py run-docs search+visit false",
    own: "desk+own+corpus mcp own.py own-docs search+visit false",
    Domain1: "Domain1  - - - -",
    beside: "Domain1   own-docs search+visit true",
    chosen: "corpus+calculator   run-docs search+calculator false",
    server: "desk+corpus mcp  run-docs visit false",
    mixed: "Domain1   - calculator true",
    none: "  - - - -",
    only: "own  own.py -  false",
  });
  const flags = shown({ tool_files: ["flag.py"], corpus: "flag-docs" });
  expect(flags.own).toBe("desk+flag+corpus mcp flag.py flag-docs search+visit false");
  expect(flags.beside).toBe("Domain1   flag-docs search+visit true");
  expect(flags.none).toBe("  - - - -");
});
