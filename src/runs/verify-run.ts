// `rollout status --verify`: every line of a run's files, read and held against its checksum. Nothing is changed.
import { join } from "node:path";
import { ANNOTATIONS_FILE, scanAnnotations } from "./annotations.ts";
import type { DamagedLine } from "./damage.ts";
import { FAILURES_FILE, scanFailures } from "./failures.ts";
import { scanJournalLines } from "./journal-lines.ts";
import { scanPrompts } from "./prompt-store.ts";
import { journalOf, openRun } from "./read-run.ts";
import { listRecordFiles, ROUND, rolloutOf } from "./rounds.ts";
import { writerOf } from "./run-folder.ts";
import { scanRecords } from "./scan-records.ts";

export type VerifiedRun = {
  /** whose checksums match */
  good: number;
  /** older, or made elsewhere: they parse and fit */
  without_checksum: number;
  damaged: { file: string; line: number; reason: string }[];
};

/** `onRecord`: one more was read. */
export function verifyRun(folder: string, onRecord: () => void = () => {}): VerifiedRun {
  const { path, manifest } = openRun(folder);
  const isWriting = writerOf(path) !== undefined;
  const verified: VerifiedRun = { good: 0, without_checksum: 0, damaged: [] };
  const blame = (file: string) => (line: Pick<DamagedLine, "number" | "reason">) =>
    verified.damaged.push({ file, line: line.number, reason: line.reason });
  for (const { dataset, file } of listRecordFiles(path, manifest)) {
    const output = manifest.datasets[dataset]?.output ?? "";
    const rollout = output.includes(ROUND) ? rolloutOf(output, file) : undefined;
    const shared = !file.startsWith(path);
    for (const { examined, number, isOpen } of scanRecords(file, { dataset, rollout, shared })) {
      onRecord();
      if (typeof examined === "object") verified[examined.sealed ? "good" : "without_checksum"]++;
      else if (isOpen && !isWriting) blame(file)({ number, reason: "is torn" });
      else if (typeof examined === "string" && !isOpen) blame(file)({ number, reason: examined });
    }
  }
  const others: [string, (file: string, onDamage: (line: DamagedLine) => void) => number][] = [
    [join(path, FAILURES_FILE), (file, onDamage) => scanFailures(file, () => {}, onDamage)],
    [join(path, ANNOTATIONS_FILE), scanAnnotations],
    [join(path, "prompts.jsonl"), (file, onDamage) => scanPrompts(file, () => {}, onDamage)],
    [journalOf(path, manifest), (file, onDamage) => scanJournalLines(file, () => {}, onDamage)],
  ];
  for (const [file, scan] of others) scan(file, blame(file));
  return verified;
}
