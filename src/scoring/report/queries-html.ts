// The page's queries, worst first: each rollout's verdict and evidence, with the dialogue at hand.
import { PROGRAM_COMMAND } from "../../core/index.ts";
import { keyText } from "../../runs/index.ts";
import { chooseQueries, type Dialogue, type Dialogues, orderVerdicts } from "./dialogues.ts";
import type { RankedQuery } from "./rank-queries.ts";
import type { Report, RolloutVerdict } from "./report.ts";
import { escapeHtml, percent } from "./svg.ts";

const MAX_VERDICTS = 20;
const MAX_EVIDENCE = 600;

export function queriesPart(report: Report, dialogues: Dialogues): string {
  const shown = chooseQueries(report);
  const left = report.with_infrastructure.query_count - shown.length;
  return `${shown.map((query) => queryPart(report, query, dialogues)).join("\n")}
${left > 0 ? `<p class="small">${left} more queries are in report.json; <code>${command(report)}</code> lists their rollouts.</p>` : ""}`;
}

function queryPart(report: Report, query: RankedQuery, dialogues: Dialogues): string {
  const { dataset, query: queryId, outcome, passed, scored, avg_at_n, verdicts, blame } = query;
  const shown = orderVerdicts(verdicts).slice(0, MAX_VERDICTS);
  const left = verdicts.length - shown.length;
  const isPlayed = query.rollouts > 0;
  const facts = [
    ...(isPlayed ? [`${passed} of ${scored} solved`] : []),
    ...(avg_at_n === null ? [] : [`mean score ${percent(avg_at_n)}`]),
    ...Object.entries(blame).map(([party, count]) => `${party} ${count}`),
  ];
  const rollouts = shown.map((verdict) => {
    const dialogue = dialogues.get(keyText({ dataset, queryId, rollout: verdict.rollout }));
    return verdictPart(verdict, dialogue, command(report, dataset, [verdict.id]));
  });
  const more =
    left > 0 ? `<p class="small">${left} more: <code>${command(report, dataset, ["--query", queryId])}</code></p>` : "";
  return `<details><summary><span class="badge ${outcome.replace(" ", "-")}">${isPlayed ? OUTCOMES[outcome] : "not played"}</span> ${escapeHtml(queryId)} <span class="small">${escapeHtml(dataset)} · ${facts.join(" · ")}</span></summary>
${rollouts.join("\n")}${more}</details>`;
}

const OUTCOMES = { always: "always", wavers: "sometimes", never: "never", "not scored": "unscored" };

function verdictPart(rollout: RolloutVerdict, dialogue: Dialogue | undefined, show: string): string {
  const { id, verdict, score, blame, decided_by, stop_reason, evidence } = rollout;
  const facts = [
    ...(score === null || verdict === "not played" ? [] : [`score ${score.toFixed(2)}`]),
    ...(decided_by.length > 0 ? [`by ${decided_by.join(", ")}`] : []),
    ...(blame ? [`blame: ${blame}`] : []),
    `stop reason ${stop_reason}`,
  ];
  const why = evidence === undefined ? "" : `<p class="evidence">${escapeHtml(shorten(evidence))}</p>`;
  return `<div class="rollout"><span class="badge ${verdict.replaceAll(" ", "-")}">${verdict}</span> <strong>${escapeHtml(id)}</strong> <span class="small">${escapeHtml(facts.join(" · "))}</span>${why}
${dialogue ? dialoguePart(dialogue, show) : verdict === "not played" ? "" : `<p class="small">The dialogue: <code>${show}</code></p>`}</div>`;
}

function dialoguePart({ pieces, left }: Dialogue, show: string): string {
  const lines = pieces.map(
    ({ who, text }) => `<dt class="${who}">${who}</dt><dd class="${who}">${escapeHtml(text)}</dd>`,
  );
  const more = left > 0 ? `<p class="small">${left} more entries: <code>${show}</code></p>` : "";
  return `<details class="dialogue"><summary>Dialogue</summary><dl>${lines.join("\n")}</dl>${more}</details>`;
}

function command({ folder, datasets }: Report, dataset?: string, more: string[] = []): string {
  const own = dataset !== undefined && Object.keys(datasets).length > 1 ? ["--dataset", dataset] : [];
  return escapeHtml([PROGRAM_COMMAND, "show", ...[folder, ...more, ...own].map(quote)].join(" "));
}

function quote(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function shorten(text: string): string {
  return text.length <= MAX_EVIDENCE ? text : `${text.slice(0, MAX_EVIDENCE - 1)}…`;
}
