import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { describe, expect, test } from "vitest";
import { calls, DIALOGUE, line, result, says, TOOLS, user, writeRun } from "../../test/support/export-records.ts";
import { UsageError } from "../core/index.ts";
import { type ExportOptions, exportDataset } from "./export-dataset.ts";
import { labelRecords } from "./label.ts";
import { parseSplit, sideOf } from "./split.ts";

function folder(): string {
  return mkdtempSync(join(tmpdir(), "rollout-out-"));
}

async function run(inputs: string[], options: Partial<ExportOptions> = {}) {
  const out = options.out ?? join(folder(), "rows.jsonl");
  const { counts, files } = await exportDataset({ inputs, format: "jsonl", ...options, out });
  const rows = files[0]?.endsWith(".jsonl") ? read(files[0]) : [];
  return { counts, files, rows, ids: rows.map((row) => row.id) };
}

function read(file: string) {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((text) => JSON.parse(text));
}

const score = (id: string, value: number, check = "state") => {
  const [query_id, rollout = "0"] = id.split("#");
  return {
    id,
    dataset: "Desk",
    query_id,
    rollout: Number(rollout),
    check,
    version: 1,
    pass: value === 1,
    score: value,
  };
};

describe("what goes out", () => {
  test("a row has the system prompt that was really used and the tools really called", async () => {
    const { rows, counts } = await run([writeRun([line("q1")])], { format: "openai" });
    expect(rows[0].messages[0]).toEqual({ role: "system", content: "You work at a library desk." });
    expect(rows[0].tools).toEqual(TOOLS);
    expect(counts).toMatchObject({ in: 1, out: 1, used: 1, left_out: {}, splits: { train: 1 } });
  });

  test("records of scripted models are left out and counted, unless asked for", async () => {
    const input = writeRun([line("q1"), line("q2", { metadata: { scripted: true } })]);
    const { ids, counts } = await run([input]);
    expect(ids).toEqual(["q1"]);
    expect(counts.left_out).toEqual({ "made by scripted models (--include-scripted takes them in)": 1 });
    expect((await run([input], { includeScripted: true })).ids).toEqual(["q1", "q2"]);
  });

  test("several inputs merge, and one file named twice is read once", async () => {
    const [a, b] = [writeRun([line("q1")]), writeRun([line("q2")])];
    expect((await run([a, b, join(a, "trajectories", "Desk.jsonl")])).ids).toEqual(["q1", "q2"]);
  });

  test("what else lies in a run folder, an earlier export say, is not read as records", async () => {
    const datasets = { Desk: { output: "gone/Desk.jsonl" }, questions: { output: "gone/iter{round}.jsonl" } };
    const input = writeRun([line("q1")], {
      "manifest.json": JSON.stringify({ format_version: 2, datasets }),
      "train.jsonl": [line("q9")],
      "iter1.jsonl": [line("q2")],
    });
    expect((await run([input])).ids).toEqual(["q1", "q2"]);
  });

  test("records without an id get one from their words, and tools given as text are understood", async () => {
    const file = join(folder(), "others.jsonl");
    const tools = JSON.stringify([{ type: "function", function: { name: "f", parameters: '{"type":"object"}' } }]);
    const given = (words: string) => JSON.stringify({ messages: [user("Hi"), says(words)], tools });
    writeFileSync(file, `${given("a")}\n${given("b")}\n`);
    const { rows } = await run([file]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
    expect(rows[0].query_id).toBe(rows[1].query_id);
    expect(rows[0].tools[0].function.parameters).toEqual({ type: "object" });
  });

  test("a record that nobody can label goes out with a note", async () => {
    const input = writeRun([line("q1", { metadata: { system_hash: "x", tools_hash: "x" } })]);
    const { counts, rows } = await run([input], { format: "openai" });
    expect(Object.keys(counts.notes)).toContain("no tools are known (--base-path names the dataset folder)");
    expect(rows[0].tools).toBeUndefined();
  });

  test("a torn last line of a run is counted, and so are broken lines elsewhere, with the place of the first", async () => {
    const text = `${JSON.stringify(line("q1"))}\n{"id": "q2", "mess`;
    const { counts } = await run([writeRun([], { "trajectories/Desk.jsonl": text })]);
    expect(counts).toMatchObject({ in: 2, used: 1, left_out: { "a last line that is torn": 1 } });
    const broken = await run([writeRun([], { "trajectories/Desk.jsonl": `{"id": \n\u0000\n${text}` })]);
    expect(broken.counts).toMatchObject({
      in: 4,
      used: 1,
      left_out: { "is not valid JSON (first: Desk.jsonl:1)": 2, "a last line that is torn": 1 },
    });
  });

  test("files in which no line is JSON stop the export with the place of the first", async () => {
    const file = join(writeRun([]), "README.jsonl");
    writeFileSync(file, "# Not records\n\nbut words\n");
    await expect(run([file])).rejects.toThrow(/README\.jsonl:1: is not valid JSON, nor is any other line/);
  });
});

describe("choosing", () => {
  const lines = [
    line("q1"),
    line("q1#1", { success: false, metadata: { stop_reason: "max_steps" } }),
    line("q2", { dataset: "Other", metadata: { faults: [{ type: "recovered" }] } }),
    line("q3", { messages: [user("Hello"), says("x ".repeat(500))] }),
  ];
  const scores = [
    score("q1", 1),
    score("q1#1", 0.5),
    score("q1", 0.5, "actions"),
    { ...score("q2", 0.9), dataset: "Other" },
  ];
  const input = () => writeRun(lines, { "scores.jsonl": scores });

  test.each<[string, Partial<ExportOptions>, string[], string]>([
    ["a regular end", { ended: true }, ["q1", "q2", "q3"], "no regular end"],
    ["a regular end, by its old name", { successOnly: true }, ["q1", "q2", "q3"], "no regular end"],
    ["stop reason", { stopReasons: ["max_steps"] }, ["q1#1"], "another stop reason"],
    ["dataset", { datasets: ["Other"] }, ["q2"], "of another dataset"],
    ["tag", { tags: ["recovered"] }, ["q2"], "not tagged as asked"],
    ["absence of a tag", { tags: ["!recovered"] }, ["q1", "q1#1", "q3"], "not tagged as asked"],
    ["score, the product of the checks", { minScore: 0.6 }, ["q2"], "score below 0.6"],
    ["tokens", { maxTokens: 300 }, ["q1", "q1#1", "q2"], "more than 300 tokens"],
    ["one rollout a query", { perQuery: 1 }, ["q1", "q2", "q3"], "more than 1 rollouts of its query"],
    ["the best of a query", { bestOf: true }, ["q1", "q2"], "not among the best of its query"],
    ["no repeats", { dedupe: true }, ["q1", "q3"], "a duplicate of an earlier one (user side and calls)"],
  ])("by %s", async (_name, options, ids, reason) => {
    const made = await run([input()], { all: true, ...options });
    expect(made.ids).toEqual(ids);
    expect(Object.keys(made.counts.left_out)).toContain(reason);
    const left = Object.values(made.counts.left_out).reduce((a, b) => a + b, 0);
    expect(made.counts.in).toBe(made.counts.out + left);
  });

  test("by default: a regular end, no reply cut off or empty, and no failed check; each with its reason", async () => {
    const cut = [
      line("q4", { messages: [user("Hello"), says("")] }),
      line("q5", { metadata: { stop_reason: "truncated_reply" } }),
      line("q6", { success: undefined }),
    ];
    const many = writeRun([...lines, ...cut], { "scores.jsonl": scores });
    const { ids, counts } = await run([many]);
    expect(ids).toEqual(["q3", "q6"]);
    expect(counts.left_out).toEqual({
      "failed its checks (--all takes it in)": 2,
      "a reply that was cut off or empty": 2,
      "no regular end": 1,
    });
    expect((await run([many], { all: true })).ids).toHaveLength(7);
    expect((await run([many], { ended: true })).ids).toEqual(["q1", "q2", "q3", "q6"]);
    expect((await run([many], { stopReasons: ["truncated_reply"] })).ids).toEqual(["q5"]);
  });

  test("half surrogate pairs are repaired wherever they stand, and counted", async () => {
    const odd = line("q1", {
      messages: [user("a \ud83d b"), calls(["a", "find_book", '{"id": "\\ud800"}']), result("a", "{}"), says("ok")],
      metadata: { faults: [{ type: "user_empty", content: "x\udc00" }] },
    });
    for (const format of ["jsonl", "openai", "trl"]) {
      const { counts, files } = await run([writeRun([odd])], { format });
      expect(readFileSync(files[0] as string, "utf8"), format).not.toMatch(/\\u[dD][89a-fA-F]/);
      expect(counts.notes["half surrogate pairs became U+FFFD"], format).toBeGreaterThan(0);
    }
  });

  test("without rows nothing is written", async () => {
    const out = join(folder(), "data");
    const { files, counts } = await run([writeRun([line("q1", { success: false })])], { out });
    expect(files).toEqual([]);
    expect(counts).toMatchObject({ in: 1, out: 0 });
    expect(existsSync(join(out, "train.jsonl"))).toBe(false);
    expect(existsSync(out)).toBe(false);
  });

  test("a stop reason, tokenizer or format that does not exist is named with the nearest one", async () => {
    await expect(run([input()], { stopReasons: ["user_stpo"] })).rejects.toThrow(/did you mean "user_stop"/);
    await expect(run([input()], { maxTokens: 5, tokenizer: "o200k" })).rejects.toThrow(/o200k_base/);
    await expect(run([input()], { format: "opanai" })).rejects.toThrow(/did you mean "openai"/);
  });
});

describe("choosing by score", () => {
  const lines = ["q1", "q2", "q3", "q4", "q5"].map((id) => line(id));
  const undecided = { ...score("q5", 0), pass: null, score: null };
  const scores = [score("q1", 1), score("q2", 0.5), { ...score("q3", 0.8), pass: true }, undecided];
  const input = () => writeRun(lines, { "scores.jsonl": scores });

  test("solved are those whose checks pass; a regular end is not enough", async () => {
    const { ids, counts } = await run([input()], { solved: true });
    expect(ids).toEqual(["q1", "q3"]);
    expect(counts.left_out).toEqual({ unscored: 2, "not solved": 1 });
    expect((await run([input()], { ended: true })).ids).toHaveLength(5);
  });

  test.each([0, 0.5, 0.9])("an unscored record has not even a score of %d", async (minScore) => {
    const { ids, counts } = await run([input()], { minScore });
    expect(ids).toEqual(["q1", "q2", "q3"].filter((_, index) => [1, 0.5, 0.8][index]! >= minScore));
    expect(counts.left_out.unscored).toBe(2);
  });

  test.each([null, Number.NaN, "1"])("a transform that leaves %s as the score scores nothing", async (given) => {
    const transform: ExportOptions["transform"] = (record) => ({ ...record, score: given as never });
    for (const choice of [{ minScore: 0 }, { solved: true }])
      expect((await run([input()], { ...choice, transform })).counts.left_out).toEqual({ unscored: 5 });
  });

  test.each<[string, Partial<ExportOptions>]>([
    ["--solved", { solved: true }],
    ["--min-score", { minScore: 0 }],
    ["--best-of", { bestOf: true }],
    ["--pairs", { pairs: "preference" }],
    ["--pairs", { pairs: "kto" }],
  ])("%s refuses a run that nobody scored, names the command, and writes nothing", async (flag, options) => {
    const [unscored, out] = [writeRun(lines), folder()];
    for (const inputs of [[unscored], [input(), unscored]]) {
      await expect(run(inputs, { ...options, out: join(out, "rows.jsonl") })).rejects.toThrow(
        `${unscored} has no scores, which ${flag} needs. Run: rollout eval ${unscored}\nNothing was written.`,
      );
    }
    expect(readdirSync(out)).toEqual([]);
  });

  test("a run whose checks could not decide is no run that nobody scored, nor is an empty one", async () => {
    const evaluated = writeRun(lines, { "scores.jsonl": [undecided] });
    expect((await run([evaluated, writeRun([])], { solved: true })).counts.left_out).toEqual({ unscored: 5 });
  });

  test("labelled records keep what they scored; of a score alone, 1 is solved", async () => {
    const file = join(folder(), "labelled.jsonl");
    await labelRecords({ input: input(), out: file });
    expect((await run([file], { solved: true })).ids).toEqual(["q1", "q3"]);
    const plain = join(folder(), "plain.jsonl");
    const scored = [line("a", { score: 1 }), line("b", { score: 0.9 }), line("c")];
    writeFileSync(plain, scored.map((given) => `${JSON.stringify(given)}\n`).join(""));
    const { ids, counts } = await run([plain], { solved: true });
    expect(ids).toEqual(["a"]);
    expect(counts.left_out).toEqual({ "not solved": 1, unscored: 1 });
    writeFileSync(plain, `${JSON.stringify(line("c"))}\n`);
    await expect(run([plain], { solved: true })).rejects.toThrow(/plain\.jsonl has no scores.*\(rollout eval DIR\)/);
  });

  test("the old name of a setting stands nowhere in what is written", async () => {
    const { files } = await run([input()], { successOnly: true });
    const written = readFileSync(files.find((file) => file.endsWith("export.json")) ?? "", "utf8");
    expect(JSON.parse(written).settings).toMatchObject({ ended: true });
    expect(written).not.toContain("successOnly");
  });
});

describe("split and order", () => {
  const many = Array.from({ length: 200 }, (_, n) => [line(`q${n}`), line(`q${n}#1`)]).flat();

  test("a query's rollouts stand on one side, and later additions move nobody", async () => {
    const split = parseSplit("train=0.8,valid=0.2");
    const out = folder();
    const { counts } = await run([writeRun(many.slice(0, 200))], { split, out });
    const sides = (name: string) => new Set(read(join(out, `${name}.jsonl`)).map((row) => row.query_id));
    const [train, valid] = [sides("train"), sides("valid")];
    expect([...train].filter((id) => valid.has(id))).toEqual([]);
    expect(valid.size).toBeGreaterThan(5);
    expect(counts.splits.train! + counts.splits.valid!).toBe(200);
    await run([writeRun(many)], { split, out });
    for (const id of train) expect(sides("train").has(id)).toBe(true);
    for (const id of valid) expect(sides("valid").has(id)).toBe(true);
  });

  test("shares follow the numbers, and wrong ones are refused", () => {
    const split = parseSplit("train=0.9,valid=0.1");
    const valid = Array.from({ length: 5000 }, (_, n) => sideOf(split, `query-${n}`)).filter(
      (side) => side === "valid",
    );
    expect(valid.length).toBeGreaterThan(400);
    expect(valid.length).toBeLessThan(600);
    for (const text of ["train", "train=0.9", "a=0.5,a=0.5", "a=0,b=1", "../x=1"])
      expect(() => parseSplit(text)).toThrow(UsageError);
  });

  test("a shuffle follows from its seed alone, whatever the order of the input", async () => {
    const [a, b] = [writeRun(many.slice(0, 40)), writeRun(many.slice(0, 40).reverse())];
    const first = await run([a], { shuffle: 1 });
    expect((await run([b], { shuffle: 1 })).ids).toEqual(first.ids);
    expect((await run([a], { shuffle: 2 })).ids).not.toEqual(first.ids);
    expect(first.ids.toSorted()).toEqual(
      many
        .slice(0, 40)
        .map(({ id }) => id)
        .toSorted(),
    );
  });
});

describe("pairs", () => {
  const good = [
    user("Renew 7."),
    calls(["x1", "renew_loan", '{"id":7}']),
    result("x1", "ok"),
    says("Renewed."),
    user("Thanks!"),
  ];
  const bad = [
    user("Renew 7."),
    calls(["y1", "renew_loan", '{"id":7}']),
    result("y1", "ok"),
    says("I cannot."),
    user("Oh."),
  ];
  const lines = [
    line("q1", { messages: bad }),
    line("q1#1", { messages: good }),
    line("q2"),
    line("q3", { messages: [user("Hi"), says("a")] }),
    line("q3#1", { messages: [user("Ho"), says("b")] }),
  ];
  const scores = [score("q1", 0), score("q1#1", 1), score("q2", 1), score("q3", 0), score("q3#1", 1)];
  const input = () => writeRun(lines, { "scores.jsonl": scores });

  test("the better and the worse rollout are cut where the agent first differs, whatever the ids of their calls", async () => {
    const { rows, counts } = await run([input()], { format: "trl", pairs: "preference" });
    expect(rows).toHaveLength(1);
    expect(rows[0].prompt.map(({ role }: { role: string }) => role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(rows[0].chosen).toEqual([{ role: "assistant", content: "Renewed." }]);
    expect(rows[0].rejected).toEqual([{ role: "assistant", content: "I cannot." }]);
    expect(counts).toMatchObject({ in: 5, used: 2, out: 1 });
    expect(counts.left_out).toEqual({
      "no rollout of its query to pair it with": 2,
      "the pair first differs in what the user said": 1,
    });
  });

  test("a rollout that the format cannot express takes no other's partner", async () => {
    const malformed = [user("Renew 7."), calls(["z1", "renew_loan", "{"]), result("z1", "no"), says("Hm.")];
    const more = writeRun([...lines, line("q1#2", { messages: malformed })], {
      "scores.jsonl": [...scores, score("q1#2", 0)],
    });
    const { counts, rows } = await run([more], { format: "trl", pairs: "preference" });
    expect(rows).toHaveLength(1);
    expect(counts.left_out).toMatchObject({ "no rollout of its query to pair it with": 3 });
  });

  test.each(["trl", "ms-swift", "llamafactory", "openai", "jsonl"])("%s has its own shape for them", async (format) => {
    const { rows } = await run([input()], { format, pairs: "preference" });
    const shapes: { [format: string]: string[] } = {
      trl: ["prompt", "chosen", "rejected", "tools", "chat_template_kwargs"],
      "ms-swift": ["messages", "rejected_messages", "chat_template_kwargs", "tools"],
      llamafactory: ["conversations", "chosen", "rejected", "system", "tools"],
      openai: ["input", "preferred_output", "non_preferred_output"],
      jsonl: ["dataset", "prompt", "chosen", "rejected", "tools"],
    };
    expect(Object.keys(rows[0])).toEqual(["id", "query_id", ...(shapes[format] as string[])]);
    expect(rows[0]).toMatchObject({ id: "q1#1>q1", query_id: "q1" });
    expect(JSON.stringify(rows[0])).toContain("I cannot.");
  });

  test("kto gives each reply its rollout's verdict, and nothing but the reply is learnt", async () => {
    const { rows, counts } = await run([input()], { format: "trl", pairs: "kto" });
    expect(rows.map(({ id, label }) => [id, label])).toEqual([
      ...["q1@1.1", "q1@1.2"].map((id) => [id, false]),
      ...["q1#1@1.1", "q1#1@1.2", "q2@1.1", "q2@1.2", "q2@2.1", "q2@2.2"].map((id) => [id, true]),
      ["q3@1.1", false],
      ["q3#1@1.1", true],
    ]);
    expect(counts).toMatchObject({ in: 5, used: 5, out: 10 });
    for (const { completion } of rows)
      expect(completion.map(({ role }: { role: string }) => role)).toEqual(["assistant"]);
    expect(rows[0].prompt.at(-1)).toEqual({ role: "user", content: "Renew 7." });
    expect(rows[1].prompt.at(-1).role).toBe("tool");
    expect((await run([input()], { format: "llamafactory", pairs: "kto" })).rows[0].kto_tag).toBe(false);
  });

  test("pairs fit into Parquet, scores being floats", async () => {
    const out = join(folder(), "pairs.parquet");
    await run([input()], { format: "parquet", pairs: "preference", out });
    const [row] = await parquetReadObjects({ file: await asyncBufferFromFile(out) });
    expect(row).toMatchObject({ id: "q1#1>q1", chosen: { score: 1 }, rejected: { score: 0 } });
  });

  test("a format that knows no pairs names those that do", async () => {
    await expect(run([input()], { format: "deepseek", pairs: "kto" })).rejects.toThrow(/these support it: trl/);
  });

  test("unscored rollouts are in no pair and have no label", async () => {
    const some = writeRun(lines, { "scores.jsonl": scores.slice(0, 3) });
    for (const pairs of ["preference", "kto"] as const)
      expect((await run([some], { format: "trl", pairs })).counts.left_out).toMatchObject({ unscored: 2 });
  });
});

describe("reasoning and loss", () => {
  const thoughts = (row: { messages: { reasoning_content?: string; content: string }[] }) =>
    row.messages.flatMap(
      (message) => message.reasoning_content ?? (message.content.startsWith("<think>") ? "inline" : []),
    );

  test.each<[ExportOptions["reasoning"], string[]]>([
    ["keep", ["Both at once.", "That went well.", "I must say so."]],
    ["drop", []],
    ["last", ["I must say so."]],
    ["inline", ["inline", "inline", "inline"]],
  ])("%s", async (reasoning, expected) => {
    const { rows } = await run([writeRun([line("q1")])], { format: "axolotl", reasoning, unroll: "dialogue" });
    expect(thoughts(rows[0])).toEqual(expected);
  });

  const broken = [
    user("Hi"),
    says("Yes?"),
    user("Renew 7"),
    calls(["a", "renew_loan", '{"id": ']),
    result("a", '{"error":"not valid JSON"}'),
    calls(["b", "renew_loan", '{"id":7}']),
    result("b", "{}"),
    says("Done."),
  ];

  test.each<[ExportOptions["loss"], number[]]>([
    ["agent", [1, 1, 1, 1]],
    ["well-formed", [1, 0, 1, 1]],
    ["until-error", [1]],
  ])("loss %s", async (loss, expected) => {
    const { rows } = await run([writeRun([line("q1", { messages: broken })])], { format: "openai", loss });
    expect(rows[0].messages.flatMap(({ weight }: { weight?: number }) => weight ?? [])).toEqual(expected);
  });

  test("a row in which nothing is left to learn is left out", async () => {
    const { counts } = await run([writeRun([line("q1", { messages: broken.slice(2) })])], {
      format: "openai",
      loss: "until-error",
    });
    expect(counts.left_out).toEqual({ "no message of the agent is left to learn": 1 });
  });

  test("axolotl and ms-swift flag messages in their own words; others refuse", async () => {
    const input = writeRun([line("q1")]);
    const axolotl = await run([input], { format: "axolotl", loss: "until-error", unroll: "turn" });
    const flags = (row: { messages: { train?: boolean }[] }) => row.messages.flatMap(({ train }) => train ?? []);
    expect(axolotl.rows.map(flags)).toEqual([[true, true]]);
    const turns = await run([input], { format: "axolotl", unroll: "turn" });
    expect(turns.rows.map(flags)).toEqual([
      [true, true],
      [false, false, true, true],
    ]);
    const swift = await run([input], { format: "ms-swift", loss: "agent" });
    expect(
      swift.rows[0].messages
        .filter(({ role }: { role: string }) => role === "tool_call")
        .every(({ loss }: { loss: boolean }) => loss),
    ).toBe(true);
    await expect(run([input], { format: "trl", loss: "agent" })).rejects.toThrow(
      /these support it: openai, axolotl, ms-swift/,
    );
  });
});

describe("safety", () => {
  const KEY = "sk-proj-abcdefghijklmnop1234567890";

  test("a text that looks like a key stops the export, shows its place and not itself, and leaves nothing behind", async () => {
    const out = folder();
    const input = writeRun([line("q1"), line("q2", { messages: [user("Hi"), says(`Use ${KEY}`)] })]);
    const failure = await run([input], { out: join(out, "rows.jsonl") }).catch((error: Error) => error);
    expect(String(failure)).toMatch(/Desk\.jsonl:2: a text looks like an API key/);
    expect(String(failure)).not.toContain("abcdefghij");
    expect(readdirSync(out)).toEqual([]);
    expect((await run([input], { allowSecrets: true })).counts.out).toBe(2);
    expect(
      (await run([input], { transform: (record) => (record.id === "q2" ? null : record) })).counts.left_out,
    ).toEqual({
      "left out by the transform": 1,
    });
  });

  test("a key of this environment stops it whatever it looks like", async () => {
    const input = writeRun([line("q1", { messages: [user("Hi"), says("my password is tulip-bulb")] })]);
    await expect(run([input], { secrets: ["tulip-bulb"] })).rejects.toThrow(/a key of this environment/);
  });

  test("an earlier export stays whole when a later one fails", async () => {
    const out = join(folder(), "rows.jsonl");
    await run([writeRun([line("q1")])], { out });
    const before = readFileSync(out, "utf8");
    await expect(run([writeRun([], { "trajectories/Desk.jsonl": "{\n" })], { out })).rejects.toThrow(UsageError);
    expect(readFileSync(out, "utf8")).toBe(before);
  });

  test("the output may not replace what is read", async () => {
    const input = writeRun([line("q1")]);
    await expect(run([input], { out: join(input, "trajectories", "Desk.jsonl") })).rejects.toThrow(/would replace/);
  });
});

describe("files next to the data", () => {
  test("a card with counts, models, domains, settings and licence; the counts as JSON", async () => {
    const out = folder();
    await run([writeRun([line("q1")])], { out, format: "trl", license: "cc-by-4.0" });
    const card = readFileSync(join(out, "README.md"), "utf8");
    for (const text of [
      "cc-by-4.0",
      "lab/agent",
      "Desk",
      "split: train",
      '"train.jsonl"',
      "1 records in, 1 used for 4 rows",
    ])
      expect(card).toContain(text);
    expect(JSON.parse(readFileSync(join(out, "export.json"), "utf8"))).toMatchObject({
      in: 1,
      out: 4,
      settings: { format: "trl" },
    });
  });

  test("somebody else's README.md is left alone", async () => {
    const out = folder();
    writeFileSync(join(out, "README.md"), "# My project\n");
    await run([writeRun([line("q1")])], { out: join(out, "rows.jsonl") });
    expect(readFileSync(join(out, "README.md"), "utf8")).toBe("# My project\n");
    expect(existsSync(join(out, "rows.README.md"))).toBe(true);
  });

  test("dataset_info.json lists our files among others", async () => {
    const out = folder();
    writeFileSync(join(out, "dataset_info.json"), '{"alpaca": {"file_name": "a.json"}}');
    await run([writeRun([line("q1")])], { out, format: "llamafactory" });
    expect(JSON.parse(readFileSync(join(out, "dataset_info.json"), "utf8"))).toMatchObject({
      alpaca: { file_name: "a.json" },
      rollout_train: { file_name: "train.jsonl", formatting: "sharegpt", columns: { messages: "conversations" } },
    });
  });

  test("any format can be put into Parquet, a split makes several files, and a file name must fit", async () => {
    const out = folder();
    const lines = Array.from({ length: 30 }, (_, n) => line(`q${n}`));
    const { counts } = await run([writeRun(lines)], {
      out,
      format: "openai",
      container: "parquet",
      split: parseSplit("a=0.5,b=0.5"),
    });
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(out, "a.parquet")) });
    expect(rows).toHaveLength(counts.splits.a!);
    await expect(run([writeRun(lines)], { out: join(out, "x.jsonl"), format: "verl-sft" })).rejects.toThrow(
      /\.parquet files/,
    );
    await expect(
      run([writeRun(lines)], { out: join(out, "x.jsonl"), split: parseSplit("a=0.5,b=0.5") }),
    ).rejects.toThrow(/name a folder/);
  });
});

describe("transforms", () => {
  test("fields that a transform adds stand in every format's rows, and lines of another shape become records", async () => {
    const input = writeRun([line("q1"), { id: "x", question: "Why?", answer: "Because." }]);
    const { rows, counts } = await run([input], {
      format: "openai",
      transform: (record, { raw }) => {
        record.extra.source = "desk";
        const { question, answer } = raw as { question?: string; answer?: string };
        return question ? { ...record, messages: [user(question), says(answer ?? "")] } : record;
      },
    });
    expect(rows.map(({ source }) => source)).toEqual(["desk", "desk"]);
    expect(rows[1].messages).toEqual([user("Why?"), says("Because.")]);
    expect(counts).toMatchObject({ in: 2, out: 2 });
  });

  test("a failing transform names the record's place", async () => {
    const file = join(folder(), "bad.mjs");
    writeFileSync(file, "export default () => { throw new Error('no'); };");
    await expect(run([writeRun([line("q1")])], { transform: file })).rejects.toThrow(
      /Desk\.jsonl:1: the transform .* failed: no/,
    );
  });
});

test("rows that would lose words are left out with --strict, and noted without", async () => {
  const beside = [
    user("Hi"),
    { ...calls(["a", "find_book", "{}"]), content: "One moment." },
    result("a", "1"),
    says("Done."),
  ];
  const input = writeRun([line("q1"), line("q2", { messages: beside })]);
  const note = "text next to a call dropped: the loader has no place for it";
  expect((await run([input], { format: "llamafactory" })).counts.notes).toMatchObject({ [note]: 1 });
  expect((await run([input], { format: "llamafactory", strict: true })).counts.left_out).toEqual({ [note]: 1 });
});

test("verl-rl gives one row a query", async () => {
  const { counts } = await run([writeRun([line("q1"), line("q1#1"), line("q2")])], {
    format: "verl-rl",
    out: join(folder(), "r.parquet"),
  });
  expect(counts).toMatchObject({ out: 2, left_out: { "another rollout of its query went out": 1 } });
});

test("canonical rows are the records, labelled, and go in again", async () => {
  const out = join(folder(), "rows.jsonl");
  const { rows } = await run([writeRun([line("q1", { question: "kept" })])], { out });
  expect(rows[0]).toMatchObject({ ...line("q1"), question: "kept", messages: [{ role: "system" }, ...DIALOGUE] });
  const again = await run([out]);
  expect(again.rows).toEqual(rows);
});
