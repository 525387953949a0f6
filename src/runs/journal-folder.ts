// Where a run keeps its journal when told to keep it elsewhere. The first run to use a folder has it to itself;
// others that name the same folder get one inside it, so that two runs' entries never mix.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { messageOf, UsageError } from "../core/index.ts";
import { fileName } from "../files/index.ts";

const OWNER = "journal.owner";

export function claimJournalFolder(checkpointDir: string, run: string): string {
  const path = resolve(run);
  try {
    mkdirSync(checkpointDir, { recursive: true });
    writeFileSync(join(checkpointDir, OWNER), path, { flag: "wx" });
    return checkpointDir;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw new UsageError(`Cannot write to ${checkpointDir}: ${messageOf(error)}`);
    }
  }
  const owner = readFileSync(join(checkpointDir, OWNER), "utf8");
  return owner === path ? checkpointDir : join(checkpointDir, fileName(path));
}
