// The results of a run, as a table.
import { addCosts, NO_COST, readCost, toCostRecord } from "../../core/index.ts";
import type { DatasetSummary } from "../../runs/index.ts";
import { costText, unknownCostLines } from "./cost-text.ts";
import { count, duration, type Terminal, table } from "./terminal.ts";

const HEADER = ["dataset", "rollouts", "stop reasons", "turns", "tool calls", "tool errors", "tokens", "time"];

export function summaryLines(terminal: Terminal, datasets: { [name: string]: DatasetSummary }): string[] {
  const all = Object.values(datasets);
  const priced = all.some(({ cost_usd }) => cost_usd === null || cost_usd > 0);
  const named: [string, DatasetSummary][] = Object.entries(datasets);
  if (all.length > 1) named.push(["all", all.reduce(add)]);
  const rows = named.map(([name, summary]) => [...summaryRow(name, summary), ...(priced ? [costCell(summary)] : [])]);
  const [header = "", ...lines] = table([[...HEADER, ...(priced ? ["cost"] : [])], ...rows], {
    right: [1, 3, 4, 5, 6, 7, 8],
  });
  const cost = all.map(readCost).reduce(addCosts, NO_COST);
  return [terminal.paint("bold", header), ...lines, ...unknownCostLines(cost)];
}

function costCell(summary: DatasetSummary): string {
  return costText(readCost(summary), { names: false, show: (dollars) => `$${dollars.toFixed(dollars < 1 ? 4 : 2)}` });
}

/** What scripts estimate is in no total. */
function tokensCell({ input_tokens, output_tokens, scripted_tokens }: DatasetSummary): string {
  const tokens = input_tokens + output_tokens;
  return tokens === 0 && scripted_tokens > 0 ? "–" : count(tokens);
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
    tokensCell(summary),
    duration(each(summary.duration_ms)),
  ];
}

function add(a: DatasetSummary, b: DatasetSummary): DatasetSummary {
  const reasons = { ...a.stop_reasons };
  for (const [reason, number] of Object.entries(b.stop_reasons)) reasons[reason] = (reasons[reason] ?? 0) + number;
  const numbers = (Object.keys(a) as (keyof DatasetSummary)[]).filter((key) => typeof a[key] === "number");
  return {
    ...a,
    ...Object.fromEntries(numbers.map((key) => [key, (a[key] as number) + (b[key] as number)])),
    ...toCostRecord(addCosts(readCost(a), readCost(b))),
    stop_reasons: reasons,
  };
}
