// A rollout's verdict as people read it: the word, who decided, whose fault it is, then what each check found.
import { isObject, type Json, type JsonObject } from "../../core/index.ts";
import type { RolloutScore, ScoreRecord, VerdictWord } from "../../scoring/index.ts";
import { wrap } from "./dialogue-text.ts";
import { cut, printable, printableName, type Style, type Terminal } from "./terminal.ts";

export const VERDICT_STYLES: { [verdict in VerdictWord]: Style } = {
  solved: "green",
  failed: "red",
  unscored: "yellow",
  "not scored yet": "gray",
  "not played": "gray",
};

const MARGIN = 9;
const MAX_FINDINGS = 10;
const MAX_FINDING = 400;

export function verdictLines(terminal: Terminal, score: RolloutScore, maxLength: number): string[] {
  const { verdict, decided_by, blame, evidence, results } = score;
  const facts = [
    ...(score.score === null ? [] : [`score ${score.score.toFixed(2)}`]),
    ...(decided_by.length > 0 ? [`decided by ${decided_by.join(", ")}`] : []),
  ];
  const why = blame ? `blame: ${blame} (${evidence ?? ""})` : verdict === "unscored" ? (evidence ?? "") : "";
  return [
    headLine(terminal, verdict, facts),
    ...(why === "" ? [] : indent(terminal, cut(oneLine(why), maxLength), " ".repeat(MARGIN))),
    ...results.flatMap((result) => resultLines(terminal, result, maxLength)),
  ];
}

/** Of a rollout that has no record, only failures. */
export function unplayedLines(terminal: Terminal): string[] {
  return [headLine(terminal, "not played", ["blame: infrastructure"])];
}

function headLine(terminal: Terminal, verdict: VerdictWord, facts: string[]): string {
  const words = [terminal.paint(VERDICT_STYLES[verdict], verdict), ...facts.map(printable)];
  return `${terminal.paint("bold", "verdict".padStart(MARGIN - 2))}  ${words.join(", ")}`;
}

const MARKS: { [pass: string]: { mark: string; style: Style } } = {
  true: { mark: "pass", style: "green" },
  false: { mark: "fail", style: "red" },
  null: { mark: "–", style: "gray" },
};

function resultLines(terminal: Terminal, result: ScoreRecord, maxLength: number): string[] {
  const { mark, style } = MARKS[String(result.pass)] as { mark: string; style: Style };
  const name = printableName(result.check).padEnd(12);
  const lines = [
    ...printable(cut(result.reason, maxLength)).split("\n"),
    ...(result.pass === true ? [] : findingsOf(result).map(printable)),
  ];
  const below = " ".repeat(MARGIN + name.length + 1);
  const [first = "", ...rest] = lines.flatMap((line) => indent(terminal, line, below));
  return [`${terminal.paint(style, mark.padStart(MARGIN - 2))}  ${name} ${first.trimStart()}`, ...rest];
}

/** What `details` has beyond the reason: one line for each item of its lists. */
function findingsOf({ reason, details }: ScoreRecord): string[] {
  if (!isObject(details)) return [];
  const findings = Object.entries(details).flatMap(([kind, items]) =>
    Array.isArray(items) && !NOT_FINDINGS.includes(kind)
      ? items
          .map(describe)
          .filter((text) => !reason.includes(text))
          .map((text) => `${kind}: ${cut(text, MAX_FINDING)}`)
      : [],
  );
  const left = findings.length - MAX_FINDINGS;
  return left > 0 ? [...findings.slice(0, MAX_FINDINGS), `and ${left} more in scores.jsonl`] : findings;
}

/** Lists of what was expected, or of words that the reason explains. */
const NOT_FINDINGS = ["facts", "kinds", "at"];

function describe(item: Json): string {
  if (Array.isArray(item)) return item.map(toText).join(" or ");
  if (!isObject(item)) return toText(item);
  const isCall = "name" in item && "arguments" in item;
  const { at: _at, ...members } = item as JsonObject; // the number of a message, for the page
  return Object.values(members)
    .map(toText)
    .join(isCall ? " " : ": ");
}

function toText(value: Json): string {
  return typeof value === "string" ? oneLine(value) : JSON.stringify(value);
}

export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, " ").trim();
}

function indent(terminal: Terminal, text: string, margin: string): string[] {
  const width = Math.max(40, Math.min(terminal.columns(), 120) - margin.length);
  return wrap(text, width).map((line) => margin + line);
}
