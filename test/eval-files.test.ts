// Records made elsewhere, scored: runs whose records are stripped down to the original tool's shape.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseJson, type Trajectory, type TrajectoryMessage } from "../src/core/index.ts";
import { bundledFolder, type DomainFiles, openDatasetFolder } from "../src/domains/index.ts";
import { type ScoreRecord, scoreFiles, scoreRun } from "../src/scoring/index.ts";
import { workFolder } from "./support/cli.ts";
import { readRecords, run, temporaryFolder } from "./support/play.ts";
import { havePython } from "./support/python/support.ts";
import { writePythonDataset } from "./support/python-dataset.ts";

const HEALTH = "StudentHealthServices";
const COMBINATION = ["StudentAcademicPortal", "StudentFinancialServices"];
const AGENT = "scripted/agent?skill=0.6";

type Message = Record<string, unknown>;
const asIs = (message: TrajectoryMessage): Message => ({ ...message });

/** The shape that the original tool writes. */
function strip(
  { id, success, messages, metadata }: Trajectory,
  change: (message: TrajectoryMessage) => Message = asIs,
) {
  const { total_turns, stop_reason, tool_call_count } = metadata;
  return { id, success, messages: messages.map(change), metadata: { total_turns, stop_reason, tool_call_count } };
}

/** With dotted tool names, arguments and results as values, and no content next to a call. */
function toDotted(message: TrajectoryMessage): Message {
  if (message.role === "tool") return { ...message, content: parseJson(message.content) ?? message.content };
  if (message.role !== "assistant" || !message.tool_calls) return { ...message };
  const calls = message.tool_calls.map(({ id, function: { name, arguments: args } }) => ({
    id,
    function: { name: name.replace("__", "."), arguments: parseJson(args) ?? args },
  }));
  return { role: "assistant", content: null, tool_calls: calls };
}

function writeLines(file: string, lines: object[]): string {
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

async function scoreRecords(path: string, domain: DomainFiles, checks?: string[]) {
  const notices: string[] = [];
  const onNotice = (message: string) => notices.push(message);
  const scored = await scoreFiles({ path, domain, settings: { checks }, env: process.env, onNotice });
  return { ...scored, notices, scores: readRecords<ScoreRecord>(scored.scoresFile) };
}

/** By rollout and check, in an order that does not depend on who was first. */
function verdictsOf(scores: ScoreRecord[]): string[] {
  return scores.map(({ id, check, pass, score }) => `${id} ${check} ${pass} ${score}`).sort();
}

async function verdictsOfRun(folder: string): Promise<string[]> {
  await scoreRun({ folder, env: process.env });
  return verdictsOf(readRecords<ScoreRecord>(join(folder, "scores.jsonl")));
}

describe("records of a bundled domain", () => {
  const domain = bundledFolder().find([HEALTH]);
  const play = (limit: number, rollouts: number) =>
    run({ config: { datasets: { [HEALTH]: { agent: { model: AGENT } } } }, patch: { limit, rollouts } });

  test("get the verdicts of the run that they came from, and its numbers; once scored, they are kept", async () => {
    const { result, records } = await play(10, 3);
    const file = writeLines(
      join(temporaryFolder(), "records.jsonl"),
      records.map((record) => strip(record)),
    );
    const { scores, counts, report, notices } = await scoreRecords(file, domain);
    const verdicts = verdictsOf(scores);
    expect(verdicts).toEqual(await verdictsOfRun(result.folder));
    expect(new Set(scores.filter(({ check }) => check === "state").map(({ pass }) => pass))).toEqual(
      new Set([true, false]),
    );
    expect({ counts, notices }).toMatchObject({ counts: { rollouts: 30, scored: 30, kept: 0 }, notices: [] });
    expect(report.datasets[HEALTH]).toMatchObject({ queries_with_k: { 3: 10 }, rollouts: 30 });
    const again = await scoreRecords(file, domain);
    expect(again.counts).toMatchObject({ rollouts: 30, scored: 0, kept: verdicts.length });
    expect(again.report).toEqual(report);
  });

  test("may be spread over files, with one id for all rollouts of a query", async () => {
    const { records } = await play(2, 3);
    const folder = temporaryFolder();
    const lines = records.map((record) => ({ ...strip(record), id: record.query_id }));
    writeLines(join(folder, "a.jsonl"), lines.slice(0, 4));
    writeLines(join(folder, "b.jsonl"), lines.slice(4));
    const { report, scoresFile } = await scoreRecords(folder, domain, ["state"]);
    expect(Object.values(report.datasets[HEALTH]?.queries ?? {}).map(({ rollouts }) => rollouts)).toEqual([3, 3]);
    expect(scoresFile).toBe(join(folder, "scores.jsonl"));
    await scoreRecords(join(folder, "b.jsonl"), domain, ["state"]);
    expect(readdirSync(folder).sort()).toEqual(["a.jsonl", "b.jsonl", "b.scores", "scores.jsonl"]);
    expect(readRecords(join(folder, "b.scores", "scores.jsonl"))).toHaveLength(2);
    expect(readRecords(scoresFile)).toHaveLength(6);
  });

  test("a query that the dataset does not have is not checkable, and the user is told", async () => {
    const { records } = await play(2, 1);
    const [first, second] = records.map((record) => strip(record)) as [object, object];
    const file = writeLines(join(temporaryFolder(), "r.jsonl"), [
      first,
      { ...second, id: "gone" },
      { ...second, id: "gone" },
    ]);
    const { notices, scores, report } = await scoreRecords(file, domain, ["actions"]);
    expect(notices).toEqual([`${HEALTH} has no query for 2 of 3 records, such as "gone": they are not checkable`]);
    expect(scores.filter(({ pass }) => pass === null).map(({ id }) => id)).toEqual(["gone", "gone#1"]);
    expect(report.outcomes["not scored"]).toBe(2);
  });

  test("a call that ends otherwise than it did leaves the state undecided and is named; with a hash, the hash decides", async () => {
    const { records } = await play(1, 1);
    const [record] = records as [Trajectory];
    const at = record.messages.findIndex((message) => message.role === "tool");
    const refuse = (message: TrajectoryMessage) =>
      message === record.messages[at] ? { ...message, content: '{"error":"Not today"}' } : { ...message };
    const hash = record.metadata.final_state_hash;
    const file = writeLines(join(temporaryFolder(), "r.jsonl"), [
      strip(record, refuse),
      { ...strip(record, refuse), metadata: record.metadata },
      { ...strip(record), metadata: { ...record.metadata, final_state_hash: `not ${hash}` } },
    ]);
    const { scores } = await scoreRecords(file, domain, ["state"]);
    const [call] = record.messages.flatMap((message) => (message.role === "assistant" && message.tool_calls) || []);
    expect(scores.sort((a, b) => a.rollout - b.rollout).map(({ pass, reason }) => [pass, reason])).toEqual([
      [null, expect.stringContaining(`call 1, ${call?.function.name}, led to an error and now leads to a result: {`)],
      [expect.any(Boolean), expect.any(String)],
      [null, expect.stringContaining("no longer lead to the recorded state")],
    ]);
  });
});

test("records of a combination, in the original's dotted names and with values for texts, get their run's verdicts", async () => {
  const { result, records } = await run({
    config: { datasets: { [COMBINATION.join("_")]: { tools: COMBINATION, agent: { model: AGENT } } } },
    patch: { limit: 5, rollouts: 2 },
  });
  const lines = records.map((record) => {
    const line = strip(record, toDotted);
    return { ...line, messages: [{ role: "system", content: "You serve students." }, ...line.messages] };
  });
  expect(JSON.stringify(lines)).toContain('"name":"sap.');
  const file = writeLines(join(temporaryFolder(), "records.jsonl"), lines);
  const { scores } = await scoreRecords(file, bundledFolder().find(COMBINATION.toReversed()));
  expect(verdictsOf(scores)).toEqual(await verdictsOfRun(result.folder));
});

describe.runIf(await havePython())("records of a dropped-in Python dataset", () => {
  test.each([
    ["single", ["SlotDesk"]],
    ["cross", ["DoorKeeperMCP", "SlotDesk"]],
  ] as const)(
    "%s: ids that were generated are translated, also where a later call uses them",
    async (kind, servers) => {
      const base = temporaryFolder();
      writePythonDataset(base);
      const domain = openDatasetFolder(base, kind).find([...servers]);
      const { result, records } = await run({
        config: {
          base_path: base,
          bundled: false,
          datasets: { [domain.name]: { tools: [...servers], agent: "scripted/agent", user: "scripted/user" } },
        },
        options: { env: process.env },
      });
      const folder = join(temporaryFolder(), "made-elsewhere");
      mkdirSync(folder);
      writeLines(
        join(folder, "records.jsonl"),
        records.map((record) => strip(record, toDotted)),
      );
      const { scores } = await scoreRecords(folder, domain);
      expect(verdictsOf(scores)).toEqual(await verdictsOfRun(result.folder));
      const states = scores.filter(({ check }) => check === "state");
      expect(states.map(({ pass, reason }) => [pass, reason])).toEqual(
        states.map(() => [true, "1 changed records as expected"]),
      );
    },
  );
});

describe("on the command line", () => {
  const message = { role: "user", content: "Hello" };
  const record = JSON.stringify({ id: "shs-001", success: true, messages: [message], metadata: {} });

  test("a file is scored with the report of a run, and says where its scores are", async () => {
    const work = workFolder();
    work.write("mine.jsonl", `${record}\n`);
    const args = ["eval", "mine.jsonl", "--bundled", "--domains", HEALTH];
    const { code, stdout, stderr } = await work.run(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("1 rollouts in mine.jsonl: 1 scored");
    expect(stdout).toContain("not checkable");
    expect(stdout).toContain("The scores are in mine.scores/scores.jsonl");
    expect(work.names()).toEqual(["mine.jsonl", "mine.scores"]);
    expect((await work.run(args)).stdout).toContain("nothing new to score");
  });

  test("wrong usage ends with 2 and says what to add, and nothing is written", async () => {
    const work = workFolder();
    work.write("mine.jsonl", `${record}\n`);
    work.write("broken/records.jsonl", `${record}\n{"id": 1}\n`);
    work.write("empty/notes.txt", "");
    work.write("run/manifest.json", '{"format_version": 2, "datasets": {}}');
    const bundled = ["--bundled", "--domains", HEALTH];
    const cases: [string[], string][] = [
      [["mine.jsonl"], "add --base-path DATASET (or --bundled) and --domains NAME"],
      [["broken", "--bundled"], "broken has no manifest.json: to score records made elsewhere, add --domains NAME"],
      [["broken", "--domains", HEALTH], "add --base-path DATASET (or --bundled)"],
      [["run", "--domains", HEALTH], "run is a run, and its manifest names its domains"],
      [["nowhere.jsonl", ...bundled], "There is no folder nowhere.jsonl"],
      [["empty", ...bundled], "empty holds no records (*.jsonl)"],
      [["broken", ...bundled], 'broken/records.jsonl:2: a record needs "messages"'],
      [["mine.jsonl", "--bundled", "--domains", "StudentHealth"], 'There is no domain "StudentHealth"'],
      [["mine.jsonl", "--base-path", "gone", "--domains", HEALTH], "There is no folder gone"],
    ];
    await Promise.all(
      cases.map(async ([args, message]) => {
        const { code, stderr } = await work.run(["eval", ...args]);
        expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)]);
      }),
    );
    expect(work.names()).toEqual(["broken", "empty", "mine.jsonl", "run"]);
    expect(readdirSync(join(work.path, "broken"))).toEqual(["records.jsonl"]);
  });
});
