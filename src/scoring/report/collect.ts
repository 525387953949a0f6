// A run's rollouts with their scores, read from its folder: what a report is made of.
import { join } from "node:path";
import { countUsedTokens, findErrors, type RolloutKey, type StopReason, type Trajectory } from "../../core/index.ts";
import {
  AnnotationBook,
  type DamagedLine,
  FAILURES_FILE,
  type FailureRecord,
  keyText,
  leftOut,
  listRecordFiles,
  openRun,
  readTrajectories,
  recordKeyText,
  scanFailures,
} from "../../runs/index.ts";
import type { ScoreRule, TaskScore } from "../task-score.ts";
import { type CheckScore, TaskScores } from "../task-scores.ts";
import { type AnnotationReport, reportAnnotations } from "./annotations.ts";

/** *unscored*: the checks that ran could not decide. *not played*: it never got past the infrastructure. */
export type VerdictWord = "solved" | "failed" | "unscored" | "not scored yet" | "not played";

export type RolloutFacts = RolloutKey &
  TaskScore & {
    verdict: VerdictWord;
    stopReason: StopReason;
    turns: number;
    toolCalls: number;
    /** null: not known */
    costUsd: number | null;
    tokens: number;
  };

export type ToolFacts = { calls: number; errors: number };
export type CheckFacts = { version: number; passed: number; failed: number; undecided: number };

export type Collected = {
  folder: string;
  rule: ScoreRule;
  scores: TaskScores;
  rollouts: RolloutFacts[];
  tools: Map<string, ToolFacts>;
  checks: Map<string, CheckFacts>;
  agents: Set<string>;
  scripted: boolean;
  /** models whose calls have no known cost */
  unpriced: Set<string>;
  /** what is damaged and left out, one sentence for each file */
  damage: string[];
  annotations: AnnotationReport | undefined;
};

type RecordFile = { dataset: string; file: string };

export type CollectOptions = {
  /** they hold the records, where the folder is not a run's */
  files?: RecordFile[];
  /** the only checks that count */
  only?: readonly string[];
  /** one more was read */
  onRecord?: () => void;
};

export function collectRun(
  folder: string,
  rule?: ScoreRule,
  { files, only, onRecord }: CollectOptions = {},
): Collected {
  const sources = files ?? listRecordFiles(folder, openRun(folder).manifest);
  const scores = new TaskScores(folder, rule, only);
  const book = new AnnotationBook(folder);
  const collected: Collected = {
    folder,
    rule: scores.rule,
    scores,
    rollouts: [],
    tools: new Map(),
    checks: new Map(),
    agents: new Set(),
    scripted: false,
    unpriced: new Set(),
    damage: [scores.damage, book.damage].filter((damage) => damage !== undefined),
    annotations: undefined,
  };
  const tell = (sentence: string) => collected.damage.push(sentence);
  const found = new Set<string>();
  for (const { dataset, file } of sources) {
    for (const { trajectory: record } of readTrajectories(file, dataset, tell)) {
      onRecord?.();
      if (record.dataset === undefined || record.dataset === dataset) add(record, dataset);
    }
  }
  collected.annotations = reportAnnotations(book.remarks, found);
  if (!files) addFailures();
  return collected;

  function add(record: Trajectory, dataset: string): void {
    const { query_id: queryId, rollout, metadata } = record;
    const key = keyText({ dataset, queryId, rollout });
    if (found.has(key)) return;
    found.add(key);
    const results = scores.resultsOf(key);
    const task = scores.scoreOf(key, metadata);
    for (const result of results) countCheck(collected.checks, result);
    countTools(record, collected.tools);
    collected.agents.add(metadata.models.agent);
    collected.scripted ||= metadata.scripted;
    for (const model of metadata.cost_unknown_of ?? []) collected.unpriced.add(model);
    collected.rollouts.push({
      dataset,
      queryId,
      rollout,
      ...task,
      evidence: task.evidence ?? (task.pass === null ? whyUnscored(results) : undefined),
      verdict: verdictOf(task, results.length > 0),
      stopReason: metadata.stop_reason,
      turns: metadata.total_turns,
      toolCalls: metadata.tool_call_count,
      costUsd: metadata.cost_usd,
      tokens: countUsedTokens(metadata).tokens,
    });
  }

  /** Rollouts that never got a record: failed, and only the infrastructure is to blame. */
  function addFailures(): void {
    const latest = new Map<string, FailureRecord>();
    const file = join(folder, FAILURES_FILE);
    const damaged: DamagedLine[] = [];
    scanFailures(
      file,
      (failure) => latest.set(recordKeyText(failure), failure),
      (line) => damaged.push(line),
    );
    if (damaged.length > 0) tell(leftOut(file, damaged));
    for (const [key, { dataset, query_id: queryId, rollout, error }] of latest) {
      if (found.has(key)) continue;
      collected.rollouts.push({
        ...{ dataset, queryId, rollout },
        pass: scores.isEmpty ? null : false,
        score: scores.isEmpty ? null : 0,
        decided_by: [],
        blame: "infrastructure",
        evidence: error,
        verdict: "not played",
        stopReason: "infrastructure",
        ...UNPLAYED,
      });
    }
  }
}

export function verdictOf({ pass }: Pick<TaskScore, "pass">, isChecked: boolean): VerdictWord {
  if (pass === null) return isChecked ? "unscored" : "not scored yet";
  return pass ? "solved" : "failed";
}

/** The reason that most checks give for not deciding, with their names. */
export function whyUnscored(results: Iterable<Pick<CheckScore, "check" | "pass" | "reason">>): string | undefined {
  const checks = new Map<string, string[]>();
  for (const { check, pass, reason } of results)
    if (pass === null) checks.set(reason, [...(checks.get(reason) ?? []), check]);
  const [most] = [...checks].sort(([, a], [, b]) => b.length - a.length);
  return most && `${most[1].join(", ")}: ${most[0]}`;
}

const UNPLAYED = { turns: 0, toolCalls: 0, costUsd: 0, tokens: 0 };

function countCheck(checks: Map<string, CheckFacts>, { check, version, pass }: CheckScore): void {
  const facts = checks.get(check) ?? { version, passed: 0, failed: 0, undecided: 0 };
  checks.set(check, facts);
  facts.version = Math.max(facts.version, version);
  facts[pass === null ? "undecided" : pass ? "passed" : "failed"]++;
}

function countTools(record: Trajectory, tools: Map<string, ToolFacts>): void {
  const names = new Map<string, string>();
  const errors = findErrors(record);
  for (const message of record.messages) {
    if (message.role === "assistant")
      for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
    if (message.role !== "tool") continue;
    const name = names.get(message.tool_call_id);
    if (name === undefined) continue;
    const facts = tools.get(name) ?? { calls: 0, errors: 0 };
    tools.set(name, facts);
    facts.calls++;
    if (errors.has(message.tool_call_id)) facts.errors++;
  }
}
