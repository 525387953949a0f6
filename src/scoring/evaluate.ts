// Scoring a run: every finished rollout, every wanted check, once. What scores.jsonl already holds is not done again; a
// run that is still running is caught up with as often as asked. Trajectories are only ever read.
import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  contentHash,
  type ModelClient,
  messageOf,
  type Query,
  RolloutError,
  type Trajectory,
  UsageError,
} from "../core/index.ts";
import { AppendFile, jsonLine, Lock, readLines } from "../files/index.ts";
import { type DamagedLine, DamageNotes, readTrajectory, recordKeyText, setAside } from "../runs/index.ts";
import { type Check, type CheckContext, type CheckResult, notCheckable } from "./check.ts";
import { createJudge, type Judge } from "./judge/judge.ts";
import { openVoteStore } from "./judge/vote-store.ts";
import { findReferenceIn, isRead, type Reference } from "./reference.ts";
import { replayCalls } from "./replay.ts";
import { SCORES_FILE, type ScoreRecord, scanScores, toScoreRecord } from "./scores.ts";
import { type StoredDataset, worldOf } from "./stored-datasets.ts";
import { readTranscript } from "./transcript.ts";

export type EvaluationOptions = {
  folder: string;
  datasets: StoredDataset[];
  checks: Check[];
  /** the names of the checks, if they were asked for by name */
  only?: string[];
  judge?: { client: ModelClient; votes: number };
  /** rollouts at once */
  workers: number;
  /** scores everything again, whatever there is already */
  force?: boolean;
  /** set: no further rollout is begun; running checks may finish */
  park?: AbortSignal;
  /** set: leave at once */
  abort?: AbortSignal;
  /** called with one line when the disk is full or read-only, and when writing resumes */
  onPause?: (message: string, isPaused: boolean) => void;
  onScore?: (score: ScoreRecord) => void;
  /** one more is scored, or was before */
  onRollout?: () => void;
  /** what is damaged, one line for each file */
  onNotice?: (message: string) => void;
};

export type EvaluationCounts = {
  rollouts: number;
  scored: number;
  kept: number;
  checks: number;
  /** the checks that were asked for by name: what counts in a report on this */
  only?: string[];
};

export class Evaluation {
  readonly counts: EvaluationCounts = { rollouts: 0, scored: 0, kept: 0, checks: 0 };
  readonly #options: EvaluationOptions;
  readonly #checks: { check: Check; settings: string | undefined }[];
  readonly #lock: Lock;
  readonly #scores: AppendFile;
  /** by rollout and check, what its latest result was made from */
  readonly #done = new Map<string, string>();
  /** by file: how far it was read */
  readonly #read = new Map<string, { offset: number; lines: number }>();
  readonly #references = new Map<string, Promise<Reference | string>>();
  readonly #bases = new Map<string, string>();
  readonly #votes;
  readonly #judge: Judge | undefined;
  readonly #abort: AbortSignal;
  #catchingUp: Promise<void> = Promise.resolve();

  constructor(options: EvaluationOptions) {
    this.#options = options;
    if (options.only) this.counts.only = options.only;
    this.#abort = options.abort ?? new AbortController().signal;
    const { folder, judge, onNotice = () => {} } = options;
    this.#checks = options.checks.map((check) => ({
      check,
      settings: check.settings === undefined ? undefined : contentHash(check.settings),
    }));
    this.#lock = Lock.take(join(folder, "scores.lock"), folder);
    try {
      const file = join(folder, SCORES_FILE);
      const damaged: DamagedLine[] = [];
      const know = (score: ScoreRecord) => {
        if (!options.force) this.#done.set(`${recordKeyText(score)} ${score.check}`, madeFrom(score));
      };
      const end = scanScores(file, know, (line) => damaged.push(line));
      if (damaged.length > 0) onNotice(setAside(file, damaged));
      const completeBytes = damaged.length > 0 ? undefined : end;
      const patience = { onPause: options.onPause, giveUp: options.abort };
      this.#scores = new AppendFile(file, { ...patience, sync: "batch", completeBytes });
      this.#votes = openVoteStore(join(folder, "judgements.jsonl"), { ...patience, onNotice });
      this.#judge = judge && createJudge(judge.client, judge.votes, this.#votes);
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  /** Scores what has finished since the last time; overlapping calls wait for each other. */
  catchUp(): Promise<void> {
    this.#catchingUp = this.#catchingUp.then(() => this.#catchUp());
    return this.#catchingUp;
  }

  async close(): Promise<void> {
    try {
      await this.#catchingUp.catch(() => {});
      await Promise.all([this.#scores.close(), this.#votes.close()]);
    } finally {
      this.#lock.release();
    }
  }

  async #catchUp(): Promise<void> {
    const lines = this.#newLines();
    const work = async () => {
      for (const { dataset, bytes, trajectory } of lines) {
        if (this.#options.park?.aborted) return;
        await this.#scoreLine(dataset, bytes, trajectory);
        this.#options.onRollout?.();
      }
    };
    await Promise.all(Array.from({ length: this.#options.workers }, work));
    await this.#scores.synced();
  }

  /** `bytes` are valid only until the next line is taken. */
  *#newLines(): Generator<{ dataset: StoredDataset; bytes: Buffer; trajectory: Trajectory }, undefined> {
    for (const dataset of this.#options.datasets) {
      for (const file of dataset.outputs) {
        const notes = new DamageNotes(file);
        const read = this.#read.get(file) ?? { offset: 0, lines: 0 };
        this.#read.set(file, read);
        const before = read.lines;
        for (const { bytes, offset, length, number, isOpen } of readLines(file, read.offset)) {
          if (isOpen) break; // still being written
          read.offset = offset + length + 1;
          read.lines = before + number;
          const found = readTrajectory(bytes, dataset.name);
          notes.add(read.lines, found);
          if (typeof found === "object") yield { dataset, bytes, trajectory: found.trajectory };
        }
        for (const sentence of notes.sentences()) this.#options.onNotice?.(sentence);
      }
    }
  }

  async #scoreLine(dataset: StoredDataset, bytes: Buffer, trajectory: Trajectory): Promise<void> {
    const record = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
    this.counts.rollouts++;
    const basis = this.#basis(dataset, trajectory.query_id);
    const wanted = this.#checks.filter(
      ({ check, settings }) =>
        this.#done.get(`${recordKeyText(trajectory)} ${check.name}`) !==
        madeFrom({ version: check.version, record, settings, basis }),
    );
    this.counts.kept += this.#checks.length - wanted.length;
    if (wanted.length === 0) return;
    const query = dataset.query(trajectory.query_id);
    const context = query && this.#context(dataset, trajectory, query);
    for (const { check, settings } of wanted) {
      const result = context
        ? await runCheck(check, context)
        : notCheckable(`the query ${trajectory.query_id} is no longer in the dataset`);
      // nothing was decided because scoring was stopped: it is scored the next time
      if (this.#options.park?.aborted && result.pass === null && result.blame) return;
      const score = toScoreRecord(trajectory, { check, record, settings, basis }, result);
      await this.#scores.append(jsonLine(score));
      this.counts.checks++;
      this.#options.onScore?.(score);
    }
    this.counts.scored++;
  }

  #context(dataset: StoredDataset, trajectory: Trajectory, query: Query): CheckContext {
    const { domain, openEnvironment } = dataset;
    const { mode } = trajectory.metadata;
    const dialogue = readTranscript(trajectory);
    const offersTools = mode === "positive" ? undefined : `mode ${mode} offers no tools that could do the task`;
    const replay = async () => {
      if (offersTools) return offersTools;
      if (typeof openEnvironment === "string") return openEnvironment;
      const open = () => openEnvironment(worldOf(trajectory, query));
      const byResults = domain?.unseen !== undefined;
      // other people's servers are asked for no more than their final state
      const writes =
        byResults || !domain ? undefined : (name: string) => !isRead(domain.toolbox.wireName(name), domain);
      return replayCalls(trajectory, dialogue, open, { signal: this.#abort, byResults, writes });
    };
    let replayed: ReturnType<typeof replay> | undefined;
    return {
      trajectory,
      dialogue,
      query,
      domain,
      reference: async () => offersTools ?? (await this.#reference(dataset, query, trajectory)),
      replay: () => {
        replayed ??= replay();
        return replayed;
      },
      answerFormat: dataset.answerFormat,
      judge: this.#judge,
      signal: this.#abort,
    };
  }

  #basis(dataset: StoredDataset, queryId: string): string {
    const key = JSON.stringify([dataset.name, queryId]);
    const basis = this.#bases.get(key) ?? basisOf(dataset, dataset.query(queryId));
    this.#bases.set(key, basis);
    return basis;
  }

  /**
   * Played once for all rollouts of a query, unless each may find another world; rollouts of one query are usually close
   * together.
   */
  #reference(dataset: StoredDataset, query: Query, trajectory: Trajectory): Promise<Reference | string> {
    const { rollout, metadata } = trajectory;
    const world = dataset.domain?.perRollout ? { rollout, seed: metadata.seed } : undefined;
    const key = JSON.stringify([dataset.name, query.id, world]);
    const known = this.#references.get(key);
    if (known) return known;
    const found = findReferenceIn(dataset, query, world);
    this.#references.set(key, found);
    if (this.#references.size > MAX_REFERENCES) {
      const [oldest] = this.#references.keys();
      this.#references.delete(oldest as string);
    }
    return found;
  }
}

const MAX_REFERENCES = 1000;

/** Scores everything there is, once. */
export async function evaluate(options: EvaluationOptions): Promise<EvaluationCounts> {
  const evaluation = new Evaluation(options);
  try {
    await evaluation.catchUp();
    return evaluation.counts;
  } finally {
    await evaluation.close();
  }
}

async function runCheck(check: Check, context: CheckContext): Promise<CheckResult> {
  try {
    return await check.run(context);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason =
      error instanceof RolloutError
        ? `the tools are out of reach: ${error.message}`
        : `the check failed: ${messageOf(error)}`;
    return notCheckable(reason, { blame: "infrastructure" });
  }
}

/** Of everything besides the record that a verdict rests on: when it changes, rollouts are scored again. */
function basisOf({ domain, validated }: StoredDataset, query: Query | undefined): string {
  const { rules, policy, volatile, freeArguments, contentHash: content } = domain ?? {};
  const task = query && validated?.(query);
  return contentHash({ query: query?.hash, task, content, rules, policy, volatile, freeArguments });
}

type Made = Pick<ScoreRecord, "version" | "record" | "settings" | "basis"> &
  Partial<Pick<ScoreRecord, "pass" | "blame">>;

/** Results left undecided because a judge or a tool was out of reach are tried again next time. */
function madeFrom({ version, record, settings = "", basis = "", pass, blame }: Made): string {
  return pass === null && blame ? "" : contentHash(`${version} ${record} ${settings} ${basis}`);
}
