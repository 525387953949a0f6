// One rollout's score with everything its checks found, for people who look at that rollout.
import { join } from "node:path";
import type { RolloutKey } from "../../core/index.ts";
import { keyText, openRun, recordKeyText } from "../../runs/index.ts";
import { mergeSettings } from "../score-run.ts";
import { SCORES_FILE, type ScoreRecord, scanScores } from "../scores.ts";
import { type Ending, type TaskScore, taskScore } from "../task-score.ts";
import { type VerdictWord, verdictOf, whyUnscored } from "./collect.ts";

export type RolloutScore = TaskScore & {
  verdict: VerdictWord;
  /** the latest of each check */
  results: ScoreRecord[];
};

export function readScore(folder: string, key: RolloutKey, ending: Ending): RolloutScore {
  const { path, manifest } = openRun(folder);
  const latest = new Map<string, ScoreRecord>();
  const add = (record: ScoreRecord) => {
    if (recordKeyText(record) === keyText(key)) latest.set(record.check, record);
  };
  scanScores(join(path, SCORES_FILE), add, () => {}, Buffer.from(JSON.stringify(key.queryId)));
  const results = [...latest.values()];
  const task = taskScore(results, ending, mergeSettings(manifest).score);
  const evidence = task.evidence ?? (task.pass === null ? whyUnscored(results) : undefined);
  return { ...task, evidence, verdict: verdictOf(task, results.length > 0), results };
}
