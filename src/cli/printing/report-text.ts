// Reports as tables for a terminal.
import { PROGRAM_COMMAND } from "../../core/index.ts";
import {
  type AnnotationReport,
  type Comparison,
  describeAgreement,
  describeAnnotations,
  describeInfrastructure,
  describeOnly,
  explainNoScores,
  type Numbers,
  type RankedQuery,
  type Report,
  rankQueries,
} from "../../scoring/index.ts";
import { questionLines } from "./questions-text.ts";
import { quote } from "./shell-text.ts";
import { cut, printable, printableName, type Terminal, table } from "./terminal.ts";
import { oneLine } from "./verdict-text.ts";

export function reportLines(terminal: Terminal, report: Report): string[] {
  const { overall, agent_only, datasets, checks, blame, scripted } = report;
  const infrastructure = describeInfrastructure(report);
  const besides = [describeOnly(report), infrastructure].flatMap((line) =>
    line === undefined ? [] : [printable(line)],
  );
  const sets = Object.entries(datasets).flatMap(([name, { questions }]) =>
    questions ? questionLines(terminal, name, questions) : [],
  );
  const annotations = annotationLines(terminal, report.annotations);
  if (overall.scored === 0) return ["", printable(explainNoScores(report)), ...besides, ...sets, ...annotations];
  return [
    "",
    ...numbersTable(terminal, [
      ...Object.entries(datasets).map(([name, numbers]) => [name, numbers, numbers.agent_only] as const),
      ...(Object.keys(datasets).length > 1 ? [["all", overall, agent_only] as const] : []),
    ]),
    "",
    outcomesLine(report),
    ...besides,
    "",
    ...passTable(terminal, overall),
    "",
    ...head(
      terminal,
      table(
        [
          ["check", "passed", "failed", "not checkable"],
          ...Object.entries(checks).map(([name, facts]) => [
            printableName(name),
            String(facts.passed),
            String(facts.failed),
            String(facts.undecided),
          ]),
        ],
        { right: [1, 2, 3] },
      ),
    ),
    "",
    blameLine(blame),
    ...sets,
    ...annotations,
    ...(scripted ? [terminal.paint("gray", "Scripted models took part: these are no model's numbers.")] : []),
  ];
}

/** What people say, and how far they agree; nothing if nobody says anything. */
export function annotationLines(terminal: Terminal, report: AnnotationReport | undefined): string[] {
  if (!report) return [];
  const { annotators, agreement, tags } = report;
  const rows = annotators.map(({ annotator, accept, reject, unsure, messages, notes }) => [
    cut(annotator, 40),
    ...[accept + reject + unsure, accept, reject, unsure, messages, notes].map(String),
  ]);
  const header = ["annotator", "judged", "accept", "reject", "unsure", "messages", "notes"];
  const pairs = agreement.slice(0, MAX_PAIRS).map((pair) => printableName(describeAgreement(pair)));
  const left = agreement.length - pairs.length;
  const named = tags.slice(0, MAX_TAGS).map(({ tag, rollouts }) => `${tag} ${rollouts}`);
  return [
    "",
    describeAnnotations(report),
    ...head(terminal, table([header, ...rows], { right: [1, 2, 3, 4, 5, 6] })),
    ...pairs,
    ...(left > 0 ? [`and ${left} more pairs in report.json`] : []),
    ...(named.length > 0 ? [printableName(`tags: ${named.join(", ")}${tags.length > MAX_TAGS ? ", …" : ""}`)] : []),
  ];
}

const MAX_PAIRS = 10;
const MAX_TAGS = 10;

/** The queries to look at first, with the command that shows what went wrong; nothing if everything is solved. */
export function worstLines(terminal: Terminal, report: Report): string[] {
  const worst = rankQueries(report).filter(({ passed, scored }) => passed < scored);
  if (worst.length === 0) return [];
  const rows = worst.slice(0, MAX_WORST).map((query) => {
    const failed = query.verdicts.filter(({ pass, blame }) => pass === false && blame !== "infrastructure");
    return [
      cut(printableName(query.query), 40),
      `${query.passed} of ${query.scored}`,
      share(query.success_rate),
      printableName(mostFrequent(failed.flatMap(({ decided_by }) => decided_by))),
      mostFrequent(failed.flatMap(({ blame }) => blame ?? [])),
      showCommand(report, query),
    ];
  });
  return [
    "",
    ...head(terminal, table([["worst queries", "solved", "", "failing check", "blame", "to look"], ...rows])),
  ];
}

const MAX_WORST = 5;

function showCommand({ folder, datasets }: Report, { dataset, query }: RankedQuery): string {
  const own = Object.keys(datasets).length > 1 ? ["--dataset", quote(dataset)] : [];
  return printableName([PROGRAM_COMMAND, "show", quote(folder), "--query", quote(query), "--failed", ...own].join(" "));
}

function mostFrequent(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "–";
}

function outcomesLine({ outcomes, unscored_reasons }: Report): string {
  const unscored = outcomes["not scored"];
  const [reason] = Object.keys(unscored_reasons);
  const why = unscored > 0 && reason ? ` (most often ${oneLine(reason)})` : "";
  return `${outcomes.passed} solved, ${outcomes.failed} not solved, ${unscored} unscored${why}`;
}

export function comparisonLines(terminal: Terminal, { runs, changed, shared_queries, left_out }: Comparison): string[] {
  const rows = runs.map(({ folder, overall }) => [
    printableName(folder),
    String(overall.scored),
    overall.scored === 0 ? "unscored" : share(overall.success_rate),
    interval(overall.success_interval),
    share(overall.avg_at_n),
    outcomeCounts(overall),
  ]);
  const shown = changed.slice(0, 20);
  return [
    "",
    `${shared_queries} queries in all ${runs.length} runs${left_out > 0 ? `, ${left_out} not in all of them` : ""}`,
    ...head(
      terminal,
      table([["run", "scored", "solved", "95 % interval", "avg@n", "always/sometimes/never"], ...rows], {
        right: [1, 2, 4],
      }),
    ),
    ...runs.flatMap(({ difference }) => difference?.words ?? []),
    "",
    `${changed.length} queries changed${changed.length > shown.length ? `; the ${shown.length} that changed most` : ""}`,
    ...head(
      terminal,
      table([
        ["query", "dataset", ...runs.map((_, index) => `run ${index + 1}`)],
        ...shown.map(({ query, dataset, rates }) => [
          cut(printableName(query), 40),
          cut(printableName(dataset), 50),
          ...rates.map(share),
        ]),
      ]),
    ),
  ];
}

function numbersTable(terminal: Terminal, rows: (readonly [string, Numbers, Numbers])[]): string[] {
  const header = [
    "dataset",
    "queries",
    "scored",
    "solved",
    "95 % interval",
    "agent's own",
    "avg@n",
    "always/sometimes/never",
  ];
  const cells = rows.map(([name, numbers, own]) => [
    cut(printableName(name), 60),
    String(numbers.query_count),
    String(numbers.scored),
    numbers.scored === 0 ? "unscored" : share(numbers.success_rate),
    interval(numbers.success_interval),
    share(own.success_rate),
    share(numbers.avg_at_n),
    outcomeCounts(numbers),
  ]);
  return head(terminal, table([header, ...cells], { right: [1, 2, 3, 5, 6] }));
}

function outcomeCounts({ scored, always, wavers, never }: Numbers): string {
  return scored === 0 ? "–" : `${always}/${wavers}/${never}`;
}

function passTable(terminal: Terminal, numbers: Numbers): string[] {
  const rows = Object.keys(numbers.pass_at_k).map((k) => {
    const enough = numbers.queries_with_k[k] ?? 0;
    return [
      k,
      share(numbers.pass_at_k[k] ?? null),
      interval(numbers.pass_at_k_interval[k] ?? null),
      share(numbers.pass_hat_k[k] ?? null),
      interval(numbers.pass_hat_k_interval[k] ?? null),
      enough < numbers.query_count ? `${numbers.query_count - enough} queries have not enough rollouts` : "",
    ];
  });
  return head(
    terminal,
    table([["k", "pass@k", "95 % interval", "pass^k", "95 % interval", ""], ...rows], { right: [0, 1, 3] }),
  );
}

function blameLine(blame: Report["blame"]): string {
  const parts = Object.entries(blame).map(([party, count]) => `${party} ${count}`);
  return parts.length === 0 ? "No rollout failed." : `Failures by whose fault: ${parts.join(", ")}`;
}

function head(terminal: Terminal, [header = "", ...lines]: string[]): string[] {
  return [terminal.paint("bold", header), ...lines];
}

function share(value: number | null): string {
  return value === null ? "–" : `${(value * 100).toFixed(1)} %`;
}

function interval(range: { low: number; high: number } | null): string {
  return range ? `${(range.low * 100).toFixed(1)} – ${(range.high * 100).toFixed(1)} %` : "–";
}
