// Each rollout's score by the run's own rule: what reports count and what exports choose by.
import { join } from "node:path";
import { cutText } from "../core/index.ts";
import { FollowedFile, Places, readExtents } from "../files/index.ts";
import { type DamagedLine, leftOut, MANIFEST_FILE, readManifest, recordKeyText } from "../runs/index.ts";
import { mergeSettings } from "./score-run.ts";
import { readScoreLine, SCORES_FILE, type ScoreRecord } from "./scores.ts";
import { type Ending, type ScoreRule, type TaskScore, taskScore } from "./task-score.ts";

/** A check's latest result, without the fields that neither reports nor exports show. */
export type CheckScore = Pick<
  ScoreRecord,
  "check" | "version" | "pass" | "score" | "reason" | "blame" | "guards" | "matched"
>;

export class TaskScores {
  readonly #results = new Map<string, CheckScore[]>();
  readonly #file: FollowedFile;
  readonly #only: readonly string[] | undefined;
  readonly #damaged: DamagedLine[] = [];
  readonly #alike = new Map<string, CheckScore>();
  readonly #maxReason: number;
  readonly #places = new Places();
  readonly rule: ScoreRule;

  /**
   * `rule` replaces the one that the run's config names; of checks, only those that are named count. Read at once, unless
   * it is to be followed: then reasons are not kept.
   */
  constructor(folder: string, rule?: ScoreRule, only?: readonly string[], { isFollowed = false } = {}) {
    const manifest = readManifest(join(folder, MANIFEST_FILE));
    this.rule = rule ?? (manifest && mergeSettings(manifest).score) ?? "product";
    this.#only = only;
    this.#file = new FollowedFile(join(folder, SCORES_FILE));
    this.#maxReason = isFollowed ? 0 : MAX_REASON;
    if (!isFollowed) for (const _ of this.follow());
  }

  get path(): string {
    return this.#file.path;
  }

  /** What is damaged in the file, in a sentence. */
  get damage(): string | undefined {
    return this.#damaged.length > 0 ? leftOut(this.#file.path, this.#damaged) : undefined;
  }

  /** Reads what was added since, until told to stop: whose score it is, and everybody's if the file was replaced. */
  *follow(isEnough?: () => boolean): Generator<string, void> {
    const seen = this.#file.look();
    if (seen === "same") return;
    if (seen === "replaced") {
      const keys = [...this.#results.keys()];
      this.#results.clear();
      this.#places.clear();
      this.#damaged.length = 0;
      yield* keys;
    }
    for (const { bytes, offset, length, number } of this.#file.read(isEnough)) {
      const score = readScoreLine(bytes);
      if (typeof score === "string") this.#damaged.push({ offset, length, number, reason: score });
      else if (score && (this.#only?.includes(score.check) ?? true)) {
        this.#places.add(recordKeyText(score), { offset, length });
        yield this.#add(score);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#results.size === 0;
  }

  /** `key`: a rollout's key as text. */
  resultsOf(key: string): readonly CheckScore[] {
    return this.#results.get(key) ?? [];
  }

  /** The same with everything that the checks found, read from the file again. */
  readDetails(key: string): ScoreRecord[] {
    const latest = new Map<string, ScoreRecord>();
    for (const bytes of readExtents(this.#file.path, this.#places.of(key))) {
      const score = readScoreLine(bytes);
      if (typeof score === "object" && recordKeyText(score) === key) latest.set(score.check, score);
    }
    return [...latest.values()];
  }

  scoreOf(key: string, ending: Ending): TaskScore {
    return taskScore(this.resultsOf(key), ending, this.rule);
  }

  #add(record: ScoreRecord): string {
    const key = recordKeyText(record);
    const result = this.#shared(record);
    const own = this.#results.get(key);
    const before = own?.findIndex(({ check }) => check === result.check) ?? -1;
    if (!own) this.#results.set(key, [result]);
    else if (before === -1) own.push(result);
    else own[before] = result;
    return key;
  }

  /** Most results are alike: each is kept once. */
  #shared({ check, version, pass, score, blame, guards, matched, reason: given }: ScoreRecord): CheckScore {
    const reason = pass === true || this.#maxReason === 0 ? "" : cutText(given ?? "", this.#maxReason);
    const alike = `${check} ${version} ${pass} ${score} ${blame} ${guards} ${matched}`;
    const known = reason === "" ? this.#alike.get(alike) : undefined;
    if (known) return known;
    const result = { check, version, pass, score, blame, guards, matched, reason };
    if (reason === "") this.#alike.set(alike, result);
    return result;
  }
}

const MAX_REASON = 300;
