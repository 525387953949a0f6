// The dataset card: what a reader must know before using the data, generated from what the export itself saw.
import { basename } from "node:path";
import { PROGRAM_VERSION } from "../core/index.ts";
import type { CountsReport } from "./counts.ts";
import type { ColumnType } from "./formats/format.ts";
import { CARD_MARK, type OutputFiles } from "./output.ts";
import type { ExportRecord } from "./record.ts";
import type { TrainedReport } from "./trained-tokens.ts";

export class CardFacts {
  readonly #tallies = {
    agents: new Map<string, number>(),
    users: new Map<string, number>(),
    datasets: new Map<string, number>(),
  };
  readonly #domains = new Set<string>();
  scripted = 0;

  see({ dataset, domains, metadata }: ExportRecord, isScripted: boolean): void {
    tally(this.#tallies.agents, metadata.models?.agent ?? "unknown");
    tally(this.#tallies.users, metadata.models?.user ?? "unknown");
    tally(this.#tallies.datasets, dataset);
    for (const domain of domains) this.#domains.add(domain);
    if (isScripted) this.scripted++;
  }

  report() {
    const { agents, users, datasets } = this.#tallies;
    return {
      agent_models: Object.fromEntries(agents),
      user_models: Object.fromEntries(users),
      datasets: Object.fromEntries(datasets),
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
  columns: { [name: string]: ColumnType };
};

export function cardText({ plan, counts, facts, settings, license }: CardInput): string {
  const files = [...plan.files].map(([side, file]) => ({ side, name: basename(file) }));
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return [
    "---",
    `license: ${JSON.stringify(license)}`,
    "task_categories:",
    "  - text-generation",
    "tags:",
    "  - tool-calling",
    "  - multi-turn",
    "configs:",
    "  - config_name: default",
    "    data_files:",
    ...files.flatMap(({ side, name }) => [`      - split: ${side}`, `        path: ${JSON.stringify(name)}`]),
    "---",
    CARD_MARK,
    "",
    "# Multi-turn tool-calling dialogues",
    "",
    `Made with rollout ${PROGRAM_VERSION}. Licence: ${license}.`,
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
      files.map(({ side, name }) => [name, counts.splits[side] ?? 0]),
    ),
    ...table("left out because", "records", Object.entries(counts.left_out)),
    ...table("what rows lost or had changed", "rows", Object.entries(counts.notes)),
    "## Origin",
    "",
    ...table("agent model", "records", Object.entries(facts.agent_models)),
    ...table("user model", "records", Object.entries(facts.user_models)),
    ...table("dataset", "records", Object.entries(facts.datasets)),
    `Domains: ${facts.domains.join(", ") || "not named"}.`,
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
