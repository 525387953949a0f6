// What `rollout stats` prints for people: groups of facts with headings.
import { type Distribution, describePair, describeUnknown, type Share, type Stats } from "../../export/index.ts";
import { printable, type Terminal, table } from "./terminal.ts";

const MAX_UNKNOWN = 10;

export function statsLines(terminal: Terminal, stats: Stats): string[] {
  const group = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : ["", terminal.paint("bold", title), ...lines];
  return [
    ...table(outline(stats)),
    ...group("Datasets", datasetLines(stats)),
    ...group("Lengths, per record", spreadLines(lengthsOf(stats))),
    ...group(`Tokens (${stats.tokenizer}), per record`, spreadLines(tokensOf(stats))),
    ...group("Shape", table(shapeOf(stats))),
    ...group("Near-duplicates", nearLines(stats)),
    ...group("Tools", toolLines(stats)),
  ].map(printable);
}

function outline(stats: Stats): string[][] {
  const share = (number: number) =>
    `${number} (${stats.records > 0 ? Math.round((100 * number) / stats.records) : 0} %)`;
  return [
    ["records", String(stats.records)],
    ["queries", String(stats.queries)],
    ["ended", share(stats.success)],
    ["solved", solvedText(stats)],
    ["unscored", share(stats.records - stats.scored)],
    ["stop reasons", listCounts(stats.stop_reasons)],
    ["agent models", listCounts(stats.models)],
    ["languages", listCounts(stats.languages)],
    ["scripted", share(stats.scripted)],
    ["duplicates", share(stats.duplicates)],
    ...Object.entries(stats.unreadable).map(([reason, number]) => ["not read", `${number}: ${reason}`]),
  ];
}

function datasetLines({ by_dataset }: Stats): string[] {
  const rows = Object.entries(by_dataset).map(([name, { records, scored, solved, solved_rate, interval }]) => [
    name,
    String(records),
    String(scored),
    String(solved),
    solved_rate === undefined ? "" : percent(solved_rate),
    interval ? `${percent(interval.low)} to ${percent(interval.high)}` : "",
  ]);
  return table([["dataset", "records", "scored", "solved", "", "95 %"], ...rows], { right: [1, 2, 3, 4] });
}

type Named = { name: string; spread: Distribution | undefined; total?: number };

function lengthsOf({ turns, steps, messages, calls, chains, tools_offered }: Stats): Named[] {
  return [
    { name: "turns", spread: turns },
    { name: "steps", spread: steps },
    { name: "messages", spread: messages },
    { name: "tool calls", spread: calls },
    { name: "longest chain", spread: chains },
    { name: "tools offered", spread: tools_offered },
  ];
}

function tokensOf({ tokens, tokens_by_kind }: Stats): Named[] {
  const kinds = Object.entries(tokens_by_kind).map(([kind, { total, spread }]) => ({
    name: kind.replaceAll("_", " "),
    spread,
    total,
  }));
  return [...kinds, { name: "all, as templates write them", spread: tokens }];
}

function spreadLines(named: Named[]): string[] {
  const known = named.filter(({ spread }) => spread !== undefined);
  const hasTotals = known.some(({ total }) => total !== undefined);
  const rows = known.map(({ name, spread, total }) => {
    const { mean, min, median, p95, max } = spread as Distribution;
    const numbers = [mean.toFixed(1), ...[min, median, p95, max].map(String)];
    return [name, ...numbers, ...(hasTotals ? [String(total ?? "")] : [])];
  });
  if (rows.length === 0) return [];
  const header = ["", "mean", "least", "median", "95 %", "most", ...(hasTotals ? ["in all"] : [])];
  return table([header, ...rows], { right: [1, 2, 3, 4, 5, 6] });
}

function shapeOf(stats: Stats): string[][] {
  return [
    ["multi-step turns", shareText(stats.multi_step_turns)],
    ["steps with parallel calls", shareText(stats.parallel_steps)],
    ["records with parallel calls", shareText(stats.parallel_records)],
    ["tool results that are errors", shareText(stats.tool_errors)],
  ];
}

function nearLines({ near_duplicates: { records, groups, largest_group, examples } }: Stats): string[] {
  if (records === 0) return ["none"];
  return [
    `${records} records like an earlier one, in ${groups} groups, the largest of ${largest_group}`,
    ...examples.map((pair) => `  ${describePair(pair)}`),
  ];
}

function toolLines({ tools, unknown_tools, never_used, never_given }: Stats): string[] {
  const rows = Object.entries(tools).map(([name, { calls, malformed, errors, arguments: given }]) => [
    name,
    String(calls),
    String(malformed),
    errors.share === undefined ? "" : percent(errors.share),
    listCounts(given),
  ]);
  const unknown = Object.entries(unknown_tools);
  const more = unknown.length > MAX_UNKNOWN ? [`${unknown.length - MAX_UNKNOWN} more (--json)`] : [];
  const shown = unknown.slice(0, MAX_UNKNOWN).map(([name, tool]) => describeUnknown(name, tool));
  return [
    ...table([["tool", "calls", "malformed", "errors", "arguments given"], ...rows], { right: [1, 2, 3] }),
    "",
    `called, but offered by no record: ${[...shown, ...more].join("; ") || "none"}`,
    `never used: ${never_used.join(", ") || "none"}`,
    `never given: ${never_given.join(", ") || "none"}`,
  ];
}

function shareText({ count, of, share }: Share): string {
  return share === undefined ? "none" : `${count} of ${of} (${percent(share)})`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function solvedText({ solved, scored, mean_score }: Stats): string {
  if (mean_score === undefined) return "unknown (rollout eval scores a run)";
  return `${solved} of ${scored} scored, mean score ${mean_score.toFixed(3)}`;
}

function listCounts(counts: { [name: string]: number }): string {
  const named = Object.entries(counts).map(([name, number]) => `${name} ${number}`);
  return named.join(", ") || "none";
}
