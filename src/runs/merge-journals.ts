// The journals of a run's shares as one: what happened to rollouts, without the sessions in which it did.
import type { DatasetCounts, RolloutEnd } from "../core/index.ts";
import type { LineWriter } from "../files/index.ts";
import type { DamagedLine } from "./damage.ts";
import { keyText } from "./finished.ts";
import { scanJournalLines } from "./journal-lines.ts";
import { leftOut } from "./scan-records.ts";
import { type Claims, journalHere, rolloutsOf, type Share } from "./shares.ts";

export type JournalMerge = {
  shares: readonly Share[];
  claims: Claims;
  writer: LineWriter;
  /** a rollout came to its end */
  onEnd(share: Share, end: RolloutEnd): void;
  onNotice(message: string): void;
};

export type MergedJournal = {
  /** of each share: how many queries it has, by dataset */
  queries: Map<string, number>[];
  /** when something happened last; undefined if nothing did */
  endedAt: string | undefined;
};

export function mergeJournals({ shares, claims, writer, onEnd, onNotice }: JournalMerge): MergedJournal {
  const queries = shares.map(() => new Map<string, number>());
  const taken = new Set<string>();
  let endedAt: string | undefined;
  for (const [index, share] of shares.entries()) {
    const file = journalHere(share, taken);
    if (file === undefined) {
      onNotice(`${share.folder}: its journal is not here; unfinished rollouts of it start over`);
      continue;
    }
    taken.add(file);
    const count = ({ name, planned }: DatasetCounts) =>
      queries[index]?.set(name, Math.ceil(planned / rolloutsOf(share)));
    const isOurs = new Map<string, boolean>();
    const damaged: DamagedLine[] = [];
    scanJournalLines(
      file,
      ({ type, key, bytes, event }) => {
        const told = type === "entry-end" ? undefined : event();
        if (told && "at" in told && told.at > (endedAt ?? "")) endedAt = told.at;
        if (told?.type === "run-start") told.datasets.forEach(count);
        if (told?.type === "rollout-start") isOurs.set(key, claims.claim(keyText(told), index));
        if (!isOurs.get(key)) return;
        if (told?.type === "rollout-end" && told.outcome.stopReason !== "infrastructure") onEnd(share, told);
        writer.write(bytes);
      },
      (line) => damaged.push(line),
    );
    if (damaged.length > 0) onNotice(leftOut(file, damaged));
  }
  return { queries, endedAt };
}
