import { expect, test } from "vitest";
import { PROGRESS, type WorkFolder, workFolder } from "./support/cli.ts";
import { call, itemQuery, lines, planQuery, type ShopQuery, writeShop } from "./support/shop-dataset.ts";

/** The config from the project's own description, verbatim. */
const SEED_CONFIG = `# global execution settings
max_workers: 48                    # number of worker threads
resume: false                      # whether to resume from last interruption
use_checkpoints: true              # enable checkpoints

# logging
log_level: INFO
log_file: ./logs/rollout.log

# realtime output
verbose: true                      # print realtime agent/user/tool outputs
verbose_colors: true               # use colored output

# dialogue monitoring (early stop detection)
enable_monitor: true
monitor_max_no_tool_turns: 5       # stop after N consecutive turns with no tool calls

# model registry config file
models_config_file: ./configs/models.yml

# datasets
datasets:
  CustomerService:
    path: ./queries/cross_domain/Domain1_Domain2.jsonl
    output_path: ./outputs/output.jsonl
    mcp_domain: Domain1_Domain2
    tools:
      - domain1_mcp
      - domain2_mcp
    agent:
      model: openai/deepseek-v3.2-fc
      temperature: 0.2
      enable_thinking: true
    user:
      model: openai/gpt-5
      temperature: 1.0
    max_turns: 20
    max_steps_per_turn: 10
    mode: positive
`;

const SEED_MODELS = `models:
  deepseek-v3.2-fc:
    provider: openai
    api_base: http://your-api-endpoint/v1
    api_key: sk-your-api-key
    mode: chat

  gpt-5:
    provider: openai
    api_base: http://your-api-endpoint/v1
    api_key: sk-your-api-key
    mode: chat
`;

test("the seed's config and registry work as they stand: dry run, run with scripted models, every file in its place", async () => {
  const work = workFolder();
  writeShop(work, { base: "datasets/cross_domain" });
  work.write(
    "queries/cross_domain/Domain1_Domain2.jsonl",
    work.read("datasets/cross_domain/queries/Domain1_Domain2.jsonl"),
  );
  work.write("configs/example_new.yml", SEED_CONFIG);
  work.write("configs/models.yml", SEED_MODELS);
  const before = work.names();
  const dry = await work.run(["run", "--config", "configs/example_new.yml", "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, stderr: "" });
  expect(dry.stdout).toMatch(/CustomerService +2 +2 +0 +2 +openai\/deepseek-v3\.2-fc +openai\/gpt-5 +positive/);
  expect(dry.stdout).toContain("outputs/output.jsonl");
  expect(dry.stdout).toContain("2 rollouts to make, 48 at once, run folder outputs/example_new. Nothing was written.");
  expect(work.names()).toEqual(before);

  const scripted = ["--agent-model", "scripted/agent", "--user-model", "scripted/user"];
  const run = await work.run(["run", "--config", "configs/example_new.yml", ...scripted]);
  expect(run.code).toBe(0);
  expect(run.stderr.replace(PROGRESS, "")).toBe("");
  expect(run.stdout).toMatch(/── x1\n[\s\S]*calls {2}\w+__find_item[\s\S]*agent {2}It costs 7\./);
  expect(work.records("outputs/output.jsonl").map(({ id, dataset, domains }) => [id, dataset, domains])).toEqual([
    ["x1", "CustomerService", ["Domain1", "Domain2"]],
    ["x2", "CustomerService", ["Domain1", "Domain2"]],
  ]);
  expect(work.read("logs/rollout.log")).toContain("run-end");
  expect(work.has("outputs/example_new/manifest.json")).toBe(true);
  for (const file of ["outputs/example_new/manifest.json", "logs/rollout.log", "outputs/output.jsonl"])
    expect(work.read(file)).not.toContain("sk-your-api-key");
});

/** One run of a config over some queries of Domain1, and its result. */
async function play(work: WorkFolder, settings: string, queries?: ShopQuery[]) {
  writeShop(work, queries ? { queries } : {});
  work.write(
    "run.yml",
    `base_path: shop\nagent_model: scripted/agent\nuser_model: scripted/user\noutput_dir: run\n${settings}\n${settings.includes("datasets:") ? "" : "datasets: [Domain1]\n"}`,
  );
  const finished = await work.run(["run", "--config", "run.yml"]);
  expect(finished.stderr.replace(PROGRESS, "")).toBe("");
  return finished;
}

const reasons = (work: WorkFolder) =>
  work.records("run/trajectories/Domain1.jsonl").map(({ metadata }) => metadata.stop_reason);

test("log_file gets one JSON line an event from log_level on, and no dialogue's text", async () => {
  for (const [level, messages] of [
    ["debug", ["run-start", "rollout-start", "entry-end", "rollout-end", "run-end"]],
    ["WARNING", []],
  ] as const) {
    const work = workFolder();
    await play(work, `log_file: logs/deep/run.log\nlog_level: ${level}\nmax_workers: 1`);
    const log = work.records<{ msg: string }>("logs/deep/run.log");
    expect([...new Set(log.map(({ msg }) => msg))]).toEqual(messages);
    expect(work.read("logs/deep/run.log")).not.toContain("Do you want it?");
  }
});

test("verbose prints texts as they come, cut at verbose_max_length, in colour only where verbose_colors allows it", async () => {
  const work = workFolder();
  writeShop(work);
  const config =
    "base_path: shop\nagent_model: scripted/agent\nuser_model: scripted/user\ndatasets: [Domain1]\nverbose: true\n";
  work.write("long.yml", config);
  work.write("short.yml", `${config}verbose_max_length: 9\nverbose_colors: false\n`);
  const options = { env: { FORCE_COLOR: "1" } };
  const [long, short] = await Promise.all([
    work.run(["run", "--config", "long.yml", "--limit", "1"], options),
    work.run(["run", "--config", "short.yml", "--limit", "1"], options),
  ]);
  const realtime = (text: string) => text.slice(0, text.indexOf("rollouts in"));
  expect(realtime(long.stdout)).toContain("I found item q1. Do you want it?");
  expect(realtime(long.stdout)).toContain("\u001b[");
  expect(realtime(short.stdout)).toContain("I found …");
  expect(realtime(short.stdout).split("\n").slice(0, -2).join("\n")).not.toContain("\u001b[");
});

test("use_checkpoints: false journals no entries; checkpoint_dir moves the journal; sync takes its three values", async () => {
  const work = workFolder();
  await play(work, "use_checkpoints: false\nsync: always");
  const kept = work.records<{ type: string }>("run/journal.jsonl").map(({ type }) => type);
  expect(kept).toContain("rollout-end");
  expect(kept).not.toContain("entry-end");

  const moved = workFolder();
  await play(moved, "checkpoint_dir: elsewhere\nsync: never");
  expect(moved.has("run/journal.jsonl")).toBe(false);
  expect(moved.read("elsewhere/journal.jsonl")).toContain('"type":"entry-end"');
});

test("limits and modes of each dataset, and of the run, end a dialogue under their own names", async () => {
  const work = workFolder();
  const datasets = {
    one: ["max_turns: 1", "agent_done"],
    two: ["max_turns: 2", "max_turns"],
    steps: ["max_steps_per_turn: 1", "user_stop"],
    none: ["mode: no_tool", "user_(out_of_scope|transfer|stop)"],
    wrong: ["mode: wrong_tool", "user_(out_of_scope|transfer|stop)"],
    plain: ["mode: positive", "user_stop"],
  };
  const written = Object.entries(datasets).map(([name, [key]]) => `  ${name}: {mcp_domain: Domain1, ${key}}`);
  await play(work, `limit: 1\ndatasets:\n${written.join("\n")}`);
  for (const [name, [key, reason]] of Object.entries(datasets)) {
    const [record] = work.records(`run/trajectories/${name}.jsonl`);
    expect(record?.metadata.stop_reason, key).toMatch(new RegExp(`^${reason}$`));
  }
  for (const [settings, reason] of [
    ["max_rollout_tokens: 1", "token_budget"],
    ["max_rollout_seconds: 0.000001\nmax_turns: 2", "time_limit"],
  ]) {
    const limited = workFolder();
    await play(limited, `limit: 1\n${settings}`);
    expect(reasons(limited)).toEqual([reason]);
  }
});

test("each key of the monitor switches its own stop condition, and enable_monitor: false all of them", async () => {
  const same = call("find_item", { name: "lamp" });
  const queries = [
    planQuery("talk", [
      ...Array.from({ length: 7 }, (_, n) => ({ user: `And ${n}?`, say: `Well, ${n}.` })),
      { user: "###STOP###" },
    ]),
    planQuery("again", [{ steps: Array.from({ length: 6 }, () => same), say: "There." }, { user: "###STOP###" }]),
    planQuery("errors", [
      { steps: [call("find_item", { name: "nothing" }), call("find_item", {})], say: "No." },
      { user: "###STOP###" },
    ]),
    planQuery("farewell", [
      { steps: [same], say: "Done, have a nice day!" },
      { user: "One more.", say: "Yes?" },
      { user: "###STOP###" },
    ]),
  ];
  const cases: [settings: string, reasons: string[]][] = [
    ["", ["max_no_tool_turns", "repeated_calls", "user_stop", "user_stop"]],
    ["enable_monitor: false\nmonitor_rule_detection: true", ["user_stop", "user_stop", "user_stop", "user_stop"]],
    [
      "monitor_max_no_tool_turns: 6\nmonitor_max_repeated_calls: 7\nmonitor_max_tool_errors: 2\nmonitor_rule_detection: true",
      ["max_no_tool_turns", "user_stop", "too_many_tool_errors", "rule_detected"],
    ],
    [
      "enable_monitor: true\nmonitor_use_llm_judge: true\nmonitor_judge_model: scripted/judge",
      ["llm_judge", "repeated_calls", "llm_judge", "llm_judge"],
    ],
  ];
  for (const [settings, expected] of cases) {
    const work = workFolder();
    await play(work, `max_workers: 1\n${settings}`, queries);
    expect([settings, reasons(work)]).toEqual([settings, expected]);
  }
});

test("what was really sent is kept: a system_prompt_file stands in the place of the policy", async () => {
  const work = workFolder();
  work.write("agent.txt", "Be brief.\n");
  await play(work, "datasets:\n  Domain1:\n    agent:\n      system_prompt_file: agent.txt");
  const prompts = work.records<{ kind: string; content: string }>("run/prompts.jsonl");
  const [system] = prompts.filter(({ kind }) => kind === "system");
  expect(system?.content).toContain("Be brief.");
  expect(system?.content).not.toContain("Help with items");
});

test("auto_discover runs all that a folder holds, and min_domains only the combinations", async () => {
  const work = workFolder();
  writeShop(work);
  const auto = (more: string) =>
    `auto_discover: {base_path: shop, output_dir: found, agent_model: scripted/agent, user_model: scripted/user${more}}\n`;
  work.write("all.yml", auto(""));
  work.write("cross.yml", auto(", min_domains: 2, require_policy: true"));
  const all = await work.run(["run", "--config", "all.yml", "--dry-run"]);
  const cross = await work.run(["run", "--config", "cross.yml", "--dry-run"]);
  expect(all.stdout).toContain("found/trajectories/Domain1.jsonl");
  expect(all.stdout).toContain("found/trajectories/Domain1_Domain2.jsonl");
  expect(cross.stdout).not.toContain("found/trajectories/Domain1.jsonl");
  expect(cross.stdout).toContain("found/trajectories/Domain1_Domain2.jsonl");
});

test("two datasets with one output file are a usage error, found before anything is written", async () => {
  const work = workFolder();
  writeShop(work);
  const dataset = "{mcp_domain: Domain1, output_path: one.jsonl, agent: scripted/agent, user: scripted/user}";
  work.write("run.yml", `base_path: shop\ndatasets:\n  a: ${dataset}\n  b: ${dataset}\n`);
  const before = work.names();
  const { code, stderr } = await work.run(["run", "--config", "run.yml"]);
  expect(code).toBe(2);
  expect(stderr).toContain("Two datasets would write to one.jsonl");
  expect(work.names()).toEqual(before);
});

test("a dataset's own query file decides which queries are played, repeats left out and clashes told", async () => {
  const work = workFolder();
  writeShop(work);
  work.write("mine.jsonl", lines([itemQuery("m1"), itemQuery("m1"), itemQuery("m1", "a chair")]));
  const settings =
    "datasets:\n  Mine:\n    path: mine.jsonl\n    mcp_domain: domain1_mcp\n    output_path: mine-out.jsonl";
  const { stdout } = await play(work, settings);
  expect(
    work
      .records("mine-out.jsonl")
      .map(({ id }) => id)
      .sort(),
  ).toEqual(["m1", "m1~2"]);
  expect(stdout).toContain("Mine: 1 repeated queries were left out");
  expect(stdout).toContain(
    'Mine: id "m1" is used by two queries (mine.jsonl:1 and mine.jsonl:3); the second is "m1~2"',
  );
});
