// The results of a run, as a table.
import type { DatasetSummary } from "../../runs/index.ts";
import { count, duration, type Terminal, table } from "./terminal.ts";

const HEADER = ["dataset", "rollouts", "stop reasons", "turns", "tool calls", "tool errors", "tokens", "time"];

export function summaryLines(terminal: Terminal, datasets: { [name: string]: DatasetSummary }): string[] {
  const all = Object.values(datasets);
  const priced = all.some((summary) => summary.cost_usd > 0);
  const named: [string, DatasetSummary][] = Object.entries(datasets);
  if (all.length > 1) named.push(["all", all.reduce(add)]);
  const rows = named.map(([name, summary]) => [
    ...summaryRow(name, summary),
    ...(priced ? [`$${summary.cost_usd.toFixed(summary.cost_usd < 1 ? 4 : 2)}`] : []),
  ]);
  const [header = "", ...lines] = table([[...HEADER, ...(priced ? ["cost"] : [])], ...rows], {
    right: [1, 3, 4, 5, 6, 7, 8],
  });
  return [terminal.paint("bold", header), ...lines];
}

function summaryRow(name: string, summary: DatasetSummary): string[] {
  const each = (total: number) => (summary.rollouts > 0 ? total / summary.rollouts : 0);
  const reasons = Object.entries(summary.stop_reasons).sort(([, a], [, b]) => b - a);
  return [
    name,
    String(summary.rollouts),
    reasons.map(([reason, number]) => `${reason} ${number}`).join(", ") || "–",
    each(summary.turns).toFixed(1),
    each(summary.tool_calls).toFixed(1),
    String(summary.tool_errors),
    count(summary.input_tokens + summary.output_tokens),
    duration(each(summary.duration_ms)),
  ];
}

function add(a: DatasetSummary, b: DatasetSummary): DatasetSummary {
  const reasons = { ...a.stop_reasons };
  for (const [reason, number] of Object.entries(b.stop_reasons)) reasons[reason] = (reasons[reason] ?? 0) + number;
  const numbers = (Object.keys(a) as (keyof DatasetSummary)[]).filter((key) => key !== "stop_reasons");
  return {
    ...a,
    ...Object.fromEntries(numbers.map((key) => [key, (a[key] as number) + (b[key] as number)])),
    stop_reasons: reasons,
  };
}
