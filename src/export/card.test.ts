import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { line, record, says, user, writeRun } from "../../test/support/export-records.ts";
import { CardFacts, type CardInput, cardText } from "./card.ts";
import { type ExportOptions, exportDataset } from "./export-dataset.ts";
import { parseSplit } from "./split.ts";

async function exportCard(lines: unknown[], options: Partial<ExportOptions> = {}): Promise<string> {
  const out = join(mkdtempSync(join(tmpdir(), "rollout-card-")), "data");
  await exportDataset({ inputs: [writeRun(lines)], format: "trl", out, ...options });
  return readFileSync(join(out, "README.md"), "utf8");
}

function headerOf(card: string): { [key: string]: unknown } {
  return parse(/^---\n([\s\S]*?)\n---\n/.exec(card)?.[1] as string);
}

function makeCard(changes: Partial<CardInput> & { rows?: number; domains?: string[] } = {}): string {
  const { rows = 1, domains = ["Desk"], ...rest } = changes;
  const facts = new CardFacts();
  facts.see({ ...record(), domains }, false);
  return cardText({
    plan: { folder: "data", stem: "", files: new Map([["train", "data/train.jsonl"]]) },
    counts: { in: rows, out: rows, used: rows, left_out: {}, notes: {}, splits: { train: rows } },
    facts: facts.report(),
    settings: {},
    license: "unknown",
    trained: { tokens: {}, tokenizer: "o200k_base", exact: true },
    advice: undefined,
    columns: undefined,
    ...rest,
  });
}

test("the header is what the Hub and load_dataset read", async () => {
  const chinese = [user("你好，我想续借上个月借的书。"), says("好的。")];
  const lines = [line("q1"), line("q2"), line("q3", { messages: chinese })];
  const { dataset_info, ...header } = headerOf(await exportCard(lines, { license: "Apache-2.0" }));
  expect(header).toEqual({
    pretty_name: "Multi-turn tool-calling dialogues: Desk",
    license: "apache-2.0",
    language: ["en", "zh"],
    task_categories: ["text-generation"],
    size_categories: ["n<1K"],
    tags: ["tool-calling", "function-calling", "multi-turn", "agent", "synthetic"],
    configs: [{ config_name: "default", data_files: [{ split: "train", path: "train.jsonl" }] }],
  });
  const { features } = dataset_info as { features: { name: string }[] };
  expect(features.slice(0, -1)).toEqual([
    { name: "id", dtype: "string" },
    { name: "query_id", dtype: "string" },
    ...["prompt", "completion", "tools"].map((name) => ({ name, dtype: "json" })),
  ]);
});

test("each side with rows is a split, under a name that the loader takes; a side without rows is none", async () => {
  const lines = Array.from({ length: 40 }, (_, index) => line(`q${index}`));
  const split = parseSplit("train=0.5,held-out=0.499,none=0.001");
  const card = await exportCard(lines, { split, container: "parquet" });
  expect(headerOf(card).configs).toMatchObject([
    {
      data_files: [
        { split: "train", path: "train.parquet" },
        { split: "held_out", path: "held-out.parquet" },
      ],
    },
  ]);
  expect(card).toContain("| none.parquet | 0 |");
});

test("types are not named where a transform adds columns, or where the file itself names them", async () => {
  const transform: ExportOptions["transform"] = (given) => ({ ...given, extra: { more: 1 } });
  expect(headerOf(await exportCard([line("q1")], { transform })).dataset_info).toBeUndefined();
  expect(headerOf(await exportCard([line("q1")], { container: "parquet" })).dataset_info).toBeUndefined();
});

test("the same folder can be exported to again, also with a side without rows", async () => {
  const out = mkdtempSync(join(tmpdir(), "rollout-card-"));
  const options = { inputs: [writeRun([line("q1")])], format: "trl", out, split: parseSplit("train=0.5,valid=0.5") };
  await exportDataset(options);
  expect((await exportDataset(options)).files).toContain(join(out, "README.md"));
});

test("a licence that the Hub does not list is another one with a name", () => {
  expect(headerOf(makeCard({ license: "Our own: ask us" }))).toMatchObject({
    license: "other",
    license_name: "Our own: ask us",
  });
});

test.each([
  [0, "n<1K"],
  [999, "n<1K"],
  [1000, "1K<n<10K"],
  [123_456, "100K<n<1M"],
  [2e9, "n>1B"],
])("%i rows are of the size %s", (rows, size) => {
  expect(headerOf(makeCard({ rows })).size_categories).toEqual([size]);
});

test("what is trained on is a table with its total", () => {
  const card = makeCard({
    trained: { tokens: { text: 120, calls: 30 }, tokenizer: "o200k_base", exact: true },
    rows: 7,
  });
  expect(card).toMatch(/## What is trained on\n\n7 rows\..*o200k_base/);
  expect(card).toContain("| text | 120 |\n| calls | 30 |\n| all | 150 |");
  expect(makeCard()).not.toContain("trained on");
});

test("odd names break neither the header nor the text", () => {
  const odd = 'a"b: {c}\n---\n# <img src=x>|';
  const card = makeCard({ domains: [odd] });
  expect(headerOf(card).pretty_name).toBe(`Multi-turn tool-calling dialogues: ${odd}`);
  expect(card.match(/^---$/gm)).toHaveLength(2);
  expect(card.split("\n---\n")[1]).not.toContain("<img");
});
