export type { CallInFlight } from "./calls-in-flight.ts";
export { requireKnownRecords, withOurIds } from "./earlier-records.ts";
export { createLoadWriter, readLoad } from "./live-load.ts";
export { type MakeOptions, makeRollouts, networkOptions, type RunLoad, type RunResult } from "./make-rollouts.ts";
export { chooseOutputs, outputOf } from "./output-files.ts";
export { chooseQueries, DriftError, requireKnownIds } from "./plan.ts";
export { type PreparedDataset, prepareDataset } from "./prepare-dataset.ts";
export type { Difference } from "./replay-record.ts";
export { type ReplayedRun, type ReplayRunOptions, replayRun } from "./replay-run.ts";
