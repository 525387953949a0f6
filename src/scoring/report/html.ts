// `report.html`: one self-contained file, no scripts and no requests; readable in light and dark mode.
import type { Numbers } from "../numbers.ts";
import type { AnnotationReport } from "./annotations.ts";
import type { Comparison } from "./compare.ts";
import type { Dialogues } from "./dialogues.ts";
import { pageHtml } from "./page.ts";
import { queriesPart } from "./queries-html.ts";
import { questionRows } from "./question-rows.ts";
import type { Report } from "./report.ts";
import {
  describeAgreement,
  describeAnnotations,
  describeInfrastructure,
  describeOnly,
  explainNoScores,
} from "./sentences.ts";
import { barChart, columnChart, escapeHtml, lineChart, percent, type Series, scatterChart } from "./svg.ts";

/** `dialogues`: of each report in turn, as `readDialogues` gives them; without them the page has verdicts only. */
export function reportHtml(
  reports: readonly Report[],
  comparison: Comparison | undefined,
  dialogues: readonly Dialogues[] = [],
): string {
  const [first] = reports as [Report];
  const title = reports.length === 1 ? `Report on ${first.folder}` : `${reports.length} runs compared`;
  const body = `${reports.some(({ scripted }) => scripted) ? '<p class="note">Scripted models took part: these numbers show that the machinery works. They are no model&#39;s.</p>' : ""}
${comparison ? comparisonPart(comparison) : ""}
${reports.map((report, index) => runPart(report, dialogues[index] ?? new Map(), reports.length > 1)).join("\n")}
<footer><p>${escapeHtml(first.method)}</p></footer>`;
  return pageHtml(title, body);
}

function runPart(report: Report, dialogues: Dialogues, isOneOfSeveral: boolean): string {
  const { overall, outcomes } = report;
  const [infrastructure, only] = [describeInfrastructure(report), describeOnly(report)];
  return `<section>
${isOneOfSeveral ? `<h2>${escapeHtml(report.folder)}</h2>` : ""}
<p class="sub">Agent ${escapeHtml(report.agents.join(", ") || "unknown")} · ${overall.query_count} queries · ${overall.rollouts} rollouts: ${outcomes.passed} solved, ${outcomes.failed} not solved, ${outcomes["not scored"]} unscored</p>
${overall.scored === 0 ? `<p class="note">${escapeHtml(explainNoScores(report))}</p>` : tiles(report)}
${only === undefined ? "" : `<p class="note">${escapeHtml(only)}</p>`}
${infrastructure === undefined ? "" : `<p class="note">${escapeHtml(infrastructure)}</p>`}
${datasetTable(report)}
${questionTables(report)}
<div class="charts">
${chart("pass@k and pass^k", passChart([report]), "The chance that at least one, or every one, of k rollouts solves the task. Bands: 95 % intervals.")}
${chart("Outcomes, and whose fault the failures are", outcomesChart(report), "Attributed by the evidence in each record.")}
${chart("Checks", checksChart(report), "Share that passed of the rollouts that a check could decide.")}
${chart("Stop reasons", countChart(report.stop_reasons), "How the dialogues ended.")}
${chart("Turns", columnChart(report.turns, "turns of a rollout"))}
${chart("Tool calls", columnChart(report.tool_calls, "tool calls of a rollout"))}
${chart(costTitle(report), costChart(report), "One point for each query, means over its rollouts.")}
${chart("Tool errors", toolsChart(report), "Share of a tool's calls that were answered with an error; the twenty most used tools.")}
</div>
${report.annotations ? annotationsPart(report.annotations, isOneOfSeveral ? "h3" : "h2") : ""}
${isOneOfSeveral ? "<h3>Queries, worst first</h3>" : "<h2>Queries, worst first</h2>"}
${queriesPart(report, dialogues)}
</section>`;
}

function tiles({ overall: all, agent_only: own }: Report): string {
  const k = Math.max(0, ...Object.keys(all.pass_at_k).map(Number));
  const tile = (name: string, value: string, note: string) =>
    `<div class="tile"><div class="value">${value}</div><div class="label">${name}</div><div class="small">${note}</div></div>`;
  return `<div class="tiles">
${tile("solved", percent(all.success_rate), interval(all.success_interval))}
${tile("without failures that were not the agent's", percent(own.success_rate), interval(own.success_interval))}
${tile(`avg@${k}`, percent(all.avg_at_n), interval(all.avg_at_n_interval))}
${k > 1 ? tile(`pass@${k}`, percent(all.pass_at_k[k] ?? null), interval(all.pass_at_k_interval[k] ?? null)) : ""}
${k > 1 ? tile(`pass^${k}`, percent(all.pass_hat_k[k] ?? null), interval(all.pass_hat_k_interval[k] ?? null)) : ""}
${tile("queries", `${all.always} · ${all.wavers} · ${all.never}`, "always · sometimes · never solved")}
</div>`;
}

function datasetTable({ datasets, overall, agent_only }: Report): string {
  const row = (name: string, numbers: Numbers, own: Numbers) => [
    escapeHtml(name),
    numbers.query_count,
    numbers.scored,
    solvedCell(numbers),
    percent(own.success_rate),
    percent(numbers.avg_at_n),
    outcomeCell(numbers),
  ];
  const rows = Object.entries(datasets).map(([name, numbers]) => row(name, numbers, numbers.agent_only));
  if (rows.length > 1) rows.push(row("all", overall, agent_only));
  return table(["dataset", "queries", "scored", "solved", "agent's own", "avg@n", "always / sometimes / never"], rows);
}

/** Of question sets: what matching alone says, and a judge beside it. */
function questionTables({ datasets }: Report): string {
  const tables = Object.entries(datasets).flatMap(([name, { questions }]) => {
    const [header, ...rows] = (questions && questionRows(questions)) ?? [];
    return header ? [`<h3>Answers: ${escapeHtml(name)}</h3>\n${table(header, rows)}`] : [];
  });
  return tables.join("\n");
}

function solvedCell({ scored, success_rate, success_interval }: Numbers): string {
  if (scored === 0) return "unscored";
  return `${percent(success_rate)} <span class="small">${interval(success_interval)}</span>`;
}

function outcomeCell({ scored, always, wavers, never }: Numbers): string {
  return scored === 0 ? "–" : `${always} / ${wavers} / ${never}`;
}

function passChart(reports: readonly Report[]): string {
  const series = reports.flatMap(({ overall }, index): Series[] => [
    { name: "pass@k", colour: index, points: pointsOf(overall.pass_at_k, overall.pass_at_k_interval) },
    { name: "pass^k", colour: index, dashed: true, points: pointsOf(overall.pass_hat_k, overall.pass_hat_k_interval) },
  ]);
  if (series.every(({ points }) => points.length === 0)) return "";
  return `${lineChart(series, "k")}<p class="legend"><span class="key c0"></span>pass@k <span class="key c0 dashed"></span>pass^k</p>`;
}

function pointsOf(means: Numbers["pass_at_k"], intervals: Numbers["pass_at_k_interval"]) {
  return Object.entries(means).flatMap(([k, value]) => {
    const range = intervals[k];
    return value === null ? [] : [{ x: Number(k), y: value, ...(range ? { low: range.low, high: range.high } : {}) }];
  });
}

const BLAME_COLOUR: { [party: string]: number } = { agent: 0, user: 1, tool: 2, judge: 3, infrastructure: 4 };

function outcomesChart({ blame, outcomes, with_infrastructure }: Report): string {
  const part = (label: string, value: number, colour: number) => ({
    label,
    value,
    note: `${value} (${percent(value / Math.max(with_infrastructure.rollouts, 1))})`,
    colour,
  });
  const failed = (Object.entries(blame) as [string, number][]).filter(([party]) => party !== "judge");
  const bars = [
    part("solved", outcomes.passed, 3),
    ...failed
      .sort(([, a], [, b]) => b - a)
      .map(([party, count]) => part(`failed: ${party}`, count, BLAME_COLOUR[party] ?? 0)),
    part("unscored", outcomes["not scored"], 4),
  ];
  return barChart(
    bars.filter(({ value }) => value > 0),
    "outcomes",
  );
}

function checksChart({ checks }: Report): string {
  const bars = Object.entries(checks).map(([label, { passed, failed }]) => {
    const decided = passed + failed;
    const note = decided === 0 ? "not checkable" : `${percent(passed / decided)} of ${decided}`;
    return { label, value: decided === 0 ? 0 : passed / decided, note, colour: 0 };
  });
  return barChart(bars, "checks");
}

function countChart(counts: { [name: string]: number }): string {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return barChart(
    sorted.map(([label, value]) => ({ label, value, note: String(value), colour: 0 })),
    "stop reasons",
  );
}

function costTitle({ costs }: Report): string {
  return isPriced(costs) ? "Cost against score" : "Tokens against score";
}

/** Points of unknown cost have no place on an axis of dollars. */
function isPriced(costs: Report["costs"]): boolean {
  return costs.every(({ cost_usd }) => cost_usd !== null) && costs.some(({ cost_usd }) => Number(cost_usd) > 0);
}

function costChart({ costs }: Report): string {
  const priced = isPriced(costs);
  const points = costs.flatMap(({ query, cost_usd, tokens, score }) =>
    score === null ? [] : [{ name: query, x: priced ? Number(cost_usd) : tokens, y: score }],
  );
  return priced
    ? scatterChart(points, "dollars of a rollout", (value) => `$${value.toPrecision(2)}`)
    : scatterChart(points, "tokens of a rollout", (value) => Math.round(value).toLocaleString("en"));
}

function toolsChart({ tools }: Report): string {
  const bars = Object.entries(tools)
    .slice(0, 20)
    .map(([label, { calls, errors }]) => ({
      label,
      value: errors / calls,
      note: `${percent(errors / calls)} of ${calls}`,
      colour: errors > 0 ? 1 : 0,
    }));
  return barChart(bars, "tool errors");
}

const MAX_QUERIES = 500;

function comparisonPart({ runs, changed, shared_queries, left_out }: Comparison): string {
  const rows = runs.map(({ folder, agents, overall }, index) => [
    `<span class="key c${index % 5}"></span>${escapeHtml(folder)}`,
    escapeHtml(agents.join(", ")),
    overall.scored,
    solvedCell(overall),
    percent(overall.avg_at_n),
    outcomeCell(overall),
  ]);
  const series = runs.flatMap(({ overall }, index): Series[] => [
    { name: "pass@k", colour: index % 5, points: pointsOf(overall.pass_at_k, {}) },
    { name: "pass^k", colour: index % 5, dashed: true, points: pointsOf(overall.pass_hat_k, {}) },
  ]);
  const changes = changed
    .slice(0, MAX_QUERIES)
    .map(({ dataset, query, rates }) => [escapeHtml(query), escapeHtml(dataset), ...rates.map(percent)]);
  return `<section>
<p class="sub">${shared_queries} queries in all runs${left_out > 0 ? `; ${left_out} that some do not have are left out of the comparison` : ""}</p>
${table(["run", "agent", "scored", "solved", "avg@n", "always / sometimes / never"], rows)}
${runs.map(({ difference }) => (difference ? `<p>${difference.words}</p>` : "")).join("")}
<div class="charts">${chart("pass@k (solid) and pass^k (dashed)", lineChart(series, "k"))}</div>
<details${changed.length <= 40 ? " open" : ""}><summary>Queries that changed (${changed.length})</summary>${table(["query", "dataset", ...runs.map((_, index) => `run ${index + 1}`)], changes)}</details>
</section>`;
}

const MAX_TAGS = 20;

function annotationsPart(report: AnnotationReport, heading: string): string {
  const { annotators, tags, agreement } = report;
  const rows = annotators.map(({ annotator, accept, reject, unsure, messages, notes }) => [
    escapeHtml(annotator),
    accept + reject + unsure,
    ...[accept, reject, unsure, messages, notes],
  ]);
  const named = tags.slice(0, MAX_TAGS).map(({ tag, rollouts }) => `${tag} (${rollouts})`);
  const more = tags.length > MAX_TAGS ? ` and ${tags.length - MAX_TAGS} more` : "";
  return `<${heading}>Annotations</${heading}>
<p>${escapeHtml(describeAnnotations(report))}</p>
${table(["annotator", "judged", "accept", "reject", "unsure", "messages", "notes"], rows)}
${agreement.map((pair) => `<p>${escapeHtml(describeAgreement(pair))}</p>`).join("\n")}
${named.length > 0 ? `<p class="small">Tags: ${escapeHtml(named.join(", ") + more)}</p>` : ""}`;
}

function chart(title: string, svg: string, note = ""): string {
  if (svg === "") return "";
  return `<figure><figcaption>${title}</figcaption>${svg}${note ? `<p class="small">${note}</p>` : ""}</figure>`;
}

function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const head = header.map((cell) => `<th>${cell}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("\n");
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function interval(range: { low: number; high: number } | null): string {
  return range ? `${percent(range.low)} to ${percent(range.high)}` : "no interval";
}
