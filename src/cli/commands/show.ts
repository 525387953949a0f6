// `rollout show`: a run's rollouts with their verdicts, one line each, or one of them as people read it: its tool calls,
// its times, why it stopped and what the checks found.
import { type Blame, countUsedTokens, didYouMean, PROGRAM_COMMAND, readCost, UsageError } from "../../core/index.ts";
import { AnnotationBook, keyText, openRun, type RolloutRecord, readRollouts } from "../../runs/index.ts";
import { collectRun, type RolloutFacts, readScore } from "../../scoring/index.ts";
import { whole } from "../flags.ts";
import type { Configure } from "../host.ts";
import { remarkLines } from "../printing/annotation-text.ts";
import { costText } from "../printing/cost-text.ts";
import { openingLines, timedEntryLines, trajectoryLines } from "../printing/dialogue-text.ts";
import { countVerdicts, rolloutLines, toListed } from "../printing/rollout-list.ts";
import { quote } from "../printing/shell-text.ts";
import {
  count,
  createTerminal,
  duration,
  printable,
  printableJson,
  printableName,
  type Terminal,
} from "../printing/terminal.ts";
import { unplayedLines, verdictLines } from "../printing/verdict-text.ts";

const EXAMPLES = `
Examples:
  rollout show outputs/example                    all rollouts with their verdicts
  rollout show outputs/example --failed --check state
  rollout show outputs/example --query sap-001    all rollouts of that query
  rollout show outputs/example sap-001            one rollout
  rollout show outputs/example 'sap-001#2'        another rollout of that query
  rollout show outputs/example q1 --dataset Library --max-length 200`;

type ListFlags = { failed?: boolean; check?: string; blame?: string; query?: string; limit?: number };
type ShowFlags = ListFlags & { dataset?: string; maxLength: number; json?: boolean };

const MAX_LISTED = 50;
const BLAMED = ["agent", "user", "tool", "judge", "infrastructure"] as const satisfies Blame[];

export const configure: Configure = (command, host, done) => {
  command
    .argument("<folder>")
    .argument("[id]")
    .option("--failed", "list: only what is not solved")
    .option("--check <name>", "list: only where this check failed")
    .option("--blame <who>", `list: only where it is the fault of ${BLAMED.join(", ")}`)
    .option("--query <id>", "list: only rollouts of this query")
    .option("--limit <n>", `list: at most this many (default: ${MAX_LISTED}; all with --json)`, whole(1))
    .option("--dataset <name>", "of this dataset, where there are several")
    .option("--max-length <n>", "longest text that is printed whole", whole(1), 2000)
    .option("--json", "the record as it is; of a list, one object per line")
    .addHelpText("after", EXAMPLES)
    .action((folder: string, id: string | undefined, flags: ShowFlags) => {
      const terminal = createTerminal(host);
      const lines = id === undefined ? listLines(terminal, folder, flags) : showLines(terminal, folder, id, flags);
      for (const line of lines) terminal.out(line);
      done(0);
    });
};

function listLines(terminal: Terminal, folder: string, flags: ShowFlags): string[] {
  const { rollouts, checks, damage } = collectRun(folder);
  for (const sentence of damage) terminal.err(printable(sentence));
  const { manifest } = openRun(folder);
  const evalCommand = `${PROGRAM_COMMAND} eval ${quote(folder)}`;
  if (flags.check !== undefined && checks.size === 0)
    throw new UsageError(`${folder} is not scored yet; to score it: ${evalCommand}`);
  const queries = new Set(rollouts.map(({ queryId }) => queryId));
  refuseUnknown(flags.dataset, Object.keys(manifest.datasets), `${folder} has no dataset`);
  refuseUnknown(flags.check, checks.keys(), `${folder} has no results of a check`);
  refuseUnknown(flags.blame, BLAMED, "There is no party");
  refuseUnknown(flags.query, queries, `${folder} has no rollouts of a query`);
  const wanted = rollouts.filter((facts) => isWanted(facts, flags)).sort(compareKeys);
  const limit = flags.limit ?? (flags.json ? wanted.length : MAX_LISTED);
  const shown = wanted.slice(0, limit);
  if (flags.json) return shown.map((facts) => printableJson(JSON.stringify(toListed(facts))));
  const left = wanted.length - shown.length;
  return [
    ...(wanted.length > 0
      ? rolloutLines(terminal, shown, new Set(rollouts.map(({ dataset }) => dataset)).size > 1)
      : ["No such rollout."]),
    ...(left > 0 ? [`and ${left} more: --limit ${wanted.length} lists all`] : []),
    ...(wanted.length > 0
      ? ["", `${wanted.length} ${wanted.length === 1 ? "rollout" : "rollouts"}: ${countVerdicts(wanted)}`]
      : []),
    ...(rollouts.some(({ verdict }) => verdict === "not scored yet") ? [`To score: ${evalCommand}`] : []),
  ];
}

function refuseUnknown(name: string | undefined, names: Iterable<string>, complaint: string): void {
  const known = [...names];
  if (name === undefined || known.includes(name)) return;
  const some = known.slice(0, MAX_LISTED).join(", ") + (known.length > MAX_LISTED ? ", …" : "");
  throw new UsageError(`${complaint} "${name}"${didYouMean(name, known) || `; there are: ${some}`}`);
}

function isWanted(facts: RolloutFacts, { failed, check, blame, query, dataset }: ShowFlags): boolean {
  const isFailed = facts.pass === false || facts.verdict === "not played";
  return (
    (!failed || isFailed) &&
    (check === undefined || (facts.pass === false && facts.decided_by.includes(check))) &&
    (blame === undefined || facts.blame === blame) &&
    (query === undefined || facts.queryId === query) &&
    (dataset === undefined || facts.dataset === dataset)
  );
}

/** The canonical order of records. */
function compareKeys(a: RolloutFacts, b: RolloutFacts): number {
  return compare(a.dataset, b.dataset) || compare(a.queryId, b.queryId) || a.rollout - b.rollout;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function showLines(terminal: Terminal, folder: string, id: string, flags: ShowFlags): string[] {
  const ofLists = (["failed", "check", "blame", "query", "limit"] as const).find((flag) => flags[flag] !== undefined);
  if (ofLists) throw new UsageError(`--${ofLists} is for the list of all rollouts: leave out the id "${id}"`);
  const onNotice = (sentence: string) => terminal.err(printable(sentence));
  const records = readRollouts(folder, id, { dataset: flags.dataset, onNotice });
  if (records.length === 0) throw new UsageError(`There is no rollout "${id}" in ${folder}`);
  if (flags.json) return records.map((record) => printableJson(JSON.stringify(record.trajectory ?? record)));
  const book = new AnnotationBook(openRun(folder).path);
  if (book.damage !== undefined) onNotice(book.damage);
  return records.flatMap((record) => {
    const { dataset, trajectory } = record;
    const lines = recordLines(terminal, record, flags.maxLength);
    if (!trajectory) return record.failures.length > 0 ? [...lines, ...unplayedLines(terminal)] : lines;
    const { query_id: queryId, rollout, metadata, messages } = trajectory;
    const key = { dataset, queryId, rollout };
    const score = readScore(folder, key, metadata);
    const remarks = book.read(keyText(key));
    return [
      ...lines,
      ...verdictLines(terminal, score, flags.maxLength),
      ...remarkLines(terminal, remarks, { messages, maxLength: flags.maxLength }),
    ];
  });
}

function recordLines(terminal: Terminal, record: RolloutRecord, maxLength: number): string[] {
  const { id, dataset, trajectory, entries, startedAt } = record;
  const dialogue = trajectory
    ? entries.length > 0
      ? [
          ...openingLines(terminal, trajectory, { entries, maxLength }),
          ...timedEntryLines(terminal, entries, { startedAt, maxLength }),
        ]
      : trajectoryLines(terminal, trajectory, maxLength)
    : timedEntryLines(terminal, entries, { startedAt, maxLength });
  return [
    `${terminal.paint("bold", `── ${printableName(id)}`)} (${printableName(dataset)}${formatText(trajectory)})`,
    ...dialogue,
    ...(trajectory ? endLines(trajectory) : [`         not finished: ${entries.length} entries so far`]),
    ...record.failures.map(
      ({ attempt, at, error }) => `         attempt ${attempt} failed at ${at}: ${printableName(error)}`,
    ),
  ];
}

/** What was on the wire, where that is not what is shown. */
function formatText(trajectory: RolloutRecord["trajectory"]): string {
  const { tool_format: agent, user_tool_format: user } = trajectory?.metadata ?? {};
  const told = [agent && `tool_format: ${agent}`, user && `user's tool_format: ${user}`].filter(Boolean);
  return told.map((text) => `, ${printableName(String(text))}`).join("");
}

function endLines({ success, metadata }: NonNullable<RolloutRecord["trajectory"]>): string[] {
  const { stop_reason, blame, message, timings, models, faults, attempt } = metadata;
  const { tokens, scripted } = countUsedTokens(metadata);
  const estimated = scripted > 0 ? ` (and ${count(scripted)} that scripts estimate)` : "";
  const why = [blame && `blame: ${blame}`, message].filter((part) => part !== undefined).join(", ");
  const played = Object.entries(models).map(([party, model]) => `${party} ${model}`);
  return [
    `         stop reason ${stop_reason}${why ? ` (${printableName(why)})` : ""}: ${success ? "a regular end" : "not a regular end"}`,
    `         ${metadata.total_turns} turns, ${metadata.tool_call_count} tool calls (${metadata.tool_error_count} errors), ${count(tokens)} tokens${estimated}, cost ${costText(readCost(metadata), { show: (dollars) => `$${dollars.toFixed(4)}` })}`,
    `         ${timings.started_at} to ${timings.ended_at}, ${duration(timings.duration_ms)}${attempt > 1 ? `, attempt ${attempt}` : ""}`,
    `         ${printableName(played.join(", "))}${metadata.scripted ? " (scripted: no model's output)" : ""}`,
    ...faults.map((fault) => `         fault: ${printable(Object.values(fault).join(", "))}`),
  ];
}
