// examples/research: the files are what their script writes, the questions can be answered from the documents, and the
// example's command gives what its README says, in the built program.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeResearch } from "../scripts/make-research.ts";
import { listPlannedCalls, type PlanCall, type ReferencePlan } from "../src/core/index.ts";

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
