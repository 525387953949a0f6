// `rollout stats --html`: the statistics as one self-contained page, no scripts and no requests; readable in light and dark
// mode and on paper.
import { barChart, columnChart, escapeHtml, pageHtml, percent } from "../../scoring/index.ts";
import type { DatasetStats, Stats } from "./collect-stats.ts";
import { intervalChart } from "./interval-chart.ts";
import type { Distribution } from "./spread.ts";

const MAX_BARS = 25;

/** `inputs`: the names of what was read, for the title. */
export function statsHtml(stats: Stats, inputs: readonly string[]): string {
  const title = `What is in ${inputs.join(", ")}`;
  const body = `<p class="sub">${escapeHtml(`${plain(stats.records)} records of ${plain(stats.queries)} queries · agent ${Object.keys(stats.models).join(", ") || "unknown"}`)}</p>
${stats.scripted > 0 ? `<p class="note">${plain(stats.scripted)} of the records were made by scripted models: they are no model&#39;s output.</p>` : ""}
${tiles(stats)}
<div class="charts">
${figure("Tokens by kind", tokensChart(stats), `Counted with ${stats.tokenizer}. A trainer learns from the agent's text, reasoning and calls.`)}
${figure("Solved, by dataset", solvedChart(stats), "Share of the scored records; the lines are 95 % intervals, which know that rollouts of one query resemble each other.")}
${figure("Turns", columnChart(stats.histograms.turns, "turns of a record"), "A turn is a user message that the agent answers.")}
${figure("Steps", columnChart(stats.histograms.steps, "steps of a record"), "A step is one agent reply with the tool results it caused.")}
${figure("Tool calls", columnChart(stats.histograms.calls, "tool calls of a record"))}
${figure("Chains of calls", columnChart(stats.histograms.chains, "longest chain of a record"), "Calls in a row of which each takes a value from the result of the one before.")}
${figure("Tools used", toolsChart(stats), `Calls, and the share of their results that are errors; orange: more than the average of all calls.${Object.keys(stats.tools).length > MAX_BARS ? ` The ${MAX_BARS} most used of ${Object.keys(stats.tools).length}.` : ""}`)}
${figure("Stop reasons", countChart(stats.stop_reasons), "How the dialogues ended.")}
${figure("Languages", countChart(stats.languages), "Of the user's words, by script and frequent words.")}
</div>
${spreadTable(stats)}
${lists(stats)}`;
  return pageHtml(title, body, PRINT);
}

const PRINT = `
td.number, th.number { text-align: right; }
.scroll + details { margin-top: 18px; }
@media print { :root { color-scheme: light; --bg: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb;
  --c0: #2f6db5; --c1: #d0632b; --c2: #8a62b8; --c3: #2f8f6b; --c4: #8c8471; }
  main { padding: 0; max-width: none; } .charts { columns: 2; } .bar { print-color-adjust: exact; } }
`;

function tiles(stats: Stats): string {
  const { near_duplicates: near, tool_errors: errors } = stats;
  const trainable = stats.tokens_by_kind.trainable.total;
  const all = Object.values(stats.tokens_by_kind).reduce((sum, { total }) => sum + total, 0) - trainable;
  const tile = (name: string, value: string, note: string) =>
    `<div class="tile"><div class="value">${escapeHtml(value)}</div><div class="label">${escapeHtml(name)}</div><div class="small">${escapeHtml(note)}</div></div>`;
  const scored = stats.scored > 0 ? `${plain(stats.solved)} of ${plain(stats.scored)} scored` : "not scored";
  return `<div class="tiles">
${tile("solved", percent(stats.scored > 0 ? stats.solved / stats.scored : null), scored)}
${tile("trainable tokens", plain(trainable), `${percent(all > 0 ? trainable / all : null)} of ${plain(all)}`)}
${tile("tool errors", percent(errors.share ?? null), `${plain(errors.count)} of ${plain(errors.of)} results`)}
${tile("steps with parallel calls", percent(stats.parallel_steps.share ?? null), `in ${plain(stats.parallel_records.count)} records`)}
${tile("multi-step turns", percent(stats.multi_step_turns.share ?? null), `${plain(stats.multi_step_turns.count)} of ${plain(stats.multi_step_turns.of)} turns`)}
${tile("near-duplicates", plain(near.records), `in ${plain(near.groups)} groups; ${plain(stats.duplicates)} exact`)}
</div>`;
}

function tokensChart({ tokens_by_kind }: Stats): string {
  const kinds = Object.entries(tokens_by_kind).filter(([kind]) => kind !== "trainable");
  const bars = kinds.map(([kind, { total }]) => ({
    label: kind.replaceAll("_", " "),
    value: total,
    note: plain(total),
    colour: kind.startsWith("agent") ? 0 : 4,
  }));
  return bars.every(({ value }) => value === 0) ? "" : barChart(bars, "tokens by kind");
}

function solvedChart({ by_dataset }: Stats): string {
  const scored = Object.entries(by_dataset).filter(([, { scored }]) => scored > 0) as [string, Scored][];
  return intervalChart(
    scored.slice(0, MAX_BARS).map(([label, { solved_rate: share, interval, scored: of }]) => ({
      label,
      share,
      interval,
      note: `${percent(share)} of ${plain(of)}`,
    })),
    "solved by dataset",
  );
}

type Scored = DatasetStats & { solved_rate: number };

function toolsChart({ tools, tool_errors: { share: average = 0 } }: Stats): string {
  const used = Object.entries(tools).filter(([, { calls }]) => calls > 0);
  const bars = used.slice(0, MAX_BARS).map(([label, { calls, errors }]) => ({
    label,
    value: calls,
    note: errors.count > 0 ? `${plain(calls)}, ${percent(errors.share ?? 0)}` : plain(calls),
    colour: (errors.share ?? 0) > average ? 1 : 0,
  }));
  return barChart(bars, "tools used");
}

function countChart(counts: { [name: string]: number }): string {
  const bars = Object.entries(counts).map(([label, value]) => ({ label, value, note: plain(value), colour: 0 }));
  return barChart(bars.slice(0, MAX_BARS), "counts");
}

function spreadTable(stats: Stats): string {
  const rows: [string, Distribution | undefined][] = [
    ["tokens", stats.tokens],
    ...Object.entries(stats.tokens_by_kind).map(([kind, { spread }]) => [kind, spread] as [string, typeof spread]),
    ["turns", stats.turns],
    ["steps", stats.steps],
    ["messages", stats.messages],
    ["tool calls", stats.calls],
    ["longest chain", stats.chains],
    ["tools offered", stats.tools_offered],
  ];
  const cells = rows.flatMap(([name, spread]) => {
    if (!spread) return [];
    const { mean, min, median, p95, max } = spread;
    return [[name.replaceAll("_", " "), plain(Number(mean.toFixed(1))), ...[min, median, p95, max].map(plain)]];
  });
  return cells.length === 0 ? "" : table(["per record", "mean", "least", "median", "95 %", "most"], cells);
}

function lists({ near_duplicates, unknown_tools, never_used, unreadable }: Stats): string {
  const parts: [string, string[]][] = [
    ["Tools that no record offers", Object.entries(unknown_tools).map(([name, tool]) => describeUnknown(name, tool))],
    ["Tools never used", never_used],
    ["Near-duplicates, for example", near_duplicates.examples.map(describePair)],
    ["Not read", Object.entries(unreadable).map(([reason, count]) => `${count}: ${reason}`)],
  ];
  return parts
    .filter(([, items]) => items.length > 0)
    .map(
      ([title, items]) =>
        `<details${items.length <= MAX_BARS ? " open" : ""}><summary>${title} (${plain(items.length)})</summary><ul>${items.map((item) => `<li>${escapeHtml(item)}</li>`).join("")}</ul></details>`,
    )
    .join("\n");
}

/** `find_bok 3, probably find_book`. */
export function describeUnknown(name: string, { calls, nearest }: Stats["unknown_tools"][string]): string {
  return `${name} ${calls}${nearest === undefined ? "" : `, probably ${nearest}`}`;
}

export function describePair({ ids, similarity }: Stats["near_duplicates"]["examples"][number]): string {
  return `${ids.join(" and ")} (${percent(similarity)})`;
}

function figure(title: string, svg: string, note = ""): string {
  if (svg === "") return "";
  return `<figure><figcaption>${title}</figcaption>${svg}${note ? `<p class="small">${escapeHtml(note)}</p>` : ""}</figure>`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (tag: string) => (text: string, column: number) =>
    `<${tag}${column > 0 ? ' class="number"' : ""}>${escapeHtml(text)}</${tag}>`;
  const line = (tag: string, cells: readonly string[]) => `<tr>${cells.map(cell(tag)).join("")}</tr>`;
  return `<div class="scroll"><table><thead>${line("th", header)}</thead><tbody>${rows.map((row) => line("td", row)).join("\n")}</tbody></table></div>`;
}

function plain(number: number): string {
  return number.toLocaleString("en");
}
