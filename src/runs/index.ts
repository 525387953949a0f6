export {
  ANNOTATION_WORDS,
  AnnotationBook,
  type AnnotationWord,
  judgesOf,
  type Remark,
  tagsOf,
  wordOf,
} from "./annotation-book.ts";
export {
  ANNOTATIONS_FILE,
  type AnnotationRecord,
  appendAnnotation,
  JUDGEMENTS,
  type Judgement,
} from "./annotations.ts";
export { type DamagedLine, MAX_NAMED, setAside } from "./damage.ts";
export { describeDrift } from "./describe-drift.ts";
export {
  bodyOf,
  brokenMetadata,
  CHANGED,
  examineRecord,
  isBlank,
  MISNAMED,
  parseLine,
  readTrajectory,
} from "./examine-record.ts";
export { adviceFor, type FailureGroup, groupFailures } from "./failure-groups.ts";
export {
  FAILURES_FILE,
  type FailureRecord,
  isLastAttempt,
  MAX_ATTEMPTS,
  readFailureLine,
  scanFailures,
} from "./failures.ts";
export { type FinishedRecord, keyText, readHead, recordKeyText } from "./finished.ts";
export type { Unfinished } from "./journal.ts";
export { claimJournalFolder } from "./journal-folder.ts";
export {
  type JournalLine,
  journalKeyText,
  type RecordedAttempt,
  readAttempt,
  readJournalLine,
} from "./journal-lines.ts";
export {
  type FingerprintParts,
  FORMAT_VERSION,
  MANIFEST_FILE,
  type Manifest,
  type ManifestDataset,
  readManifest,
  rolloutFingerprint,
} from "./manifest.ts";
export { type MergedRun, type MergeOptions, mergeRuns } from "./merge-runs.ts";
export { PromptKeeper, readPrompt, type StoredPrompt, scanPrompts } from "./prompt-store.ts";
export {
  journalOf,
  newestRun,
  openRun,
  type RolloutRecord,
  type RunOverview,
  readFailures,
  readRollouts,
  readRun,
} from "./read-run.ts";
export { allRounds, defaultOutput, listRecordFiles, ROUND, recordFiles, roundFiles } from "./rounds.ts";
export { findFreePath, RunFolder, writerOf } from "./run-folder.ts";
export { DamageNotes, leftOut, readTrajectories, scanRecords } from "./scan-records.ts";
export { sortRun } from "./sort-run.ts";
export { type DatasetSummary, scanMetadata, summarise, writeSummary } from "./summary.ts";
export { type DatasetTally, RunTally, type RunTotals } from "./tally.ts";
export { type ToolErrors, ToolErrorTally } from "./tool-errors.ts";
export { type VerifiedRun, verifyRun } from "./verify-run.ts";
