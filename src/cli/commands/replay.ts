// `rollout replay`: makes the recorded calls of runs again, and says whether they still lead to what is recorded.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { replayRun } from "../../runner/index.ts";
import { openRun } from "../../runs/index.ts";
import { hideVariables } from "../environment.ts";
import { list, whole } from "../flags.ts";
import type { Configure, Host } from "../host.ts";
import { listenForInterrupt } from "../interrupt.ts";
import { createCountProgress } from "../printing/count-progress.ts";
import { replayLines } from "../printing/replay-text.ts";
import { createTerminal, printableJson, printableName } from "../printing/terminal.ts";

type ReplayFlags = { ids?: string[]; dataset?: string[]; json?: boolean; maxWorkers?: number };

const EXAMPLES = `
Examples:
  rollout replay outputs/example
  rollout replay outputs/example --dataset StudentAcademicPortal --ids sap-001,sap-002
  rollout replay outputs/first outputs/second --json

No model is asked and nothing is written. Calls to shared MCP servers and of plain functions are
trusted, not made again.
Exit code 3 where something differs or could not be executed.`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<runs...>", "run folders")
    .option("--ids <a,b>", "only these records, or all rollouts of these queries", list)
    .option("--dataset <a,b>", "only records of these datasets", list)
    .option("--json", "one JSON object per run, one per line")
    .option("--max-workers <n>", "records at once (default: 8)", whole(1))
    .addHelpText("after", EXAMPLES)
    .action(async (folders: string[], flags: ReplayFlags) => done(await replayAll(folders, flags, host)));
};

async function replayAll(folders: string[], flags: ReplayFlags, host: Host): Promise<number> {
  const terminal = createTerminal(host);
  const runs = folders.map((folder) => ({ folder, path: resolve(folder), manifest: openRun(folder).manifest }));
  const progress = createCountProgress(host);
  const say = (text: string) => {
    progress.erase();
    terminal.err(printableName(text));
  };
  const stopping = () => say("Stopping after the records that are being replayed.");
  const interrupt = listenForInterrupt(host, stopping, { maxWaitMs: 0 }); // nothing is paid for, nothing is written
  let code = 0;
  try {
    for (const { folder, path, manifest } of runs) {
      if (interrupt.park.aborted) break;
      // paths in the run's config start where it was started
      const from = manifest.working_directory;
      if (from && existsSync(from)) host.chdir(from);
      hideVariables(manifest.config);
      const replayed = await replayRun({
        folder: path,
        env: host.env,
        ids: flags.ids,
        datasets: flags.dataset,
        maxWorkers: flags.maxWorkers,
        park: interrupt.park,
        onNotice: say,
        onProgress: (count, total) => progress.show(`${count} of ${total} records replayed`),
      });
      progress.erase();
      const named = { ...replayed, folder };
      for (const line of flags.json ? [printableJson(JSON.stringify(named))] : replayLines(terminal, named))
        terminal.out(line);
      if (replayed.first) code = 3;
    }
    return interrupt.park.aborted ? 130 : code;
  } finally {
    progress.stop();
    interrupt.release();
  }
}
