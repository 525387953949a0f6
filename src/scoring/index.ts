export { describeAnswerFormat, markSaid, readAnswer } from "./answers/answer-format.ts";
export { acceptedAnswers } from "./answers/match-answer.ts";
export type { Check, CheckContext, CheckResult } from "./check.ts";
export { passAtK, passHatK } from "./estimators.ts";
export type { EvaluationCounts } from "./evaluate.ts";
export { type Interval, shareInterval, studentT975 } from "./intervals.ts";
export { type Numbers, numbersOf } from "./numbers.ts";
export { References } from "./references.ts";
export { repeatCalls } from "./replay.ts";
export type { AnnotationReport } from "./report/annotations.ts";
export { collectRun, type RolloutFacts, type VerdictWord, verdictOf, whyUnscored } from "./report/collect.ts";
export { type Comparison, compareReports, type Difference, describeDifference } from "./report/compare.ts";
export { readDialogues } from "./report/dialogues.ts";
export { reportHtml } from "./report/html.ts";
export { pageHtml } from "./report/page.ts";
export { questionRows } from "./report/question-rows.ts";
export { type AnswerNumbers, type Effort, type QuestionSet, summariseQuestions } from "./report/questions.ts";
export { type RankedQuery, rankQueries } from "./report/rank-queries.ts";
export { type RolloutScore, readScore } from "./report/read-score.ts";
export { buildReport, type Report } from "./report/report.ts";
export {
  describeAgreement,
  describeAnnotations,
  describeInfrastructure,
  describeOnly,
  explainNoScores,
} from "./report/sentences.ts";
export { barChart, columnChart, escapeHtml, percent } from "./report/svg.ts";
export { scoreFiles } from "./score-files.ts";
export { type LiveScoring, scoreLive } from "./score-live.ts";
export { mergeSettings, type ScoreRunOptions, scoreRun } from "./score-run.ts";
export { createScorer } from "./scorer.ts";
export { SCORES_FILE, type ScoreRecord } from "./scores.ts";
export { type EvaluationSettings, evaluationSchema } from "./settings.ts";
export {
  describeSource,
  openStoredDatasets,
  openStoredQueries,
  type StoredDataset,
  worldOf,
} from "./stored-datasets.ts";
export { TaskScores } from "./task-scores.ts";
export { readTranscript } from "./transcript.ts";
export { occurs, tells } from "./values.ts";
