// Several real model servers behind one name: which question went to which of them.
import { expect, onTestFinished, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, failing, type ModelAnswer, type ModelServer, serveModel } from "./support/model-server.ts";

const QUESTIONS = Array.from({ length: 12 }, (_, n) => ({ id: `q${n}`, question: `What is number ${n}?`, answer: n }));

/** Answers after a while, so that calls overlap. */
const slowly: ModelAnswer = (response) => {
  const text = JSON.stringify(completion({ content: "I do not know." }));
  setTimeout(() => response.setHeader("content-type", "application/json").end(text), 5);
};

async function serveAll(...answers: ModelAnswer[]): Promise<ModelServer[]> {
  const servers = await Promise.all(answers.map((answer) => serveModel(answer)));
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.close()));
  });
  return servers;
}

async function ask(work: WorkFolder, servers: ModelServer[], ...more: string[]) {
  work.write("questions.jsonl", QUESTIONS.map((question) => `${JSON.stringify(question)}\n`).join(""));
  const entry = { provider: "openai", api_base: servers.map(({ baseUrl }) => baseUrl), api_key: "none" };
  work.write("models.yml", JSON.stringify({ models: { local: entry } }));
  const flags = ["--input", "questions.jsonl", "--output", "out", "--agent-model", "openai/local", "--quiet"];
  return work.run(["multi", ...flags, "--models-config", "models.yml", "--rollouts", "5", ...more]);
}

const questionIn = ({ text }: { text: string }) => /What is number \d+\?/.exec(text)?.[0] ?? "";
const questionsOf = ({ received }: ModelServer) => [...new Set(received.map(questionIn))];

test("--sticky question keeps all rollouts of a question on one server, and every server gets its part", async () => {
  const work = workFolder();
  const servers = await serveAll(slowly, slowly, slowly);
  expect(await ask(work, servers, "--sticky", "question")).toMatchObject({ code: 0, stderr: "" });
  const asked = servers.map(questionsOf);
  expect(asked.flat().sort()).toEqual(QUESTIONS.map(({ question }) => question).sort());
  for (const questions of asked) expect(questions.length).toBeGreaterThanOrEqual(2);
  expect(JSON.parse(work.read("out/manifest.json")).config.sticky).toBe("question");
});

test("without it each rollout has a server of its own choice", async () => {
  const servers = await serveAll(slowly, slowly, slowly);
  expect(await ask(workFolder(), servers)).toMatchObject({ code: 0 });
  expect(servers.flatMap(questionsOf).length).toBeGreaterThan(QUESTIONS.length);
});

test("a question whose server fails goes on elsewhere with all its rollouts", async () => {
  const work = workFolder();
  const servers = await serveAll(failing(503), slowly, slowly);
  expect(await ask(work, servers, "--sticky", "question")).toMatchObject({ code: 0 });
  const [, ...good] = servers as [ModelServer, ...ModelServer[]];
  expect(good.flatMap(questionsOf).sort()).toEqual(QUESTIONS.map(({ question }) => question).sort());
  expect(work.records("out/iter5.jsonl")).toHaveLength(QUESTIONS.length);
});
