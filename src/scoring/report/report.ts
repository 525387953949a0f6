// A run's results as one object: `report.json`. Overall, by dataset and by query: over what the agent played, beside it
// with infrastructure failures, and without any failure that was not the agent's fault.
import { type Blame, groupBy, mean, rolloutId } from "../../core/index.ts";
import { type Numbers, numbersOf, type QueryNumbers, queryNumbers, type Tally } from "../numbers.ts";
import type { ScoreRule } from "../task-score.ts";
import type { AnnotationReport } from "./annotations.ts";
import {
  type CheckFacts,
  type Collected,
  type CollectOptions,
  collectRun,
  type RolloutFacts,
  type ToolFacts,
} from "./collect.ts";
import { type QuestionSet, summariseQuestions } from "./questions.ts";

export type RolloutVerdict = Pick<
  RolloutFacts,
  "rollout" | "verdict" | "pass" | "score" | "decided_by" | "blame" | "evidence"
> & {
  id: string;
  stop_reason: string;
};
export type QueryReport = QueryNumbers & { blame: { [party in Blame]?: number }; verdicts: RolloutVerdict[] };
type Failure = { id: string; dataset: string; blame: Blame; evidence: string };

export type Report = {
  format_version: 1;
  folder: string;
  agents: string[];
  /** scripted models took part: the numbers say nothing about any model */
  scripted: boolean;
  /** lines of the run's files that are damaged and not counted, or changed: one sentence for each file */
  damage: string[];
  score_rule: ScoreRule;
  /** set if these checks alone decide what is solved, whatever others found */
  only_checks?: string[];
  /** in words, for quoting the numbers */
  method: string;
  /** over what the agent played: infrastructure failures are not in it */
  overall: Numbers;
  /** the same, with infrastructure failures as not solved */
  with_infrastructure: Numbers;
  /** without rollouts that failed through no fault of the agent */
  agent_only: Numbers;
  datasets: {
    [name: string]: Numbers & {
      with_infrastructure: Numbers;
      agent_only: Numbers;
      queries: { [id: string]: QueryReport };
      /** of a question set */
      questions?: QuestionSet;
    };
  };
  checks: { [name: string]: CheckFacts };
  /** failed rollouts, by whose fault it was */
  blame: { [party in Blame]?: number };
  failures: Failure[];
  stop_reasons: { [reason: string]: number };
  /** solved, not solved and unscored, which make up `overall`; infrastructure failures beside them */
  outcomes: { passed: number; failed: number; "not scored": number; infrastructure: number };
  /** why rollouts are unscored, and how many for each reason, the most frequent first */
  unscored_reasons: { [reason: string]: number };
  turns: { [turns: string]: number };
  tool_calls: { [calls: string]: number };
  tools: { [name: string]: ToolFacts };
  /** why costs are null: the models whose calls have no known cost */
  cost_unknown_of: string[];
  /** by query: what its rollouts cost and score on average; scripted tokens are not in it */
  costs: { dataset: string; query: string; cost_usd: number | null; tokens: number; score: number | null }[];
  /** what people say about the rollouts, if anybody does */
  annotations?: AnnotationReport;
};

const METHOD =
  "pass@k = 1 - C(n-c,k)/C(n,k) and pass^k = C(c,k)/C(n,k), means over the queries that have k scored rollouts; avg@n = mean over queries of the mean task score; 95 % intervals clustered by query: Beta limits for the queries joined by part of one more that fails or passes (docs/intervals.md).";

const MAX_FAILURES = 200;
const MAX_REASONS = 20;

/** `rule` replaces the one that the run's config names. */
export function buildReport(folder: string, rule?: ScoreRule, options: CollectOptions = {}): Report {
  const run = collectRun(folder, rule, options);
  const report = { ...reportOf(run), only_checks: options.only && [...options.only] };
  const sets = options.files ? {} : summariseQuestions(folder, run.scores);
  for (const [name, dataset] of Object.entries(report.datasets)) if (sets[name]) dataset.questions = sets[name];
  return report;
}

function reportOf(run: Collected): Report {
  const groups = groupByQuery(run.rollouts);
  const names = [...new Set(run.rollouts.map(({ dataset }) => dataset))];
  const played = run.rollouts.filter(isPlayed);
  const passing = (pass: boolean | null) => played.filter((facts) => facts.pass === pass).length;
  const recorded = run.rollouts.filter(({ verdict }) => verdict !== "not played");
  return {
    format_version: 1,
    folder: run.folder,
    agents: [...run.agents],
    scripted: run.scripted,
    damage: run.damage,
    score_rule: run.rule,
    method: METHOD,
    overall: headlineOf(groups),
    ...otherNumbers(groups),
    datasets: Object.fromEntries(
      names.map((name) => {
        const own = groups.filter(({ dataset }) => dataset === name);
        const queries = Object.fromEntries(own.map(({ query, facts }) => [query, queryReport(facts)]));
        return [name, { ...headlineOf(own), ...otherNumbers(own), queries }];
      }),
    ),
    checks: Object.fromEntries(run.checks),
    blame: countBlame(run.rollouts),
    failures: run.rollouts
      .filter(({ pass }) => pass === false)
      .slice(0, MAX_FAILURES)
      .map(toFailure),
    stop_reasons: countBy(run.rollouts, ({ stopReason }) => stopReason),
    outcomes: {
      passed: passing(true),
      failed: passing(false),
      "not scored": passing(null),
      infrastructure: run.rollouts.length - played.length,
    },
    unscored_reasons: countReasons(played),
    turns: countBy(recorded, ({ turns }) => String(turns)),
    tool_calls: countBy(recorded, ({ toolCalls }) => String(toolCalls)),
    tools: Object.fromEntries([...run.tools].sort(([, a], [, b]) => b.calls - a.calls)),
    cost_unknown_of: [...run.unpriced].sort(),
    costs: groups.map(({ dataset, query, facts }) => {
      const own = facts.filter(isPlayed);
      return {
        dataset,
        query,
        cost_usd: meanCost(own),
        tokens: mean(own.map(({ tokens }) => tokens)) ?? 0,
        score: mean(own.flatMap(({ score }) => (score === null ? [] : [score]))),
      };
    }),
    annotations: run.annotations,
  };
}

/** Null as soon as one of them is not known. */
function meanCost(rollouts: readonly RolloutFacts[]): number | null {
  const known = rollouts.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  return known.length < rollouts.length ? null : (mean(known) ?? 0);
}

/** What the infrastructure broke says nothing about the agent. */
function isPlayed({ blame }: RolloutFacts): boolean {
  return blame !== "infrastructure";
}

type QueryGroup = { dataset: string; query: string; facts: RolloutFacts[] };

/** In the order of their first records; the rollouts of each in theirs. */
function groupByQuery(rollouts: readonly RolloutFacts[]): QueryGroup[] {
  const groups = groupBy(rollouts, ({ dataset, queryId }) => JSON.stringify([dataset, queryId]));
  return [...groups.values()].map((facts) => {
    const { dataset, queryId: query } = facts[0] as RolloutFacts;
    return { dataset, query, facts: facts.sort((a, b) => a.rollout - b.rollout) };
  });
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

function numbersFor(groups: readonly QueryGroup[], counts: (facts: RolloutFacts) => boolean): Numbers {
  return numbersOf(groups.map(({ facts }) => tallyOf(facts.filter(counts))));
}

function headlineOf(groups: readonly QueryGroup[]): Numbers {
  return numbersFor(
    groups.filter(({ facts }) => facts.some(isPlayed)),
    isPlayed,
  );
}

/** Where nothing that was played could be scored, infrastructure failures make no number either. */
function otherNumbers(groups: readonly QueryGroup[]): { with_infrastructure: Numbers; agent_only: Numbers } {
  const isScored = groups.some(({ facts }) => facts.some((one) => isPlayed(one) && one.pass !== null));
  const isUnplayed = groups.every(({ facts }) => !facts.some(isPlayed));
  const unscored = (one: RolloutFacts): RolloutFacts => ({ ...one, pass: null, score: null });
  const all = isScored || isUnplayed ? groups : groups.map((one) => ({ ...one, facts: one.facts.map(unscored) }));
  return {
    with_infrastructure: numbersFor(all, () => true),
    agent_only: numbersFor(groups, ({ blame }) => blame === undefined || blame === "agent"),
  };
}

function queryReport(facts: RolloutFacts[]): QueryReport {
  return {
    ...queryNumbers(tallyOf(facts.filter(isPlayed))),
    blame: countBlame(facts),
    verdicts: facts.map((one) => ({
      id: rolloutId(one),
      rollout: one.rollout,
      verdict: one.verdict,
      pass: one.pass,
      score: one.score,
      decided_by: one.decided_by,
      blame: one.blame,
      evidence: one.evidence,
      stop_reason: one.stopReason,
    })),
  };
}

function toFailure(facts: RolloutFacts): Failure {
  const { dataset, blame = "agent", evidence = "" } = facts;
  return { id: rolloutId(facts), dataset, blame, evidence };
}

function countBlame(rollouts: readonly RolloutFacts[]): { [party in Blame]?: number } {
  return countBy(
    rollouts.filter(({ blame }) => blame !== undefined),
    ({ blame }) => blame as Blame,
  );
}

function countReasons(rollouts: readonly RolloutFacts[]): { [reason: string]: number } {
  const unscored = rollouts.filter(({ verdict, evidence }) => verdict === "unscored" && evidence !== undefined);
  const counts = Object.entries(countBy(unscored, ({ evidence }) => evidence as string));
  return Object.fromEntries(counts.sort(([, a], [, b]) => b - a).slice(0, MAX_REASONS));
}

function countBy<T, K extends string>(
  items: readonly T[],
  read: (item: T) => K,
): { [key in K]?: number } & { [key: string]: number } {
  const counts: { [key: string]: number } = {};
  for (const item of items) counts[read(item)] = (counts[read(item)] ?? 0) + 1;
  return counts as { [key in K]?: number } & { [key: string]: number };
}
