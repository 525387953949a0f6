// A run's rollouts, one line each.
import { rolloutId } from "../../core/index.ts";
import type { RolloutFacts, VerdictWord } from "../../scoring/index.ts";
import { cut, fitWidth, printableName, type Terminal, table } from "./terminal.ts";
import { oneLine, VERDICT_STYLES } from "./verdict-text.ts";

/** Where there is no screen whose width counts. */
const PIPED_WIDTH = 240;

export function rolloutLines(terminal: Terminal, rollouts: readonly RolloutFacts[], hasDatasets: boolean): string[] {
  const rows = rollouts.map((facts) => [
    cut(printableName(rolloutId(facts)), 40),
    ...(hasDatasets ? [cut(printableName(facts.dataset), 30)] : []),
    printableName(facts.stopReason),
    terminal.paint(VERDICT_STYLES[facts.verdict], facts.verdict),
    facts.score === null || facts.verdict === "not played" ? "–" : facts.score.toFixed(2),
    facts.blame ?? "–",
    cut(printableName(facts.decided_by.join(", ")), 40) || "–",
    oneLine(facts.evidence ?? ""),
  ]);
  const header = [
    "rollout",
    ...(hasDatasets ? ["dataset"] : []),
    "stop reason",
    "verdict",
    "score",
    "blame",
    "decided by",
    "evidence",
  ];
  const width = terminal.interactive ? terminal.columns() : PIPED_WIDTH;
  const [head = "", ...lines] = table([header, ...rows]).map((line) => fitWidth(line, width));
  return [terminal.paint("bold", head), ...lines];
}

/** As one JSON object. */
export function toListed(facts: RolloutFacts): object {
  const { dataset, queryId, rollout, verdict, pass, score, decided_by, blame, evidence, stopReason } = facts;
  const key = { id: rolloutId(facts), dataset, query_id: queryId, rollout };
  return { ...key, verdict, pass, score, decided_by, blame, evidence, stop_reason: stopReason };
}

export function countVerdicts(rollouts: readonly RolloutFacts[]): string {
  const counts = (Object.keys(VERDICT_STYLES) as VerdictWord[]).flatMap((word) => {
    const number = rollouts.filter(({ verdict }) => verdict === word).length;
    return number > 0 ? [`${number} ${word}`] : [];
  });
  return counts.join(", ");
}
