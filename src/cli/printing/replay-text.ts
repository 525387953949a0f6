// What `rollout replay` prints: what became of the records, and the first difference as a person can follow it.
import type { Difference, ReplayedRun } from "../../runner/index.ts";
import { cut, printable, printableName, type Terminal, table } from "./terminal.ts";

export function replayLines(terminal: Terminal, { folder, records, calls, differences, first }: ReplayedRun): string[] {
  const { left, ...ended } = records;
  const count = Object.values(ended).reduce((sum, number) => sum + number, 0);
  const agree = count === ended.agree ? "all agree" : fateText(ended);
  const trusted = calls.trusted > 0 ? `, ${calls.trusted} trusted, not executed` : "";
  const begun = `${folder}: ${count} records, ${calls.made} calls made again${trusted}`;
  const lines = [terminal.paint("bold", printableName(count === 0 ? `${folder}: no records` : `${begun}: ${agree}`))];
  if (left > 0) lines.push(`Stopped; ${left} records were not replayed`);
  if (!first) return lines;
  lines.push("", `The first: ${printableName(headOf(first))}`, ...table(detailsOf(first)).map((line) => `  ${line}`));
  const rows = differences.map(({ dataset, kind, count }) => [dataset, KINDS[kind], String(count)]);
  return [...lines, "", "In all:", ...table(rows, { right: [2] }).map((line) => `  ${printable(line)}`)];
}

const KINDS: { [kind in Difference["kind"]]: string } = {
  result: "results differ",
  state: "final states differ",
  unreachable: "not executed",
};

function fateText({ agree, differ, trusted, unreachable }: Omit<ReplayedRun["records"], "left">): string {
  const fates = [
    [agree, "agree"],
    [differ, "differ"],
    [trusted, "trusted, not executed"],
    [unreachable, "could not be executed"],
  ] as const;
  return fates
    .filter(([number]) => number > 0)
    .map(([number, text]) => `${number} ${text}`)
    .join("; ");
}

function headOf(first: Difference): string {
  const record = `${first.id} of ${first.dataset}`;
  if (first.kind === "result") return `${record}, call ${first.call}, ${first.tool}`;
  return first.kind === "state" ? `${record}, its final state` : `${record} was not executed: ${first.reason}`;
}

function detailsOf(first: Difference): string[][] {
  if (first.kind === "unreachable") return [];
  if (first.kind === "state") {
    const changes = Object.entries(first.changes).flatMap(([name, rows]) =>
      Object.entries(rows).map(([id, row]) => `${name} ${id} ${row === null ? "deleted" : JSON.stringify(row)}`),
    );
    return [
      ["recorded", `${first.recorded} (a record holds only a hash of its state, so the fields are not known)`],
      ["now", first.now],
      ...(changes.length > 0 ? changes : ["nothing"])
        .slice(0, MAX_CHANGES)
        .map((text, index) => [index === 0 ? "changed now" : "", oneLine(cut(text, MAX_SHOWN))]),
    ];
  }
  const { recorded, now } = first;
  const at = firstDifference(recorded.content, now.content);
  return [
    ["arguments", oneLine(cut(first.arguments, MAX_SHOWN))],
    ["recorded", answerText(recorded, at)],
    ["now", answerText(now, at)],
  ];
}

const MAX_CHANGES = 5;
const MAX_SHOWN = 200;
const LEAD = 60;

/** From shortly before the first difference, so that a long result shows it. */
function answerText({ content, isError }: { content: string; isError: boolean }, at: number): string {
  const from = at > MAX_SHOWN - LEAD ? at - LEAD : 0;
  const shown = `${from > 0 ? "…" : ""}${cut(content.slice(from), MAX_SHOWN)}`;
  return oneLine(`${isError ? "(error) " : ""}${shown}`);
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function oneLine(text: string): string {
  return printable(text).replace(/\n/g, "⏎");
}
