// One list of flags for all commands that run rollouts: each command takes each of them, and it reaches the run's config.
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type FullConfig, listFlags } from "../src/config/index.ts";
import { RUNNING, type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, serveModel } from "./support/model-server.ts";
import { lines, writeShop } from "./support/shop-dataset.ts";

type Samples = { [key in keyof FullConfig]?: [words: string[], value: unknown] };

/** Values that are no defaults, and that go together. */
const SAMPLES: Samples = {
  base_path: [["--base-path", "shop"], "shop"],
  query_dir: [["--query-dir", "shop/queries"], "shop/queries"],
  policy_dir: [["--policy-dir", "shop/policies"], "shop/policies"],
  limit: [["--limit", "2"], 2],
  split: [["--split", "1/1"], "1/1"],
  rollouts: [["--rollouts", "3"], 3],
  max_workers: [["--max-workers", "3"], 3],
  seed: [["--seed", "5"], 5],
  eval: [["--eval"], expect.anything()],
  judge_model: [["--judge-model", "scripted/judge"], "scripted/judge"],
  allow_drift: [["--allow-drift"], true],
  resume: [["--resume"], true],
  retry_failed: [["--retry-failed"], true],
  max_cost: [["--max-cost", "9.5"], 9.5],
  max_tokens_total: [["--max-tokens-total", "900000"], 900000],
  record: [["--record", "cassettes"], "cassettes"],
  agent_model: [["--agent-model", "openai/local"], "openai/local"],
  user_model: [["--user-model", "openai/local-user"], "openai/local-user"],
  agent_temperature: [["--agent-temperature", "0.25"], 0.25],
  user_temperature: [["--user-temperature", "0.75"], 0.75],
  top_p: [["--top-p", "0.9"], 0.9],
  tool_format: [["--tool-format", "hermes"], "hermes"],
  system_prompt_file: [["--system-prompt", "prompt.txt"], "prompt.txt"],
  answer_format: [["--answer-format", "boxed"], "boxed"],
  max_turns: [["--max-turns", "2"], 2],
  max_steps_per_turn: [["--max-steps-per-turn", "7"], 7],
  context_limit: [["--context-limit", "90000"], 90000],
  on_context_full: [["--on-context-full", "summarise"], "summarise"],
  summary_model: [["--summary-model", "openai/local"], "openai/local"],
  max_rollout_seconds: [["--timeout", "500"], 500],
  mcp_config_file: [["--mcp", "mcp.json"], "mcp.json"],
  tool_files: [["--tools", "tools.ts"], ["tools.ts"]],
  corpus: [["--corpus", "notes"], "notes"],
  python: [["--python", "python3"], "python3"],
  python_processes: [["--python-processes", "2"], 2],
  models_config_file: [["--models-config", "models.yml"], "models.yml"],
  sticky: [["--sticky", "question"], "question"],
  verbose: [["--verbose"], true],
  verbose_colors: [["--no-colors"], false],
};

/** Those that exclude some of the above, with scripted models. */
const OTHERS: Samples = {
  bundled: [["--bundled"], true],
  enable_thinking: [["--no-thinking"], false],
  mode: [["--mode", "no_tool"], "no_tool"],
};

type Scene = { command: string[]; dataset: string; ids: string[]; folder: string };

/** What a resume needs. */
async function beginRun(work: WorkFolder, folder: string, flags: string[]): Promise<void> {
  const shop = ["single", "--domains", "Domain1", "--base-path", "shop"];
  await work.run([...shop, "--output-dir", folder, "--quiet", ...flags]);
}

async function prepare(): Promise<WorkFolder> {
  const work = workFolder();
  const answer = (content: string) => serveModel(completion({ content }));
  const [agent, user] = await Promise.all([answer("It is \\boxed{4}."), answer("###STOP###")]);
  onTestFinished(async () => {
    await Promise.all([agent.close(), user.close()]);
  });
  const entry = (api_base: string) => ({
    provider: "openai",
    api_base,
    api_key: "none",
    input_cost_per_token: 0,
    output_cost_per_token: 0,
  });
  work.write(
    "models.yml",
    JSON.stringify({ models: { local: entry(agent.baseUrl), "local-user": entry(user.baseUrl) } }),
  );
  writeShop(work);
  work.write(
    "questions.jsonl",
    lines([1, 2, 3].map((n) => ({ id: `q${n}`, question: `What is ${n} + 1?`, answer: n + 1 }))),
  );
  work.write("prompt.txt", "Answer well.");
  work.write("notes/one.md", "# One\n\nThe capital of France is Paris.\n");
  work.write(
    "tools.ts",
    "/** Adds two numbers. */\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n",
  );
  const server = fileURLToPath(new URL("./support/mcp/modern-server.mjs", import.meta.url));
  work.write("mcp.json", JSON.stringify({ mcpServers: { desk: { command: process.execPath, args: [server] } } }));
  work.write("run.yml", "datasets: [Domain1]\n");
  work.write(
    "multi.yml",
    JSON.stringify({ datasets: { asked: { path: "questions.jsonl", tools: [] }, other: { path: "none" } } }),
  );
  return work;
}

const NEW = ["--output-dir", "out"];
const SCENES: { [command: string]: Scene } = {
  run: { command: ["run", "--config", "run.yml", ...NEW], dataset: "Domain1", ids: ["q1", "q2"], folder: "out" },
  single: { command: ["single", "--domains", "Domain1", ...NEW], dataset: "Domain1", ids: ["q1", "q2"], folder: "out" },
  cross: { command: ["cross", "--all", ...NEW], dataset: "Domain1_Domain2", ids: ["x1", "x2"], folder: "out" },
  multi: { command: ["multi", "--config", "multi.yml", ...NEW], dataset: "asked", ids: ["q1", "q2"], folder: "out" },
  resume: { command: ["resume", "before"], dataset: "Domain1", ids: ["q1", "q2"], folder: "before" },
};
/** A resume stores nothing of what narrows it. */
const THIS_TIME = ["dataset", "ids", "limit", "split", "retry_failed"];

const configIn = (work: WorkFolder, folder: string) => JSON.parse(work.read(`${folder}/manifest.json`)).config;
const expectedOf = (samples: Samples, leftOut: string[] = []) =>
  Object.fromEntries(
    Object.entries(samples)
      .filter(([key]) => !leftOut.includes(key))
      .map(([key, sample]) => [key, sample?.[1]]),
  );
const wordsOf = (samples: Samples) => Object.values(samples).flatMap((sample) => sample?.[0] ?? []);

test("there is a sample of every flag", () => {
  const named = new Set([...Object.keys(SAMPLES), ...Object.keys(OTHERS), "dataset", "ids", "replay", "output_dir"]);
  expect(
    listFlags()
      .map(({ key }) => key)
      .filter((key) => !named.has(key)),
  ).toEqual([]);
});

test.each(RUNNING)("rollout %s takes every flag of a run, and each reaches the run's config", async (name) => {
  const work = await prepare();
  const { command, dataset, ids, folder } = SCENES[name] as Scene;
  const scripted = ["--agent-model", "scripted/agent", "--user-model", "scripted/user"];
  if (name === "resume") await beginRun(work, folder, ["--ids", "q3", ...scripted]);
  const own: Samples = {
    ...SAMPLES,
    dataset: [["--dataset", dataset], dataset],
    ids: [["--ids", ids.join(",")], ids],
  };
  const first = await work.run([...command, ...wordsOf(own)]);
  expect([first.code, first.stderr]).toEqual([0, expect.not.stringContaining("rror")]);
  const leftOut = name === "resume" ? THIS_TIME : [];
  expect(configIn(work, folder)).toMatchObject(expectedOf(own, leftOut));

  const { record: _record, ...replayed } = own;
  const again: Samples = {
    ...replayed,
    replay: [["--replay", "cassettes"], "cassettes"],
    resume: [["--no-resume"], false],
  };
  expect(await work.run([...command, ...wordsOf(again), "--quiet"])).toMatchObject({ code: 0, stderr: "" });
  expect(configIn(work, `${folder}.2`)).toMatchObject(expectedOf(again));

  const domain = name === "multi" ? [] : ["--base-path", "shop"];
  const third = [...command, ...wordsOf(OTHERS), ...domain, ...scripted, "--limit", "1", "--no-resume", "--quiet"];
  expect(await work.run(name === "multi" ? [...third, "--dataset", dataset] : third)).toMatchObject({
    code: 0,
    stderr: "",
  });
  expect(configIn(work, `${folder}.3`)).toMatchObject(expectedOf(OTHERS));
});

test.each(RUNNING)("rollout %s plans, pilots and prints events", async (name) => {
  const work = await prepare();
  const { command, dataset, folder } = SCENES[name] as Scene;
  const scripted = ["--agent-model", "scripted/agent", "--user-model", "scripted/user", "--limit", "2"];
  const domain = name === "multi" ? ["--dataset", dataset] : name === "resume" ? [] : ["--base-path", "shop"];
  if (name === "resume") await beginRun(work, folder, scripted);
  const before = work.names();
  const dry = await work.run([...command, ...domain, ...scripted, "--dry-run"]);
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining("Nothing was written")]);
  expect(work.names()).toEqual(before);
  const pilot = await work.run([...command, ...domain, ...scripted, "--rollouts", "2", "--pilot", "1"]);
  expect([pilot.code, pilot.stdout]).toEqual([0, expect.stringContaining("The pilot's rollouts are in")]);
  expect(pilot.stdout).toMatch(new RegExp(`\\nthe whole[^\\n]*\\n${dataset} +[1-9]`));
  expect(work.has(`${folder}.pilot/manifest.json`)).toBe(true);
  const events = await work.run([...command, ...domain, ...scripted, "--rollouts", "2", "--json"]);
  expect(events.code).toBe(0);
  const types = new Set(
    events.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).type),
  );
  expect([...types]).toEqual(
    expect.arrayContaining(["run-start", "rollout-start", "entry-end", "rollout-end", "run-end"]),
  );
});

test("help shows what matters to a command and says where the rest is; a mistyped rare flag is recognised", async () => {
  const work = workFolder();
  const flagsIn = (text: string) => new Set([...text.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag));
  const every = listFlags().map(({ key, name }) => `--${name ?? key.replaceAll("_", "-")}`);
  for (const command of RUNNING) {
    const [short, long] = await Promise.all(["--help", "--help-all"].map((flag) => work.run([command, flag])));
    expect([command, short?.code, long?.code]).toEqual([command, 0, 0]);
    expect(short?.stdout).toContain(`more flags: rollout ${command} --help-all`);
    expect(long?.stdout).not.toContain("more flags:");
    const [few, all] = [flagsIn(short?.stdout ?? ""), flagsIn(long?.stdout ?? "")];
    expect(every.filter((flag) => !all.has(flag))).toEqual(command === "resume" ? ["--output-dir"] : []);
    expect(few.has("--agent-model")).toBe(true);
    expect(few.has("--answer-format")).toBe(command === "multi");
  }
  const { code, stderr } = await work.run(["single", "--all", "--stiky", "question"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("Did you mean --sticky")]);
});
