// Plain question sets through `rollout multi`, in the built program as a user runs it.
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { ScoreRecord } from "../src/scoring/index.ts";
import { workFolder } from "./support/cli.ts";

const QUESTIONS = [
  { id: "sum", query: "What is 2 + 2?", answer: 4 },
  { id: "city", question: "Which city is the capital of France?", answer: "Paris" },
  { question: "Which are the primary colours?", answer: ["red", "yellow", "blue"] },
];

function prepared(questions: object[] = QUESTIONS) {
  const work = workFolder();
  work.write("questions.jsonl", questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
  return work;
}

const multi = (...more: string[]) => ["multi", "--input", "questions.jsonl", "--output", "out", "--quiet", ...more];
const lines = <T>(text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
type Line = {
  id: string;
  question: string;
  answer: unknown;
  rollout_id: number;
  prediction: string;
  termination: string;
  messages: object[];
};

describe("rollout multi", () => {
  test("takes the flags of every run, and its own short ones as other names for them", async () => {
    const work = prepared();
    const more = ["--rollouts", "1", "--agent-model", "scripted/agent", "--quiet"];
    const long = ["--output-dir", "long", "--max-workers", "3", "--max-steps-per-turn", "7"];
    const short = ["--output", "short", "--workers", "3", "--max-steps", "7"];
    for (const flags of [long, short, []])
      expect(await work.run(["multi", "--input", "questions.jsonl", ...flags, ...more])).toMatchObject({
        code: 0,
        stderr: "",
      });
    const configOf = (folder: string) => JSON.parse(work.read(`${folder}/manifest.json`)).config;
    expect(configOf("long")).toMatchObject({ max_workers: 3, max_steps_per_turn: 7, max_turns: 1 });
    expect(configOf("short")).toMatchObject({ max_workers: 3, max_steps_per_turn: 7, max_turns: 1 });
    expect(configOf("outputs/questions")).toMatchObject({ max_workers: 10, max_steps_per_turn: 100, max_turns: 1 });
    expect(configOf("outputs/questions")).toMatchObject({ on_context_full: "answer" });
    const { stdout } = await work.run(["multi", "--help"], { env: { COLUMNS: "200" } });
    for (const line of [
      /--output-dir <dir> .*\(also --output\)/,
      /--max-workers <n> .*\(also --workers; default: 10\)/,
    ])
      expect(stdout).toMatch(line);
  });

  test("writes one file for each round, in the fields that question sets have next to our own", async () => {
    const work = prepared();
    expect(await work.run(multi("--rollouts", "2", "--agent-model", "scripted/agent"))).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(work.has("out/trajectories")).toBe(false);
    expect(work.has("out/iter3.jsonl")).toBe(false);
    const [first, second] = [1, 2].map((round) => lines<Line>(work.read(`out/iter${round}.jsonl`)));
    expect(first?.map(({ id }) => id).sort()).toEqual(["city", expect.stringMatching(/^[0-9a-f]{16}$/), "sum"]);
    expect(first?.find(({ id }) => id === "sum")).toMatchObject({
      query_id: "sum",
      rollout: 0,
      dataset: "questions",
      question: "What is 2 + 2?",
      answer: 4,
      rollout_id: 0,
      prediction: "4",
      termination: "answer",
      messages: [
        { role: "user", content: "What is 2 + 2?" },
        { role: "assistant", content: "4" },
      ],
      metadata: { stop_reason: "agent_done", total_turns: 1, scripted: true },
    });
    expect(second?.find(({ id }) => id === "sum#1")).toMatchObject({ rollout_id: 1 });
  });

  test("scores answers as it goes, adds only the rounds that are new, and reports pass@k", async () => {
    const work = prepared();
    const agent = ["--agent-model", "scripted/agent?skill=0.5", "--eval"];
    await work.run(multi("--rollouts", "2", ...agent));
    const before = [1, 2].map((round) => work.read(`out/iter${round}.jsonl`));
    await work.run(multi("--rollouts", "6", ...agent));
    expect([1, 2].map((round) => work.read(`out/iter${round}.jsonl`))).toEqual(before);
    const answers = lines<ScoreRecord>(work.read("out/scores.jsonl")).filter(({ check }) => check === "answer");
    expect(answers).toHaveLength(18);
    expect((await work.run(["report", "out", "--quiet"])).code).toBe(0);
    const report = JSON.parse(work.read("out/report.json"));
    expect(Object.keys(report.overall.pass_at_k)).toEqual(["1", "2", "3", "4", "5", "6"]);
    expect(report.overall.success_rate).toBeCloseTo(answers.filter(({ pass }) => pass).length / 18, 12);
    expect(report.overall.success_rate).toBeGreaterThan(0);
    expect(report.overall.success_rate).toBeLessThan(1);
    expect(work.read("out/report.html")).toContain("pass@6");
  });

  test("is resumed by its folder like any run", async () => {
    const work = prepared();
    const command = multi("--rollouts", "2", "--agent-model", "scripted/agent");
    await work.run([...command, "--limit", "1"]);
    expect(lines(work.read("out/iter2.jsonl"))).toHaveLength(1);
    await work.run(command);
    expect(lines(work.read("out/iter2.jsonl"))).toHaveLength(3);
    work.write("out/iter2.jsonl", work.read("out/iter2.jsonl").split("\n").slice(0, 2).join("\n").concat("\n"));
    expect((await work.run(["resume", "out"])).code).toBe(0);
    expect(lines(work.read("out/iter2.jsonl"))).toHaveLength(3);
    await work.run([...command, "--no-resume"]);
    expect(lines(work.read("out.2/iter1.jsonl"))).toHaveLength(3);
  });

  test("offers the tools of MCP servers, and leaves what they would have to do again unscored", async () => {
    const work = prepared();
    const server = fileURLToPath(new URL("./support/mcp/modern-server.mjs", import.meta.url));
    work.write("mcp.json", JSON.stringify({ mcpServers: { desk: { command: process.execPath, args: [server] } } }));
    const { code, stderr } = await work.run(
      multi("--rollouts", "1", "--agent-model", "scripted/agent", "--mcp", "mcp.json", "--eval"),
    );
    expect([code, stderr]).toEqual([0, ""]);
    const prompts = lines<{ kind: string; content: object[] }>(work.read("out/prompts.jsonl"));
    expect(prompts.find(({ kind }) => kind === "tools")?.content.length).toBeGreaterThan(0);
    const results = lines<ScoreRecord>(work.read("out/scores.jsonl"));
    expect(results.filter(({ check, pass }) => check === "answer" && pass)).toHaveLength(3);
    expect(results.filter(({ check, pass }) => check === "state" && pass !== null)).toEqual([]);
  });

  test("without known answers a scripted agent has nothing to say, and that is said", async () => {
    const work = prepared([{ id: "a", question: "Why?" }]);
    const { code, stderr } = await work.run(multi("--agent-model", "scripted/agent"));
    expect([code, stderr]).toEqual([2, expect.stringContaining("reference plan")]);
    expect(work.has("out/manifest.json")).toBe(false);
  });

  test("takes the settings of a config: a flag wins over it, and it wins over the command's own defaults", async () => {
    const work = prepared();
    const config = {
      rollouts: 2,
      max_steps_per_turn: 6,
      agent_model: "scripted/agent",
      seed: 4,
      datasets: ["Elsewhere"],
    };
    work.write("settings/run.yml", JSON.stringify({ ...config, output_dir: "from-config" }));
    const base = ["multi", "--config", "settings/run.yml", "--input", "questions.jsonl", "--quiet"];
    expect(await work.run([...base, "--seed", "5"])).toMatchObject({ code: 0, stderr: "" });
    const { config: resolved, datasets } = JSON.parse(work.read("from-config/manifest.json"));
    expect(resolved).toMatchObject({ rollouts: 2, max_steps_per_turn: 6, seed: 5, max_workers: 10, max_turns: 1 });
    expect(Object.keys(datasets)).toEqual(["questions"]);
    expect(lines(work.read("from-config/iter2.jsonl"))).toHaveLength(3);
    expect(await work.run(["resume", "from-config", "--rollouts", "3", "--quiet"])).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(lines(work.read("from-config/iter3.jsonl"))).toHaveLength(3);
  });

  test("asks a config's own questions, with its tools and the keys next to it", async () => {
    const work = prepared();
    const server = fileURLToPath(new URL("./support/mcp/modern-server.mjs", import.meta.url));
    const desk = { command: process.execPath, args: [server], env: { DESK_KEY: `\${DESK_KEY}` } };
    const models = { agent_model: "scripted/agent", rollouts: 1 };
    const asked = { path: "questions.jsonl", tools: [] };
    work.write("a/.env", "DESK_KEY=planted\n");
    work.write("a/one.yml", JSON.stringify({ ...models, datasets: { asked } }));
    work.write("a/two.yml", JSON.stringify({ ...models, datasets: { asked, more: { ...asked, rounds: false } } }));
    work.write("a/tools.yml", JSON.stringify({ ...models, mcpServers: { desk } }));
    const run = (...words: string[]) => work.run(["multi", "--quiet", "--config", ...words]);
    expect(await run("a/one.yml", "--output", "one")).toMatchObject({ code: 0, stderr: "" });
    expect(lines<Line>(work.read("one/iter1.jsonl"))).toHaveLength(3);
    expect(await run("a/two.yml", "--output", "two", "--dataset", "more")).toMatchObject({ code: 0, stderr: "" });
    expect(lines<Line>(work.read("two/trajectories/more.jsonl"))).toHaveLength(3);
    expect(await run("a/tools.yml", "--output", "tools", "--input", "questions.jsonl")).toMatchObject({
      code: 0,
      stderr: "",
    });
    const offered = lines<{ kind: string; content: object[] }>(work.read("tools/prompts.jsonl"));
    expect(offered.find(({ kind }) => kind === "tools")?.content.length).toBeGreaterThan(0);
    expect(work.read("tools/manifest.json")).not.toContain("planted");
    const wrong: [string[], RegExp][] = [
      [["a/two.yml"], /several datasets \(asked, more\): say which one with --dataset/],
      [["a/two.yml", "--dataset", "askd"], /There is no dataset "askd"; did you mean "asked"/],
      [["a/tools.yml"], /Say which questions: --input FILE/],
      [["a/one.yml", "--input", "none.jsonl"], /^There is no query file none\.jsonl/],
    ];
    for (const [words, reason] of wrong) {
      const { code, stderr } = await run(...words);
      expect([words, code, stderr]).toEqual([words, 2, expect.stringMatching(reason)]);
    }
    expect((await work.run(["multi", "--quiet"])).stderr).toMatch(/^Say which questions/);
  });
});
