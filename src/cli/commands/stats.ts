// `rollout stats`: describes a run or a file in numbers.
import { Option } from "commander";
import { collectStats, type Distribution, type Stats, TOKENIZERS } from "../../export/index.ts";
import type { Configure } from "../host.ts";
import { createTerminal, printable, type Terminal, table } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout stats outputs/example
  rollout stats data/labelled.jsonl --json`;

type Flags = { tokenizer: string; basePath?: string; json?: boolean };

export const configure: Configure = (command, host, done) => {
  command
    .argument("<input...>")
    .addOption(
      new Option("--tokenizer <name>", "what tokens are counted with").choices([...TOKENIZERS]).default("o200k_base"),
    )
    .option("--base-path <dir>", "dataset folder to take the original system's tool lists from")
    .option("--json", "print as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (inputs: string[], { json, ...flags }: Flags) => {
      const terminal = createTerminal(host);
      const stats = await collectStats({ inputs, ...flags });
      for (const line of json ? [JSON.stringify(stats)] : statsLines(terminal, stats)) terminal.out(line);
      done(0);
    });
};

function statsLines(terminal: Terminal, stats: Stats): string[] {
  const share = (number: number) =>
    `${number} (${stats.records > 0 ? Math.round((100 * number) / stats.records) : 0} %)`;
  const facts = [
    ["records", String(stats.records)],
    ["queries", String(stats.queries)],
    ["datasets", listCounts(stats.datasets)],
    ["ended", share(stats.success)],
    ["solved", solvedText(stats)],
    ["unscored", share(stats.records - stats.scored)],
    ["stop reasons", listCounts(stats.stop_reasons)],
    ["agent models", listCounts(stats.models)],
    ["scripted", share(stats.scripted)],
    ["duplicates", share(stats.duplicates)],
    ...Object.entries(stats.unreadable).map(([reason, number]) => ["not read", `${number}: ${reason}`]),
  ];
  const spreads: [string, Distribution | undefined][] = [
    ["tokens", stats.tokens],
    ["turns", stats.turns],
    ["messages", stats.messages],
    ["tool calls", stats.calls],
  ];
  const lengths = spreads.flatMap(([name, spread]) =>
    spread ? [[name, spread.mean.toFixed(1), ...[spread.min, spread.median, spread.p95, spread.max].map(String)]] : [],
  );
  const tools = Object.entries(stats.tools).map(([name, use]) => [
    name,
    String(use.calls),
    String(use.malformed),
    Object.entries(use.arguments)
      .map(([parameter, given]) => `${parameter} ${given}`)
      .join(", "),
  ]);
  const heading = (text: string) => ["", terminal.paint("bold", text)];
  return [
    ...table(facts),
    ...heading("Lengths"),
    ...table([["", "mean", "least", "median", "95 %", "most"], ...lengths], { right: [1, 2, 3, 4, 5] }),
    ...heading("Tools"),
    ...table([["tool", "calls", "malformed", "arguments given"], ...tools], { right: [1, 2] }),
    "",
    `never used: ${stats.never_used.join(", ") || "none"}`,
    `never given: ${stats.never_given.join(", ") || "none"}`,
  ].map(printable);
}

function solvedText({ solved, scored, mean_score }: Stats): string {
  if (mean_score === undefined) return "unknown (rollout eval scores a run)";
  return `${solved} of ${scored} scored, mean score ${mean_score.toFixed(3)}`;
}

function listCounts(counts: { [name: string]: number }): string {
  return (
    Object.entries(counts)
      .map(([name, number]) => `${name} ${number}`)
      .join(", ") || "none"
  );
}
