// The dataset card: what a reader must know before using the data, generated from what the export itself saw.
import { basename } from "node:path";
import { PROGRAM_VERSION, sum } from "../core/index.ts";
import type { CountsReport } from "./counts.ts";
import type { ColumnType } from "./formats/format.ts";
import { CARD_MARK, type OutputFiles } from "./output.ts";
import type { ExportRecord } from "./record.ts";
import { detectRecordLanguage } from "./stats/language.ts";
import type { TrainedReport } from "./trained-tokens.ts";

export class CardFacts {
  readonly #tallies = {
    agents: new Map<string, number>(),
    users: new Map<string, number>(),
    datasets: new Map<string, number>(),
    languages: new Map<string, number>(),
  };
  readonly #domains = new Set<string>();
  scripted = 0;

  see(record: ExportRecord, isScripted: boolean): void {
    const { dataset, domains, metadata } = record;
    tally(this.#tallies.agents, metadata.models?.agent ?? "unknown");
    tally(this.#tallies.users, metadata.models?.user ?? "unknown");
    tally(this.#tallies.datasets, dataset);
    tally(this.#tallies.languages, detectRecordLanguage(record));
    for (const domain of domains) this.#domains.add(domain);
    if (isScripted) this.scripted++;
  }

  report() {
    const { agents, users, datasets, languages } = this.#tallies;
    return {
      agent_models: Object.fromEntries(agents),
      user_models: Object.fromEntries(users),
      datasets: Object.fromEntries(datasets),
      languages: Object.fromEntries([...languages].sort(([, a], [, b]) => b - a)),
      domains: [...this.#domains].sort(),
      scripted: this.scripted,
    };
  }
}

export type CardInput = {
  plan: OutputFiles;
  counts: CountsReport;
  facts: ReturnType<CardFacts["report"]>;
  settings: { [name: string]: unknown };
  license: string;
  trained: TrainedReport;
  advice: string | undefined;
  /** what the loader cannot see in the files themselves */
  columns: { [name: string]: ColumnType } | undefined;
};

export function cardText(input: CardInput): string {
  const { plan, counts, facts, settings, license, trained, advice, columns } = input;
  const files = [...plan.files].map(([side, file]) => ({ side, name: basename(file), rows: counts.splits[side] ?? 0 }));
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const title = `Multi-turn tool-calling dialogues${facts.domains.length > 0 ? `: ${facts.domains.slice(0, 5).join(", ")}` : ""}`;
  return [
    "---",
    `pretty_name: ${JSON.stringify(title)}`,
    ...licenseLines(license),
    ...yamlList("language", languagesOf(facts.languages)),
    ...yamlList("task_categories", ["text-generation"]),
    ...yamlList("size_categories", [sizeCategory(counts.out)]),
    ...yamlList("tags", ["tool-calling", "function-calling", "multi-turn", "agent", "synthetic"]),
    ...configLines(files),
    ...(columns ? ["dataset_info:", "  features:", ...featureLines(columns, "    ")] : []),
    "---",
    CARD_MARK,
    "",
    `# ${cell(title)}`,
    "",
    "Dialogues between a user and an agent that has tools: the user's messages, the agent's replies and calls, and what the",
    "tools returned. Which models played which part is below, as far as the records say it.",
    "",
    `Made with rollout ${PROGRAM_VERSION}. Licence: ${cell(license)}.`,
    ...(facts.scripted > 0
      ? ["", `**${facts.scripted} of the records were made by scripted models: they are no model's output.**`]
      : []),
    "",
    "## Counts",
    "",
    `${counts.in} records in, ${counts.used} used for ${counts.out} rows, ${counts.in - counts.used} left out.`,
    "",
    ...table(
      "file",
      "rows",
      files.map(({ name, rows }) => [name, rows]),
    ),
    ...table("left out because", "records", Object.entries(counts.left_out)),
    ...table("what rows lost or had changed", "rows", Object.entries(counts.notes)),
    ...trainedLines(trained, counts.out),
    ...(advice ? [cell(advice), ""] : []),
    "## How it was made",
    "",
    ...table("agent model", "records", Object.entries(facts.agent_models)),
    ...table("user model", "records", Object.entries(facts.user_models)),
    ...table("dataset", "records", Object.entries(facts.datasets)),
    ...table("language of the user's words", "records", Object.entries(facts.languages)),
    `Domains: ${cell(facts.domains.join(", ")) || "not named"}.`,
    "",
    "## Settings",
    "",
    ...table(
      "setting",
      "value",
      given.map(([name, value]) => [name, JSON.stringify(value)]),
    ),
  ].join("\n");
}

function yamlList(key: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [`${key}:`, ...values.map((value) => `  - ${JSON.stringify(value)}`)];
}

/** The Hub refuses a licence that is not on its list, unless it is called "other" and has a name. */
function licenseLines(license: string): string[] {
  const id = license.trim().toLowerCase();
  if (HUB_LICENSES.includes(id)) return [`license: ${JSON.stringify(id)}`];
  return ['license: "other"', `license_name: ${JSON.stringify(license)}`];
}

const HUB_LICENSES =
  `unknown other apache-2.0 mit isc unlicense bsd bsd-2-clause bsd-3-clause mpl-2.0 gpl gpl-2.0 gpl-3.0 agpl-3.0 lgpl-3.0
  openrail cc cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0
  cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0
  cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 odc-by odbl pddl`.split(/\s+/);

/** Languages of at least one record in twenty: fewer may be a mistake of the detector. */
function languagesOf(languages: { [code: string]: number }): string[] {
  const total = sum(Object.values(languages));
  return Object.entries(languages).flatMap(([code, count]) => (code !== "other" && count * 20 >= total ? [code] : []));
}

function sizeCategory(rows: number): string {
  const steps = ["1K", "10K", "100K", "1M", "10M", "100M", "1B"];
  const above = steps.findIndex((_, index) => rows < 10 ** (index + 3));
  if (above === 0) return "n<1K";
  return above === -1 ? "n>1B" : `${steps[above - 1]}<n<${steps[above]}`;
}

/** Named file by file, so that export.json is not taken for data. The loader refuses a split without rows. */
function configLines(files: readonly { side: string; name: string; rows: number }[]): string[] {
  const empty = files.some(({ rows }) => rows > 0) ? files.filter(({ rows }) => rows === 0) : [];
  return [
    ...empty.map(({ name }) => `# without rows: ${JSON.stringify(name)}`),
    "configs:",
    "  - config_name: default",
    "    data_files:",
    ...files
      .filter((file) => !empty.includes(file))
      .flatMap(({ side, name }) => [
        // its names of splits have no hyphens
        `      - split: ${side.replaceAll("-", "_")}`,
        `        path: ${JSON.stringify(name)}`,
      ]),
  ];
}

const FEATURES: { [type: string]: string } = {
  string: "string",
  boolean: "bool",
  integer: "int64",
  number: "float64",
  json: "json",
};

/** Columns as `datasets` reads them: dates stay text, and objects of any shape stay as they are. */
function featureLines(columns: { [name: string]: ColumnType }, indent: string): string[] {
  return Object.entries(columns).flatMap(([name, type]) => [
    `${indent}- name: ${name}`,
    ...typeLines(type, `${indent}  `),
  ]);
}

function typeLines(type: ColumnType, indent: string): string[] {
  if (typeof type === "string") return [`${indent}dtype: ${FEATURES[type]}`];
  if ("fields" in type) return [`${indent}struct:`, ...featureLines(type.fields, `${indent}  `)];
  const { list } = type;
  if (typeof list === "string") return [`${indent}list: ${FEATURES[list]}`];
  return [`${indent}list:`, ...("fields" in list ? featureLines(list.fields, `${indent}  `) : [])];
}

function trainedLines({ tokens, tokenizer, exact }: TrainedReport, rows: number): string[] {
  if (Object.keys(tokens).length === 0) return [];
  return [
    "## What is trained on",
    "",
    `${rows} rows. Tokens that count for the loss, ${exact ? "" : "about, "}by ${tokenizer}:`,
    "",
    ...table("tokens of", "number", [...Object.entries(tokens), ["all", sum(Object.values(tokens))]]),
  ];
}

function table(left: string, right: string, rows: [string, unknown][]): string[] {
  if (rows.length === 0) return [];
  const line = (a: unknown, b: unknown) => `| ${cell(a)} | ${cell(b)} |`;
  return [line(left, right), "| --- | --- |", ...rows.map(([a, b]) => line(a, b)), ""];
}

function cell(value: unknown): string {
  return String(value)
    .replace(/[\r\n]+/g, " ")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;");
}

function tally(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
