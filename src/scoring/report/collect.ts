// A run's rollouts with their scores, read from its folder: what a report is made of.
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type Blame,
  isObject,
  parseJson,
  type RolloutKey,
  type StopReason,
  type Trajectory,
  UsageError,
} from "../../core/index.ts";
import { type FailureRecord, keyText, type Manifest, readManifest, recordFiles, scanLines } from "../../runs/index.ts";
import { isErrorText } from "../dialogue.ts";
import { SCORES_FILE, type ScoreRecord, scanScores, scoreKey } from "../scores.ts";
import { type ScoreRule, taskScore } from "../task-score.ts";

export type RolloutFacts = RolloutKey & {
  pass: boolean | null;
  score: number | null;
  blame?: Blame;
  evidence?: string;
  stopReason: StopReason;
  turns: number;
  toolCalls: number;
  costUsd: number;
  tokens: number;
};

export type ToolFacts = { calls: number; errors: number };
export type CheckFacts = { version: number; passed: number; failed: number; undecided: number };

export type Collected = {
  folder: string;
  manifest: Manifest;
  rollouts: RolloutFacts[];
  tools: Map<string, ToolFacts>;
  checks: Map<string, CheckFacts>;
  agents: Set<string>;
  scripted: boolean;
};

export function collectRun(folder: string, rule?: ScoreRule): Collected {
  const manifest = readManifest(join(folder, "manifest.json"));
  if (!manifest) throw new UsageError(`${folder} is not a run folder: it has no manifest.json`);
  const collected: Collected = {
    folder,
    manifest,
    rollouts: [],
    tools: new Map(),
    checks: new Map(),
    agents: new Set(),
    scripted: false,
  };
  const scores = readResults(join(folder, SCORES_FILE));
  const found = new Set<string>();
  for (const [dataset, { output }] of Object.entries(manifest.datasets)) {
    for (const file of recordFiles(folder, dataset, output)) {
      scanLines(file, ({ bytes, number }) => {
        const record = parseJson(bytes.toString("utf8")) as Trajectory | undefined;
        if (!isObject(record) || !isObject(record.metadata)) {
          throw new UsageError("this line is not a trajectory", { file, line: number });
        }
        if (record.dataset !== undefined && record.dataset !== dataset) return;
        add(record as Trajectory, dataset);
      });
    }
  }
  addFailures();
  return collected;

  function add(record: Trajectory, dataset: string): void {
    const { metadata } = record;
    const key = keyText({ dataset, queryId: record.query_id, rollout: record.rollout });
    if (found.has(key)) return;
    found.add(key);
    const results = scores.get(key) ?? [];
    for (const result of results) countCheck(collected.checks, result);
    countTools(record, collected.tools);
    collected.agents.add(metadata.models.agent);
    collected.scripted ||= metadata.scripted;
    collected.rollouts.push({
      dataset,
      queryId: record.query_id,
      rollout: record.rollout,
      ...taskScore(results, metadata, rule),
      stopReason: metadata.stop_reason,
      turns: metadata.total_turns,
      toolCalls: metadata.tool_call_count,
      costUsd: metadata.cost_usd,
      tokens: Object.values(metadata.usage).reduce((sum, usage) => sum + usage.input_tokens + usage.output_tokens, 0),
    });
  }

  /** Rollouts that never came to a record: failed, and nobody's fault but the machinery's. */
  function addFailures(): void {
    const latest = new Map<string, FailureRecord>();
    const file = join(folder, "failures.jsonl");
    scanLines(existsSync(file) ? file : "", ({ bytes }) => {
      const failure = parseJson(bytes.toString("utf8")) as FailureRecord | undefined;
      if (failure)
        latest.set(keyText({ dataset: failure.dataset, queryId: failure.query_id, rollout: failure.rollout }), failure);
    });
    for (const [key, { dataset, query_id, rollout, error }] of latest) {
      if (found.has(key)) continue;
      collected.rollouts.push({
        dataset,
        queryId: query_id,
        rollout,
        pass: scores.size > 0 ? false : null,
        score: scores.size > 0 ? 0 : null,
        blame: "infrastructure",
        evidence: error,
        stopReason: "infrastructure",
        turns: 0,
        toolCalls: 0,
        costUsd: 0,
        tokens: 0,
      });
    }
  }
}

type Result = Pick<ScoreRecord, "check" | "version" | "pass" | "score" | "reason" | "blame">;

/** The latest result of each check, without what a report does not show. */
function readResults(file: string): Map<string, Result[]> {
  const scores = new Map<string, Result[]>();
  scanScores(file, (score) => {
    const { check, version, pass, score: value, blame } = score;
    const reason = pass === true ? "" : score.reason.slice(0, LONGEST_REASON);
    const result: Result = { check, version, pass, score: value, reason, ...(blame ? { blame } : {}) };
    const key = scoreKey(score);
    const own = scores.get(key);
    const before = own?.findIndex((other) => other.check === check) ?? -1;
    if (!own) scores.set(key, [result]);
    else if (before === -1) own.push(result);
    else own[before] = result;
  });
  return scores;
}

const LONGEST_REASON = 300;

function countCheck(checks: Map<string, CheckFacts>, { check, version, pass }: Result): void {
  const facts = checks.get(check) ?? { version, passed: 0, failed: 0, undecided: 0 };
  checks.set(check, facts);
  facts.version = Math.max(facts.version, version);
  facts[pass === null ? "undecided" : pass ? "passed" : "failed"]++;
}

function countTools({ messages }: Trajectory, tools: Map<string, ToolFacts>): void {
  const names = new Map<string, string>();
  for (const message of messages) {
    if (message.role === "assistant")
      for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
    if (message.role !== "tool") continue;
    const name = names.get(message.tool_call_id);
    if (name === undefined) continue;
    const facts = tools.get(name) ?? { calls: 0, errors: 0 };
    tools.set(name, facts);
    facts.calls++;
    if (isErrorText(message.content)) facts.errors++;
  }
}
