// What a question set came to: pass@k, accuracy by round, what a question took, which questions all rollouts solved and
// which none did; by matching alone, and beside it with a judge. Keeps something per question, nothing per rollout.
import {
  addCosts,
  type Cost,
  type CostRecord,
  countUsedTokens,
  mean,
  NO_COST,
  readCost,
  toCostRecord,
} from "../../core/index.ts";
import { keyText, openRun, ROUND, readFailures, recordFiles, scanMetadata } from "../../runs/index.ts";
import type { Interval } from "../intervals.ts";
import { numbersOf } from "../numbers.ts";
import type { TaskScores } from "../task-scores.ts";

/** Named by what decides: matching alone, a judge where matching finds no match, or the run's other checks. */
const COLUMNS = ["matched", "judged", "solved"] as const;
type ColumnName = (typeof COLUMNS)[number];

type Questions = { count: number; ids: string[] };

export type AnswerNumbers = {
  scored: number;
  solved: number;
  pass_at_k: { [k: string]: number | null };
  pass_at_k_interval: { [k: string]: Interval | null };
  /** how many questions have k scored rollouts */
  questions_with_k: { [k: string]: number };
  /** over the rounds */
  average_pass_at_1: number | null;
  best_pass_at_1: number | null;
  rounds: { round: number; scored: number; solved: number; accuracy: number | null }[];
  solved_by_all: Questions;
  solved_by_none: Questions;
};

export type Effort = CostRecord & { model_calls: number; tool_calls: number; tokens: number; seconds: number };

export type QuestionSet = {
  questions: number;
  rollouts: number;
  rounds: number;
  /** rollouts that failed for infrastructure reasons: in no number below */
  infrastructure: number;
  /** "answer", or how rollouts ended otherwise */
  terminations: { [reason: string]: number };
  /** means; a question's is the sum over its rollouts, without the tokens of scripts */
  per_rollout: Effort;
  per_question: Effort;
  /** with the number of its rollouts that were solved, and what they took together */
  by_question: { [id: string]: Effort & { rollouts: number } & { [column in ColumnName]?: number } };
} & { [column in ColumnName]?: AnswerNumbers };

/** The run's question sets, by dataset. */
export function summariseQuestions(folder: string, scores: TaskScores): { [dataset: string]: QuestionSet } {
  const { path, manifest } = openRun(folder);
  const sets = Object.entries(manifest.datasets).filter(([, { output }]) => output.includes(ROUND));
  const failures = sets.length > 0 ? readFailures(path) : [];
  return Object.fromEntries(
    sets.map(([dataset, { output }]) => {
      const tally = new QuestionTally(dataset, scores);
      for (const file of recordFiles(path, dataset, output)) scanMetadata(file, dataset, (record) => tally.add(record));
      for (const failure of failures) if (failure.dataset === dataset) tally.addFailure(failure.query_id);
      return [dataset, tally.summary()];
    }),
  );
}

type Record = Parameters<Parameters<typeof scanMetadata>[2]>[0];
type Counts = { scored: number; passed: number };
type Spent = { cost: Cost; modelCalls: number; toolCalls: number; tokens: number; ms: number };
type Question = Spent & { rollouts: number; columns: { [column in ColumnName]?: Counts } };

const NOTHING: Spent = { cost: NO_COST, modelCalls: 0, toolCalls: 0, tokens: 0, ms: 0 };

class QuestionTally {
  readonly #dataset: string;
  readonly #scores: TaskScores;
  readonly #questions = new Map<string, Question>();
  readonly #rounds: { [column in ColumnName]: Map<number, Counts> } = {
    matched: new Map(),
    judged: new Map(),
    solved: new Map(),
  };
  readonly #terminations: { [reason: string]: number } = {};
  #rollouts = 0;
  #rounded = 0;
  #infrastructure = 0;

  constructor(dataset: string, scores: TaskScores) {
    this.#dataset = dataset;
    this.#scores = scores;
  }

  add({ queryId, rollout, metadata }: Record): void {
    const question = this.#question(queryId);
    question.rollouts++;
    this.#rollouts++;
    this.#rounded = Math.max(this.#rounded, rollout + 1);
    this.#end(metadata.stop_reason === "agent_done" ? "answer" : metadata.stop_reason);
    spend(question, {
      cost: readCost(metadata),
      modelCalls: Object.values(metadata.usage ?? {}).reduce((sum, { calls }) => sum + (calls ?? 0), 0),
      toolCalls: metadata.tool_call_count ?? 0,
      tokens: countUsedTokens(metadata).tokens,
      ms: metadata.timings?.duration_ms ?? 0,
    });
    const key = keyText({ dataset: this.#dataset, queryId, rollout });
    const task = this.#scores.scoreOf(key, metadata);
    if (task.blame === "infrastructure") {
      this.#infrastructure++;
      return;
    }
    const answer = this.#scores.resultsOf(key).find(({ check }) => check === "answer");
    this.#count("matched", question, rollout, answer?.matched ?? answer?.pass);
    if (answer?.matched !== undefined) this.#count("judged", question, rollout, answer.pass);
    this.#count("solved", question, rollout, task.pass);
  }

  addFailure(queryId: string): void {
    this.#question(queryId);
    this.#infrastructure++;
    this.#end("infrastructure");
  }

  summary(): QuestionSet {
    const all = [...this.#questions.values()];
    const total = all.reduce<Spent>((sum, question) => spend(sum, question), { ...NOTHING });
    const columns = this.#columns();
    return {
      questions: all.length,
      rollouts: this.#rollouts,
      rounds: this.#rounded,
      infrastructure: this.#infrastructure,
      ...Object.fromEntries(columns.map((column) => [column, this.#numbers(column)])),
      terminations: this.#terminations,
      per_rollout: effortOf(total, this.#rollouts),
      per_question: effortOf(total, all.length),
      by_question: Object.fromEntries(
        [...this.#questions].map(([id, question]) => [
          id,
          {
            rollouts: question.rollouts,
            ...Object.fromEntries(columns.map((column) => [column, question.columns[column]?.passed ?? 0])),
            ...effortOf(question, 1),
          },
        ]),
      ),
    };
  }

  /** Where answers decide, nothing else is shown. */
  #columns(): ColumnName[] {
    const scored = COLUMNS.filter((column) => this.#rounds[column].size > 0);
    return scored.includes("matched") ? scored.filter((column) => column !== "solved") : scored;
  }

  #numbers(column: ColumnName): AnswerNumbers {
    const counted = [...this.#questions].map(([id, { columns }]) => ({
      id,
      ...(columns[column] ?? { scored: 0, passed: 0 }),
    }));
    const tallies = counted.map(({ scored, passed }) => ({ rollouts: scored, scored, passed, score: passed }));
    const { scored, passed, pass_at_k, pass_at_k_interval, queries_with_k } = numbersOf(tallies);
    const rounds = Array.from({ length: this.#rounded }, (_, rollout) => {
      const { scored: inRound, passed: solved } = this.#rounds[column].get(rollout) ?? { scored: 0, passed: 0 };
      return { round: rollout + 1, scored: inRound, solved, accuracy: inRound > 0 ? solved / inRound : null };
    });
    const known = rounds.flatMap(({ accuracy }) => accuracy ?? []);
    const listed = (isListed: (counts: Counts) => boolean): Questions => {
      const ids = counted.flatMap(({ id, ...counts }) => (counts.scored > 0 && isListed(counts) ? [id] : []));
      return { count: ids.length, ids };
    };
    return {
      scored,
      solved: passed,
      pass_at_k,
      pass_at_k_interval,
      questions_with_k: queries_with_k,
      average_pass_at_1: mean(known),
      best_pass_at_1: known.length > 0 ? Math.max(...known) : null,
      rounds,
      solved_by_all: listed((counts) => counts.passed === counts.scored),
      solved_by_none: listed((counts) => counts.passed === 0),
    };
  }

  #question(id: string): Question {
    const known = this.#questions.get(id) ?? { ...NOTHING, rollouts: 0, columns: {} };
    this.#questions.set(id, known);
    return known;
  }

  #count(column: ColumnName, { columns }: Question, rollout: number, pass: boolean | null | undefined): void {
    if (pass === null || pass === undefined) return;
    const own = columns[column] ?? { scored: 0, passed: 0 };
    const round = this.#rounds[column].get(rollout) ?? { scored: 0, passed: 0 };
    columns[column] = own;
    this.#rounds[column].set(rollout, round);
    for (const counts of [own, round]) {
      counts.scored++;
      counts.passed += pass ? 1 : 0;
    }
  }

  #end(reason: string): void {
    this.#terminations[reason] = (this.#terminations[reason] ?? 0) + 1;
  }
}

function spend(sum: Spent, more: Spent): Spent {
  sum.cost = addCosts(sum.cost, more.cost);
  sum.modelCalls += more.modelCalls;
  sum.toolCalls += more.toolCalls;
  sum.tokens += more.tokens;
  sum.ms += more.ms;
  return sum;
}

function effortOf({ cost, modelCalls, toolCalls, tokens, ms }: Spent, count: number): Effort {
  const each = (total: number) => (count > 0 ? total / count : 0);
  const { costUsd, costKnownUsd } = cost;
  return {
    model_calls: each(modelCalls),
    tool_calls: each(toolCalls),
    tokens: each(tokens),
    seconds: each(ms) / 1000,
    ...toCostRecord({
      ...cost,
      costUsd: costUsd === null ? null : each(costUsd),
      costKnownUsd: costKnownUsd === undefined ? undefined : each(costKnownUsd),
    }),
  };
}
