// One dialogue with all its evidence: the record, or what there is of one that is still played; the prompts that were
// sent, the entries with their times, the checks. Only what belongs to it is read from the files.
import { statSync } from "node:fs";
import { join } from "node:path";
import {
  countUsedTokens,
  findErrors,
  isObject,
  messageOf,
  type RolloutKey,
  redactDeep,
  redactText,
  rolloutId,
  type Trajectory,
  writeExact,
} from "../../core/index.ts";
import { faultsOf, toMessages, toOtherCalls, toSummaries } from "../../dialogue/index.ts";
import { readExtents } from "../../files/index.ts";
import {
  FAILURES_FILE,
  type FailureRecord,
  keyText,
  type RecordedAttempt,
  readTrajectory,
  recordKeyText,
  scanFailures,
  writerOf,
} from "../../runs/index.ts";
import { openStoredQueries, whyUnscored } from "../../scoring/index.ts";
import type { DialogueState, DialogueView, ToolView } from "../api.ts";
import type { RunIndex } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";
import { toCheckView } from "./checks.ts";
import { describeFault } from "./fault-words.ts";
import { areEntriesOf, type Told, toMoments } from "./moments.ts";
import { statesIn } from "./states.ts";

/** Undefined if the run has no such rollout. */
export function toDialogueView({ index }: NamedRun, dataset: string, id: string): DialogueView | undefined {
  const key = index.find(dataset, id);
  const { scores } = index;
  if (!key || !scores) return undefined;
  const text = keyText(key);
  const notes: string[] = [];
  const { trajectory, attempt, told } = readDialogue(index, key, notes);
  const { moments } = toMoments(told);
  const metadata = trajectory?.metadata;
  const failure = index.failures.get(text);
  const results = tryTo(() => scores.readDetails(text), "Its scores", notes) ?? [];
  const task = scores.scoreOf(text, metadata ?? { stop_reason: "infrastructure" });
  const state = stateOf(index, key, attempt);
  const promptOf = (hash: string | undefined) =>
    tryTo(() => index.prompts.find(hash), "Its prompt and tools, which are in prompts.jsonl,", notes);
  const system = promptOf(metadata?.system_hash);
  return redactDeep({
    ...{ dataset, id, queryId: key.queryId, rollout: key.rollout, state },
    moments,
    facts: trajectory && factsOf(trajectory, told.opening),
    startedAt: attempt.start?.at ?? metadata?.timings.started_at,
    system: typeof system === "string" ? system : undefined,
    tools: toolsOf(promptOf(metadata?.tools_hash)),
    userTools: toolsOf(promptOf(metadata?.user_tools_hash)),
    faults: told.faults.map((fault) => ({
      text: describeFault(fault).text,
      message: moments.find(({ calls }) => calls.some((call) => call.id === fault.call_id))?.message,
    })),
    failures: failure ? (tryTo(() => readFailuresOf(index, failure), "Earlier failures", notes) ?? [failure]) : [],
    checks: results.map((result) => toCheckView(result, moments)),
    verdict: index.row(key)?.verdict ?? (failure && state === "failed" ? "not played" : "not scored yet"),
    score: task.score,
    decidedBy: task.decided_by,
    blame: task.blame ?? metadata?.blame,
    evidence: task.evidence ?? (task.pass === null ? whyUnscored(results) : undefined),
    states: statesIn(results, index.path),
    siblings: index.siblings(key).map((other) => ({
      id: rolloutId(other),
      verdict: index.row(other)?.verdict ?? "not scored yet",
      state: stateOf(index, other),
      stopReason: index.row(other)?.stopReason ?? "",
    })),
    notes,
  } satisfies DialogueView);
}

/** A part of the evidence that cannot be read is said once, and the rest is shown. */
function tryTo<T>(read: () => T, what: string, notes: string[]): T | undefined {
  try {
    return read();
  } catch (error) {
    const note = `${what} cannot be read: ${messageOf(error)}.`;
    if (!notes.includes(note)) notes.push(note);
    return undefined;
  }
}

/** One of the texts that were sent only in part. */
export function toLongText(
  { index }: NamedRun,
  { dataset, id, number }: { dataset: string; id: string; number: number },
): { text: string } | undefined {
  const key = index.find(dataset, id);
  const text = key && toMoments(readDialogue(index, key, []).told).long[number];
  return text === undefined ? undefined : { text: redactText(text) };
}

type ReadDialogue = { trajectory: Trajectory | undefined; attempt: RecordedAttempt; told: Told };

function readDialogue(index: RunIndex, key: RolloutKey, notes: string[]): ReadDialogue {
  const trajectory = readRecord(index, key, notes);
  const attempt = readAttemptOf(index, key, notes);
  const { entries } = attempt;
  const startedAt = attempt.start?.at;
  if (!trajectory) {
    const query = entries.length > 0 || index.attempts.has(key) ? findQuery(index, key) : undefined;
    const { messages: opening = [], setup } = query ?? {};
    if (!query) notes.push("How the query begins is not shown: its file is not there any more, or it is too large.");
    const parts = { messages: [...opening], setup };
    return {
      trajectory,
      attempt,
      told: {
        messages: toMessages(opening, entries),
        opening: opening.length,
        others: toOtherCalls(parts, entries),
        summaries: toSummaries(opening, entries),
        entries,
        faults: faultsOf(entries, { messages: [...opening] }),
        errors: new Set(),
        startedAt,
      },
    };
  }
  const { messages, metadata } = trajectory;
  const isSame = entries.length > 0 && areEntriesOf(messages, entries);
  if (!isSame)
    notes.push(
      entries.length === 0
        ? "Times and tokens of each message, and replies that were not used, are not shown: the run has no journal of it."
        : "Times and tokens of each message are not shown: the journal does not fit the record.",
    );
  return {
    trajectory,
    attempt,
    told: {
      messages,
      opening: isSame ? messages.length - toMessages([], entries).length : (metadata.opening_messages ?? 0),
      others: trajectory.other_calls ?? [],
      summaries: trajectory.summaries ?? [],
      entries: isSame ? entries : [],
      faults: metadata.faults ?? [],
      errors: findErrors(trajectory),
      startedAt,
    },
  };
}

function readRecord(index: RunIndex, key: RolloutKey, notes: string[]): Trajectory | undefined {
  const row = index.row(key);
  if (!row) return undefined;
  try {
    for (const bytes of readExtents(row.place.file, [row.place])) {
      const read = readTrajectory(bytes, key.dataset);
      if (typeof read === "string") notes.push(`The record cannot be read: its line ${read}.`);
      if (typeof read !== "object" || keyText(keyOf(read.trajectory, key.dataset)) !== keyText(key)) break;
      if (read.changed) notes.push("The record was changed after it was written: it does not match its checksum.");
      return read.trajectory;
    }
  } catch (error) {
    notes.push(`The record cannot be read: ${messageOf(error)}.`);
  }
  return undefined;
}

function keyOf({ dataset, query_id, id, rollout }: Trajectory, name: string): RolloutKey {
  return { dataset: dataset ?? name, queryId: query_id ?? id, rollout: rollout ?? 0 };
}

function readAttemptOf(index: RunIndex, key: RolloutKey, notes: string[]): RecordedAttempt {
  try {
    return index.attempts.read(key);
  } catch (error) {
    notes.push(`The journal cannot be read: ${messageOf(error)}.`);
    return { entries: [] };
  }
}

const MAX_QUERY_BYTES = 64 << 20;
const queries = new WeakMap<RunIndex, { [dataset: string]: ReturnType<typeof openStoredQueries> }>();

/** From the dataset's files, which are where the run's manifest says, if they still are. */
function findQuery(index: RunIndex, { dataset, queryId }: RolloutKey) {
  const known = queries.get(index) ?? {};
  queries.set(index, known);
  try {
    const stored = index.manifest?.datasets[dataset];
    const { query_files = [] } = (stored?.source ?? {}) as { query_files?: string[] };
    const isLarge = query_files.some(
      (file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_QUERY_BYTES,
    );
    if (stored && !isLarge) known[dataset] ??= openStoredQueries(stored);
    return known[dataset]?.(queryId);
  } catch {
    return undefined; // gone, or not what it was
  }
}

/** Whether it is over, and how. */
function stateOf(index: RunIndex, key: RolloutKey, attempt?: RecordedAttempt): DialogueState {
  if (index.row(key)) return "finished";
  if (index.tally.isRunning(key)) return writerOf(index.path) ? "running" : "cut off";
  const end = attempt?.end?.outcome.stopReason;
  return index.failures.has(keyText(key)) || end === "infrastructure" ? "failed" : "cut off";
}

function readFailuresOf(index: RunIndex, latest: FailureRecord): FailureRecord[] {
  if (latest.attempt <= 1) return [latest];
  const all: FailureRecord[] = [];
  scanFailures(join(index.path, FAILURES_FILE), (failure) => {
    if (recordKeyText(failure) === recordKeyText(latest)) all.push(failure);
  });
  return all;
}

function factsOf(trajectory: Trajectory, opening: number): NonNullable<DialogueView["facts"]> {
  const { success, metadata } = trajectory;
  const { tokens, scripted: scriptedTokens } = countUsedTokens(metadata);
  const { timings, models } = metadata;
  return {
    stopReason: metadata.stop_reason,
    ended: success,
    blame: metadata.blame ?? "",
    message: metadata.message,
    turns: metadata.total_turns,
    toolCalls: metadata.tool_call_count,
    toolErrors: metadata.tool_error_count,
    tokens,
    scriptedTokens,
    costUsd: metadata.cost_usd,
    seconds: timings.duration_ms / 1000,
    startedAt: timings.started_at,
    endedAt: Date.parse(timings.ended_at) || 0,
    models: models as { [party: string]: string },
    mode: metadata.mode,
    seed: metadata.seed,
    attempt: metadata.attempt,
    scripted: metadata.scripted,
    opening,
  };
}

function toolsOf(list: unknown): ToolView[] {
  return (Array.isArray(list) ? list : []).map((tool) => {
    const called = isObject(tool.function) ? tool.function : tool;
    const { name, description, parameters } = called;
    return {
      name: String(name ?? ""),
      description: typeof description === "string" ? description : "",
      parameters: parameters === undefined ? "" : writeExact(parameters),
    };
  });
}
