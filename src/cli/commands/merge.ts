// `rollout merge`: the shares of a run, made with --split, put together.
import { basename, join } from "node:path";
import { PROGRAM_COMMAND } from "../../core/index.ts";
import { listRecordFiles, mergeRuns, openRun, ROUND, summarise, writeSummary } from "../../runs/index.ts";
import { SCORES_FILE, summariseQuestions, TaskScores } from "../../scoring/index.ts";
import type { Configure } from "../host.ts";
import { createCountProgress } from "../printing/count-progress.ts";
import { quote, shortPath } from "../printing/shell-text.ts";
import { createTerminal, printableName } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout merge outputs/share-1 outputs/share-2 outputs/share-3 --output-dir outputs/all
  rollout merge outputs/share-* --output-dir outputs/so-far --partial

The result is an ordinary run folder, the same as that of the run made without --split: records, failures, prompts,
scores, journal. The shares are only read. Shares of different settings, two different records of one rollout, a folder
that is being written to and a missing share are refused.`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<folders...>", "the run folders of the shares")
    .requiredOption("--output-dir <dir>", "the new run folder")
    .option("--partial", "some shares may be missing: resuming the new run makes their rollouts")
    .addHelpText("after", EXAMPLES)
    .action((folders: string[], { outputDir, partial }: { outputDir: string; partial?: boolean }) => {
      const terminal = createTerminal(host);
      const progress = createCountProgress(host, { text: "reading the shares" });
      const onNotice = (text: string) => {
        progress.erase();
        terminal.err(printableName(text));
      };
      const merged = (() => {
        try {
          const onRecord = () => progress.count("records merged");
          return mergeRuns({ folders, target: outputDir, partial, keyedFiles: [SCORES_FILE], onRecord, onNotice });
        } finally {
          progress.stop();
        }
      })();
      const { path, records, planned, missing } = merged;
      keepSummary(path);
      const folder = quote(shortPath(path));
      const left = planned - records;
      terminal.out(`${records} records of ${folders.length} folders are in ${printableName(shortPath(path))}`);
      if (missing.length > 0)
        terminal.out(`Not there: ${missing.length === 1 ? "share" : "shares"} ${missing.join(", ")}`);
      if (left > 0 || missing.length > 0) {
        const known = left > 0 ? `${left} rollouts of the shares are not finished. ` : "";
        terminal.out(`${known}To make what is missing: ${PROGRAM_COMMAND} resume ${folder}`);
      }
      done(0);
    });
};

function keepSummary(path: string): void {
  const { manifest } = openRun(path);
  const summaries = listRecordFiles(path, manifest).map(({ dataset, file }) => {
    const inRounds = manifest.datasets[dataset]?.output.includes(ROUND);
    return [inRounds ? basename(file, ".jsonl") : dataset, summarise(file)];
  });
  const questions = summariseQuestions(path, new TaskScores(path));
  const more = Object.keys(questions).length > 0 ? { questions } : {};
  writeSummary(join(path, "summary.json"), Object.fromEntries(summaries), more);
}
