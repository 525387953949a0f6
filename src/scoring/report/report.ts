// A run's results as one object: `report.json`. Overall, by dataset and by query; with every failed rollout, and
// without those that were not the agent's fault.
import { type Blame, mean } from "../../core/index.ts";
import { type Numbers, numbersOf, type QueryNumbers, queryNumbers, type Tally } from "../numbers.ts";
import type { ScoreRule } from "../task-score.ts";
import {
  type CheckFacts,
  type Collected,
  collectRun,
  type RecordFile,
  type RolloutFacts,
  type ToolFacts,
} from "./collect.ts";

export type QueryReport = QueryNumbers & { blame: { [party in Blame]?: number } };
type Failure = { id: string; dataset: string; blame: Blame; evidence: string };

export type Report = {
  format_version: 1;
  folder: string;
  agents: string[];
  /** scripted models took part: the numbers say nothing about any model */
  scripted: boolean;
  score_rule: ScoreRule;
  /** in words, for quoting the numbers */
  method: string;
  overall: Numbers;
  /** without rollouts that failed through no fault of the agent */
  agent_only: Numbers;
  datasets: { [name: string]: Numbers & { agent_only: Numbers; queries: { [id: string]: QueryReport } } };
  checks: { [name: string]: CheckFacts };
  /** failed rollouts, by whose fault it was */
  blame: { [party in Blame]?: number };
  failures: Failure[];
  stop_reasons: { [reason: string]: number };
  outcomes: { passed: number; failed: number; "not scored": number };
  turns: { [turns: string]: number };
  tool_calls: { [calls: string]: number };
  tools: { [name: string]: ToolFacts };
  /** by query: what its rollouts cost and score on average */
  costs: { dataset: string; query: string; cost_usd: number; tokens: number; score: number | null }[];
};

const METHOD =
  "pass@k = 1 - C(n-c,k)/C(n,k) and pass^k = C(c,k)/C(n,k), means over the queries that have k scored rollouts; avg@n = mean over queries of the mean task score; 95 % intervals clustered by query (cluster-robust for shares of rollouts, ordinary for means over queries, Student's t; Wilson over queries where nothing varies).";

const MAX_FAILURES = 200;

/** `rule` replaces the one that the run's config names; `files` hold the records, where the folder is not a run's. */
export function buildReport(folder: string, rule?: ScoreRule, files?: RecordFile[]): Report {
  return reportOf(collectRun(folder, rule, files));
}

function reportOf(run: Collected): Report {
  const byQuery = groupByQuery(run.rollouts);
  const tallies = (read: (facts: RolloutFacts[]) => Tally) => [...byQuery.values()].map(({ facts }) => read(facts));
  const names = [...new Set(run.rollouts.map(({ dataset }) => dataset))];
  const failed = run.rollouts.filter(({ pass }) => pass === false);
  return {
    format_version: 1,
    folder: run.folder,
    agents: [...run.agents],
    scripted: run.scripted,
    score_rule: run.rule,
    method: METHOD,
    overall: numbersOf(tallies(tallyOf)),
    agent_only: numbersOf(tallies(agentTally)),
    datasets: Object.fromEntries(
      names.map((name) => {
        const own = [...byQuery.values()].filter(({ dataset }) => dataset === name);
        const queries = Object.fromEntries(own.map(({ query, facts }) => [query, queryReport(facts)]));
        const all = numbersOf(own.map(({ facts }) => tallyOf(facts)));
        return [name, { ...all, agent_only: numbersOf(own.map(({ facts }) => agentTally(facts))), queries }];
      }),
    ),
    checks: Object.fromEntries(run.checks),
    blame: countBy(
      run.rollouts.filter(({ blame }) => blame !== undefined),
      ({ blame }) => blame as Blame,
    ),
    failures: failed.slice(0, MAX_FAILURES).map(toFailure),
    stop_reasons: countBy(run.rollouts, ({ stopReason }) => stopReason),
    outcomes: {
      passed: run.rollouts.filter(({ pass }) => pass === true).length,
      failed: failed.length,
      "not scored": run.rollouts.filter(({ pass }) => pass === null).length,
    },
    turns: countBy(run.rollouts, ({ turns }) => String(turns)),
    tool_calls: countBy(run.rollouts, ({ toolCalls }) => String(toolCalls)),
    tools: Object.fromEntries([...run.tools].sort(([, a], [, b]) => b.calls - a.calls)),
    costs: [...byQuery.values()].map(({ dataset, query, facts }) => ({
      dataset,
      query,
      cost_usd: mean(facts.map(({ costUsd }) => costUsd)) ?? 0,
      tokens: mean(facts.map(({ tokens }) => tokens)) ?? 0,
      score: mean(facts.flatMap(({ score }) => (score === null ? [] : [score]))),
    })),
  };
}

type QueryGroup = { dataset: string; query: string; facts: RolloutFacts[] };

function groupByQuery(rollouts: readonly RolloutFacts[]): Map<string, QueryGroup> {
  const groups = new Map<string, QueryGroup>();
  for (const facts of rollouts) {
    const key = JSON.stringify([facts.dataset, facts.queryId]);
    const group = groups.get(key);
    if (group) group.facts.push(facts);
    else groups.set(key, { dataset: facts.dataset, query: facts.queryId, facts: [facts] });
  }
  return groups;
}

function tallyOf(facts: readonly RolloutFacts[]): Tally {
  const scored = facts.filter(({ pass }) => pass !== null);
  return {
    rollouts: facts.length,
    scored: scored.length,
    passed: scored.filter(({ pass }) => pass).length,
    score: scored.reduce((sum, { score }) => sum + (score ?? 0), 0),
  };
}

function agentTally(facts: readonly RolloutFacts[]): Tally {
  return tallyOf(facts.filter(({ blame }) => blame === undefined || blame === "agent"));
}

function queryReport(facts: RolloutFacts[]): QueryReport {
  const blamed = facts.filter(({ blame }) => blame !== undefined);
  return { ...queryNumbers(tallyOf(facts)), blame: countBy(blamed, ({ blame }) => blame as Blame) };
}

function toFailure({ dataset, queryId, rollout, blame = "agent", evidence = "" }: RolloutFacts): Failure {
  return { id: rollout === 0 ? queryId : `${queryId}#${rollout}`, dataset, blame, evidence };
}

function countBy<T, K extends string>(
  items: readonly T[],
  read: (item: T) => K,
): { [key in K]?: number } & { [key: string]: number } {
  const counts: { [key: string]: number } = {};
  for (const item of items) counts[read(item)] = (counts[read(item)] ?? 0) + 1;
  return counts as { [key in K]?: number } & { [key: string]: number };
}
