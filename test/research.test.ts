// examples/research: the files are what their script writes, the questions can be answered from the documents, and the
// example's command gives what its README says, in the built program.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { makeResearch } from "../scripts/make-research.ts";
import { listPlannedCalls, type PlanCall, type ReferencePlan } from "../src/core/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";

const FOLDER = "examples/research";

type Question = {
  id: string;
  question: string;
  answer?: string | number | string[];
  answers?: string[];
  task_info: { plan: ReferencePlan };
};

const questions = readFileSync(join(FOLDER, "questions.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Question);

const callsOf = ({ task_info }: Question, name: string): PlanCall[] =>
  listPlannedCalls(task_info.plan).filter((call) => call.name === name);
const fileOf = (visit: PlanCall) => String(visit.arguments.document);
/** Numbers without commas. */
const readDocument = (file: string) => readFileSync(join(FOLDER, "corpus", file), "utf8").replace(/(\d),(\d)/g, "$1$2");

describe("the files of examples/research", () => {
  test("are what the script writes, no more and no fewer", () => {
    const made = makeResearch();
    const documents = readdirSync(join(FOLDER, "corpus")).map((file) => `corpus/${file}`);
    expect([...made.keys()].sort()).toEqual([...documents, "questions.jsonl"].sort());
    for (const [file, text] of made) expect(readFileSync(join(FOLDER, file), "utf8"), file).toBe(text);
    expect([...made.values()].join("").length).toBeLessThan(400_000);
  });

  test("hold thirty different questions of two to five hops", () => {
    expect(questions).toHaveLength(30);
    expect(new Set(questions.map(({ id }) => id)).size).toBe(30);
    expect(new Set(questions.map(({ question }) => question)).size).toBe(30);
    for (const question of questions) {
      const files = new Set(callsOf(question, "visit").map(fileOf));
      expect(files.size, question.id).toBeGreaterThanOrEqual(2);
      expect(files.size, question.id).toBeLessThanOrEqual(5);
    }
    expect(questions.filter(({ answer }) => typeof answer === "number").length).toBeGreaterThanOrEqual(5);
    expect(questions.filter(({ answers }) => answers?.includes("unknown"))).toHaveLength(3);
  });

  test("have every answer in the last document of its plan, unless it has to be worked out", () => {
    const workedOut = /^(longer-bridge|age-of-the-leader|sponsored-ships|born-first)-/;
    for (const question of questions.filter(({ id }) => !workedOut.test(id))) {
      const text = readDocument(fileOf(callsOf(question, "visit").at(-1) as PlanCall));
      const [answer] = question.answers ?? [question.answer];
      expect(text.includes(String(answer)), `${question.id}: ${answer}`).toBe(answer !== "unknown");
    }
  });

  test("have no document that answers a question on its own", () => {
    const texts = readdirSync(join(FOLDER, "corpus")).map(readDocument);
    const compares = /^born-first-/;
    for (const question of questions.filter(({ id, answers }) => !answers?.includes("unknown") && !compares.test(id))) {
      const [first = ""] = callsOf(question, "visit").map((visit) => readDocument(fileOf(visit)));
      const title = (/^# (?:The )?(.+)$/m.exec(first)?.[1] ?? "").trim();
      const about = question.question.includes(title) ? title : first;
      const answers = question.answers ?? [question.answer].flat();
      const alone = texts.filter(
        (text) => text.includes(about) && answers.every((answer) => text.includes(`${answer}`)),
      );
      expect(alone, question.question).toEqual([]);
    }
  });
});

type Line = {
  id: string;
  prediction: string;
  messages: {
    role: string;
    content: string;
    tool_calls?: { function: { name: string; arguments: string } }[];
  }[];
  metadata: { tool_format?: string };
};

describe("rollout multi over examples/research", () => {
  async function play(work: WorkFolder, folder: string, agent: string, ...more: string[]): Promise<void> {
    const files = ["--input", resolve(FOLDER, "questions.jsonl"), "--corpus", resolve(FOLDER, "corpus")];
    const args = ["multi", ...files, "--agent-model", agent, "--output-dir", folder, "--eval", "--quiet", ...more];
    expect(await work.run(args)).toMatchObject({ code: 0, stderr: "" });
  }

  /** What was called and what came back, in order, and the answer. */
  const researchOf = ({ id, messages, prediction }: Line) => {
    const seen = messages.flatMap(({ role, content, tool_calls = [] }) => [
      ...tool_calls.map((call) => `${call.function.name} ${call.function.arguments}`),
      ...(role === "tool" ? [content] : []),
    ]);
    return { id, seen, prediction };
  };

  test("a flawless agent finds each document of a plan by the search before it, and answers everything", async () => {
    const work = workFolder();
    await play(work, "out", "scripted/agent", "--rollouts", "1");
    const lines = work.records<Line>("out/iter1.jsonl");
    expect(lines).toHaveLength(30);
    for (const { id, seen } of lines.map(researchOf)) {
      for (let index = 0; index < seen.length; index += 4) {
        const [search = "", found = "", visit = "", page = ""] = seen.slice(index, index + 4);
        expect(search, id).toMatch(/^search /);
        const wanted = JSON.parse(visit.replace(/^visit /, "")) as { document: string; page?: number };
        const documents = (JSON.parse(found) as { results: { id: string }[] }).results.map((result) => result.id);
        expect(documents, `${id}: ${search}`).toContain(wanted.document);
        expect(JSON.parse(page), id).toMatchObject({ id: wanted.document, page: wanted.page ?? 1 });
      }
    }
    const passed = work
      .records<{ check: string; pass: boolean }>("out/scores.jsonl")
      .filter((one) => one.check === "answer");
    expect(passed.map(({ pass }) => pass)).toEqual(Array(30).fill(true));
  });

  test("an agent of less skill answers about as many questions as its skill says, and misses the others", async () => {
    const work = workFolder();
    await play(work, "out", "scripted/agent?skill=0.7", "--rollouts", "4");
    const scores = work
      .records<{ check: string; pass: boolean }>("out/scores.jsonl")
      .filter((one) => one.check === "answer");
    expect(scores).toHaveLength(120);
    const solved = scores.filter(({ pass }) => pass).length / 120;
    expect(solved).toBeGreaterThan(0.55);
    expect(solved).toBeLessThan(0.85);
    const { pass_at_k } = JSON.parse(work.read("out/summary.json")).questions.questions.matched;
    for (const page of [join(FOLDER, "README.md"), "docs/research.md", "docs/zh/research.md"]) {
      const shown = [...readFileSync(page, "utf8").matchAll(/^pass@(\d) +([\d.]+) %/gm)];
      const made = Object.entries<number>(pass_at_k).map(([k, share]) => [k, (100 * share).toFixed(1)]);
      expect(
        shown.map(([, k, share]) => [k, share]),
        page,
      ).toEqual(made);
    }
  });

  test("calls as text make the same research as native ones", async () => {
    const work = workFolder();
    const formats = ["native", "hermes", "react"];
    const played: ReturnType<typeof researchOf>[][] = [];
    for (const format of formats) {
      await play(work, format, "scripted/agent?skill=0.7", "--rollouts", "1", "--tool-format", format);
      const lines = work.records<Line>(`${format}/iter1.jsonl`);
      expect(new Set(lines.map(({ metadata }) => metadata.tool_format ?? "native"))).toEqual(new Set([format]));
      played.push(lines.map(researchOf).sort((a, b) => (a.id < b.id ? -1 : 1)));
    }
    const [native, ...asText] = played;
    for (const research of asText) expect(research).toEqual(native);
  });
});
