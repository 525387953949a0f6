// Each rollout's score by the run's own rule: what reports count and what exports choose by.
import { join } from "node:path";
import { cutText } from "../core/index.ts";
import { type DamagedLine, leftOut, MANIFEST_FILE, readManifest, recordKeyText } from "../runs/index.ts";
import { mergeSettings } from "./score-run.ts";
import { SCORES_FILE, type ScoreRecord, scanScores } from "./scores.ts";
import { type Ending, type ScoreRule, type TaskScore, taskScore } from "./task-score.ts";

/** A check's latest result, without the fields that neither reports nor exports show. */
export type CheckScore = Pick<
  ScoreRecord,
  "check" | "version" | "pass" | "score" | "reason" | "blame" | "guards" | "matched"
>;

export class TaskScores {
  readonly #results = new Map<string, CheckScore[]>();
  readonly rule: ScoreRule;
  /** what is damaged in the file, in a sentence */
  readonly damage: string | undefined;

  /** `rule` replaces the one that the run's config names; of checks, only those that are named count. */
  constructor(folder: string, rule?: ScoreRule, only?: readonly string[]) {
    const manifest = readManifest(join(folder, MANIFEST_FILE));
    this.rule = rule ?? (manifest && mergeSettings(manifest).score) ?? "product";
    const file = join(folder, SCORES_FILE);
    const damaged: DamagedLine[] = [];
    scanScores(
      file,
      (score) => (only?.includes(score.check) ?? true) && this.#add(score),
      (line) => damaged.push(line),
    );
    this.damage = damaged.length > 0 ? leftOut(file, damaged) : undefined;
  }

  get isEmpty(): boolean {
    return this.#results.size === 0;
  }

  /** `key`: a rollout's key as text. */
  resultsOf(key: string): readonly CheckScore[] {
    return this.#results.get(key) ?? [];
  }

  scoreOf(key: string, ending: Ending): TaskScore {
    return taskScore(this.resultsOf(key), ending, this.rule);
  }

  #add(record: ScoreRecord): void {
    const { check, version, pass, score, blame, guards, matched } = record;
    const reason = pass === true ? "" : cutText(record.reason ?? "", MAX_REASON);
    const result = { check, version, pass, score, blame, guards, matched, reason };
    const key = recordKeyText(record);
    const own = this.#results.get(key);
    const before = own?.findIndex((other) => other.check === check) ?? -1;
    if (!own) this.#results.set(key, [result]);
    else if (before === -1) own.push(result);
    else own[before] = result;
  }
}

const MAX_REASON = 300;
