// Question sets over a real model server: how answers are asked for, marked, read, matched and judged, and what a run
// comes to. The built program, as a user runs it.
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../src/core/index.ts";
import type { AnswerNumbers, QuestionSet, ScoreRecord } from "../src/scoring/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, type Received, serveModel } from "./support/model-server.ts";

type Message = { role: string; content: string };
type Asked = { model: string; system: string; question: string; nth: number };
type Line = { id: string; query_id: string; rollout: number; answer: unknown; answers?: unknown; prediction: string };

const USAGE = { usage: { prompt_tokens: 100, completion_tokens: 10 } };

/** A server whose models answer as a function of what they are asked; `status` instead of a text fails. */
async function serve(answer: (asked: Asked) => string | number) {
  const times = new Map<string, number>();
  const server = await serveModel((response, { body }: Received) => {
    const messages = body.messages as Message[];
    const system = messages.find(({ role }) => role === "system")?.content ?? "";
    const question = messages.findLast(({ role }) => role === "user")?.content ?? "";
    const key = `${body.model} ${question}`;
    const nth = times.get(key) ?? 0;
    times.set(key, nth + 1);
    const said = answer({ model: String(body.model), system, question, nth });
    if (typeof said === "number") return response.writeHead(said).end("{}");
    response.setHeader("content-type", "application/json").end(JSON.stringify(completion({ content: said }, USAGE)));
  });
  onTestFinished(() => server.close());
  const work = workFolder();
  const entry = `{provider: openai, api_base: "${server.baseUrl}", input_cost_per_token: 0.001, output_cost_per_token: 0.01}`;
  work.write("models.yml", `models:\n  agent: ${entry}\n  judge: ${entry}\n`);
  return { work, server };
}

const sentTo = ({ received: [first] }: { received: Received[] }) => (first as Received).body.messages as Message[];
const lines = <T>(text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
const records = (work: WorkFolder, round = 1) =>
  lines<Line>(work.read(`out/iter${round}.jsonl`)).sort((a, b) => a.query_id.localeCompare(b.query_id));
const questionsOf = (work: WorkFolder) => {
  const { questions } = JSON.parse(work.read("out/summary.json")) as { questions: { [name: string]: QuestionSet } };
  return questions.questions as QuestionSet;
};
const MODELS = ["--models-config", "models.yml", "--agent-model", "agent", "--output", "out"];
const multi = (...more: string[]) => ["multi", "--input", "questions.jsonl", ...MODELS, ...more];
const write = (work: WorkFolder, questions: object[]) =>
  work.write("questions.jsonl", questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
const CAPITAL = { id: "capital", question: "What is the capital of France?", answer: "Paris" };
const PLANETS = { id: "planets", question: "How many planets does the sun have?", answers: ["8", "eight planets"] };

describe("answers", () => {
  test.each([
    [[], /<answer> and <\/answer>/, "I know.\n**Answer:** 15", "15"],
    [["--answer-format", "answer-tag"], /<answer> and <\/answer>/, "<answer>a</answer> no: <answer>b", "a"],
    [["--answer-format", "boxed"], /\\boxed\{\}/, "so \\boxed{\\text{x {y}}}", "\\text{x {y}}"],
    [["--answer-format", "boxed"], /\\boxed\{\}/, "It is 15.", ""],
    [["--answer-format", "last-line"], /last line/, "Because.\n15\n", "15"],
    [["--answer-format", "json:value"], /field "value"/, '```json\n{"value": 15}\n```', "15"],
    [["--answer-format", "whole"], /whole reply/, "Answer: 15", "Answer: 15"],
  ] as const)(
    "%j: the agent is told how to mark them, and they are read that way",
    async (flags, told, said, prediction) => {
      const { work, server } = await serve(() => said);
      write(work, [CAPITAL]);
      const { code, stderr } = await work.run(multi(...flags, "--rollouts", "1", "--quiet"));
      expect([code, stderr]).toEqual([0, ""]);
      const [system] = sentTo(server);
      expect(system).toMatchObject({ role: "system", content: expect.stringMatching(told) });
      expect(system?.content).not.toContain("ask the user");
      expect(records(work)).toMatchObject([{ prediction }]);
    },
  );

  test("are right in a sentence, as an alias or as a number, without a judge", async () => {
    const said = { capital: "The capital of France is **Paris**.", planets: "Eight planets.", price: "$1,234.50" };
    const asked = [CAPITAL, PLANETS, { id: "price", question: "How much is it?", answer: 1234.5 }];
    const { work } = await serve(({ question }) => said[asked.find((one) => one.question === question)?.id as "price"]);
    write(work, asked);
    expect((await work.run(multi("--rollouts", "1", "--quiet", "--eval"))).code).toBe(0);
    expect(records(work)).toMatchObject([{ answer: "Paris" }, { answer: "8", answers: ["8", "eight planets"] }, {}]);
    const scores = lines<ScoreRecord>(work.read("out/scores.jsonl")).filter(({ check }) => check === "answer");
    expect(scores.map(({ pass }) => pass)).toEqual([true, true, true]);
    expect(scores.every(({ matched }) => matched === undefined)).toBe(true);
    expect(questionsOf(work)).toMatchObject({ matched: { scored: 3, solved: 3 } });
    expect(questionsOf(work)).not.toHaveProperty("judged");
  });

  test("that a scripted agent gives are marked too", async () => {
    const { work } = await serve(() => "");
    write(work, [CAPITAL]);
    for (const format of ["boxed", "json:a.b", "last-line", "answer-tag"]) {
      const flags = ["--agent-model", "scripted/agent", "--answer-format", format, "--no-resume", "--output", format];
      expect((await work.run(multi("--rollouts", "1", "--eval", "--quiet", ...flags))).code).toBe(0);
      expect(lines<Line>(work.read(`${format}/iter1.jsonl`))).toMatchObject([{ prediction: "Paris" }]);
    }
  });
});

describe("prompts", () => {
  test("--system-prompt replaces the agent's, and {answer_format} in it stands for how to mark the answer", async () => {
    const { work, server } = await serve(() => "\\boxed{Paris}");
    write(work, [CAPITAL]);
    work.write("prompt.md", "Be brief. {answer_format}\n");
    const flags = ["--rollouts", "1", "--quiet", "--system-prompt", "prompt.md", "--answer-format", "boxed"];
    expect((await work.run(multi(...flags))).code).toBe(0);
    expect(sentTo(server)[0]?.content).toBe("Be brief. Give your final answer, and nothing else, inside \\boxed{}.");
    work.write("prompt.md", "Be brief. {answer-format}\n");
    const typo = await work.run(multi(...flags));
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringMatching(/prompt\.md:1:\d+: .*write \{answer_format\}/)]);
  });

  test("a question's own replaces it for that question; each is kept once, and a changed one is drift of that question", async () => {
    const { work, server } = await serve(() => "x");
    const own = { ...PLANETS, system_prompt: "Count. {answer_format}" };
    write(work, [CAPITAL, own]);
    expect((await work.run(multi("--rollouts", "2", "--quiet"))).code).toBe(0);
    const systemOf = (question: string) =>
      server.received
        .map(({ body }) => body.messages as Message[])
        .flatMap((messages) => (messages.at(-1)?.content === question ? [messages[0]?.content] : []));
    expect(systemOf(PLANETS.question)).toEqual(Array(2).fill(expect.stringMatching(/^Count\. Give your final answer/)));
    const prompts = lines<{ hash: string; kind: string; content: string }>(work.read("out/prompts.jsonl"));
    const systems = prompts.filter(({ kind }) => kind === "system");
    expect(systems).toHaveLength(2);
    const hashes = lines<{ query_id: string; metadata: { system_hash: string } }>(work.read("out/iter1.jsonl"));
    for (const { query_id, metadata } of hashes)
      expect(systems.find(({ hash }) => hash === metadata.system_hash)?.content.startsWith("Count.")).toBe(
        query_id === "planets",
      );
    write(work, [CAPITAL, { ...own, system_prompt: "Count again." }]);
    const drifted = await work.run(multi("--rollouts", "2", "--quiet"));
    expect([drifted.code, drifted.stderr]).toEqual([
      2,
      expect.stringContaining("the content of query planets changed"),
    ]);
  });
});

describe("the result", () => {
  /** capital: always right; planets: in words that only a judge takes, then wrong; never: wrong. */
  const NEVER = { id: "never", question: "Who am I?", answer: "Odysseus" };
  const answer = ({ model, question, nth }: Asked) => {
    if (model === "judge")
      return JSON.stringify({ pass: question.includes("the number of octopus arms"), reason: "so" });
    if (question === CAPITAL.question) return "It is Paris.";
    if (question === NEVER.question) return "Nobody.";
    return nth === 0 ? "the number of octopus arms" : "9";
  };

  test("has pass@k, rounds, effort and solved questions, by matching and beside it with a judge", async () => {
    const { work, server } = await serve(answer);
    write(work, [CAPITAL, PLANETS, NEVER]);
    const { code, stdout } = await work.run(multi("--rollouts", "2", "--judge-model", "judge", "--workers", "1"));
    expect(code).toBe(0);
    const set = questionsOf(work);
    expect(set).toMatchObject({ questions: 3, rollouts: 6, rounds: 2, infrastructure: 0, terminations: { answer: 6 } });
    const { matched, judged } = set as { matched: AnswerNumbers; judged: AnswerNumbers };
    expect(matched).toMatchObject({
      scored: 6,
      solved: 2,
      pass_at_k: { 1: expect.closeTo(1 / 3, 9), 2: expect.closeTo(1 / 3, 9) },
      average_pass_at_1: expect.closeTo(1 / 3, 9),
      best_pass_at_1: expect.closeTo(1 / 3, 9),
      solved_by_all: { count: 1, ids: ["capital"] },
      solved_by_none: { count: 2, ids: expect.arrayContaining(["planets", "never"]) },
    });
    expect(judged).toMatchObject({
      solved: 3,
      pass_at_k: { 1: expect.closeTo(1 / 2, 9), 2: expect.closeTo(2 / 3, 9) },
      average_pass_at_1: expect.closeTo(1 / 2, 9),
      best_pass_at_1: expect.closeTo(2 / 3, 9),
      rounds: [
        { round: 1, scored: 3, solved: 2, accuracy: expect.closeTo(2 / 3, 9) },
        { round: 2, scored: 3, solved: 1, accuracy: expect.closeTo(1 / 3, 9) },
      ],
      solved_by_none: { count: 1, ids: ["never"] },
    });
    expect(set.per_rollout).toMatchObject({
      model_calls: 1,
      tool_calls: 0,
      tokens: 110,
      cost_usd: expect.closeTo(0.2, 9),
    });
    expect(set.per_question).toMatchObject({ model_calls: 2, tokens: 220, cost_usd: expect.closeTo(0.4, 9) });
    expect(set.by_question.planets).toMatchObject({ rollouts: 2, matched: 0, judged: 1, tokens: 220 });
    // only what matching could not decide was asked, once for each answer, and nothing else
    expect(server.received.filter(({ body }) => body.model === "judge")).toHaveLength(3);
    expect(stdout).toMatch(/matched +judged\npass@1 +33\.3 % +50\.0 %\npass@2 +33\.3 % +66\.7 %\n/);
    expect(stdout).toContain("solved by no rollout: never\n");
    const [score] = lines<ScoreRecord>(work.read("out/scores.jsonl")).filter(
      ({ check, pass, matched: alone }) => check === "answer" && pass === true && alone === false,
    );
    expect(score).toMatchObject({ id: "planets", details: { judge: expect.stringContaining("judge") } });
    const report = await work.run(["report", "out"]);
    expect(report.stdout).toContain("best pass@1");
    expect(work.read("out/report.html")).toContain("<td>pass@2</td><td>33.3 %</td><td>66.7 %</td>");
    expect(JSON.parse(work.read("out/report.json")).datasets.questions.questions).toEqual(set);
    // another session keeps the judge
    const before = server.received.length;
    expect((await work.run(["resume", "out", "--quiet"])).code).toBe(0);
    expect(server.received.length).toBe(before);
    expect(questionsOf(work)).toEqual(set);
  });

  test("without scores says what can be said", async () => {
    const { work } = await serve(answer);
    write(work, [CAPITAL, NEVER]);
    const { stdout } = await work.run(multi("--rollouts", "2"));
    const set = questionsOf(work);
    expect(set).toMatchObject({ questions: 2, rollouts: 4, terminations: { answer: 4 }, per_rollout: { tokens: 110 } });
    expect(["matched", "judged", "solved"].filter((column) => column in set)).toEqual([]);
    expect(stdout).toContain("Nothing is scored: --eval scores the answers.");
    expect((await work.run(["eval", "out"])).stdout).toMatch(/ matched\npass@1 +50\.0 %/);
  });

  test("does not hold the infrastructure's failures against the agent", async () => {
    const { work } = await serve((asked) => (asked.question === NEVER.question ? 500 : answer(asked)));
    write(work, [CAPITAL, NEVER]);
    const agent = "{model: agent, max_retries: 0}";
    work.write(
      "run.yml",
      `output_dir: out\nmodels_config_file: models.yml\nmax_turns: 1\nrollouts: 2\neval: true\ndatasets:\n  questions: {path: questions.jsonl, rounds: true, tools: [], agent: ${agent}}\n`,
    );
    expect(await work.run(["run", "--config", "run.yml", "--quiet"])).toMatchObject({ code: 3 });
    expect(questionsOf(work)).toMatchObject({
      questions: 2,
      rollouts: 2,
      infrastructure: 2,
      terminations: { answer: 2, infrastructure: 2 },
      matched: { scored: 2, solved: 2, pass_at_k: { 1: 1, 2: 1 }, solved_by_none: { count: 0, ids: [] } },
    });
  });
});

describe("the input", () => {
  const QUESTIONS: JsonObject[] = [CAPITAL, { question: "Why?", answer: "So" }, { query: "How?", answers: ["Thus"] }];

  test("may be a JSON array under any name: the same rollouts as from lines, also for an evaluation from elsewhere", async () => {
    const { work } = await serve(({ question }) => (question === "Why?" ? "So" : "?"));
    write(work, QUESTIONS);
    work.write("questions.json", `\ufeff${JSON.stringify(QUESTIONS, null, 2).replaceAll("\n", "\r\n")}`);
    work.write("questions", JSON.stringify(QUESTIONS));
    const bare = (input: string, out: string) => [
      "multi",
      "--input",
      input,
      ...MODELS,
      "--output",
      out,
      "--rollouts",
      "1",
      "--quiet",
    ];
    for (const input of ["questions.jsonl", "questions.json", "questions"])
      expect((await work.run(bare(input, `out-${input}`))).code).toBe(0);
    const seen = (input: string) =>
      lines<Line & { metadata: { fingerprint: string } }>(work.read(`out-${input}/iter1.jsonl`))
        .map(({ id, prediction, metadata }) => [id, prediction, metadata.fingerprint])
        .sort();
    expect(seen("questions.json")).toEqual(seen("questions.jsonl"));
    expect(seen("questions")).toEqual(seen("questions.jsonl"));
    work.write("elsewhere/x", "");
    const away = workFolder();
    expect(await away.run(["eval", `${work.path}/out-questions`, "--json"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"matched"'),
    });
  });

  test.each([
    ['{"question": "a"}\n\n{"id": "b", "question": " "}\n', "questions.jsonl:3: the question is empty"],
    [
      '{"question": "a"}\n{"id": "b", "messages": [{"role": "user", "content": ""}]}\n',
      "questions.jsonl:2: the question is empty",
    ],
    ['{"question": "a"}\n{"answer": "b"}\n', 'questions.jsonl:2: a query needs a "question"'],
    ['[\n{"question": "a"},\n{"question": ""}\n]', "questions.jsonl:3: the question is empty"],
    ["", "has no queries"],
    ["[]", "has no queries"],
  ])("%j is refused: %s", async (text, message) => {
    const { work } = await serve(() => "x");
    work.write("questions.jsonl", text);
    const { code, stderr } = await work.run(multi("--quiet"));
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(work.has("out")).toBe(false);
  });
});
