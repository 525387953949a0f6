// What the checks said of each rollout, in a few bytes each: a rollout's score is the product of its checks' scores; a check
// that could not decide says nothing.
import { join } from "node:path";
import { SCORES_FILE, scanScores, scoreKey } from "../scoring/index.ts";
import type { ExportRecord } from "./record.ts";

export class ScoreBook {
  /** the latest score of each check, by rollout */
  readonly #scores = new Map<string, Map<string, number>>();

  constructor(run: string) {
    scanScores(join(run, SCORES_FILE), (line) => {
      const key = scoreKey(line);
      const checks = this.#scores.get(key) ?? new Map<string, number>();
      this.#scores.set(key, checks);
      if (typeof line.score === "number" && line.pass !== null) checks.set(line.check, line.score);
      else checks.delete(line.check);
    });
  }

  scoreOf(record: Pick<ExportRecord, "dataset" | "query_id" | "rollout">): number | undefined {
    const checks = this.#scores.get(scoreKey(record));
    if (!checks || checks.size === 0) return undefined;
    return [...checks.values()].reduce((product, score) => product * score, 1);
  }
}
