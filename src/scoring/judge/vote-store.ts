// What judges answered, by the content of the question: `judgements.jsonl` in the run folder.
import { AppendFile, type AppendOptions, jsonLine, scanLines } from "../../files/index.ts";
import { bodyOf, type DamagedLine, isBlank, parseLine, setAside } from "../../runs/index.ts";

type StoredVote = { key: string; model: string; vote: number; content: string };

export type VoteStore = {
  get(key: string): string | undefined;
  put(vote: StoredVote): Promise<void>;
  close(): Promise<void>;
};

type VoteStoreOptions = Pick<AppendOptions, "onPause" | "giveUp"> & { onNotice?: (message: string) => void };

/** Only for the holder of the scores' lock: damaged lines are set aside, and their questions are asked again. */
export function openVoteStore(path: string, { onNotice = () => {}, ...options }: VoteStoreOptions = {}): VoteStore {
  const kept = new Map<string, string>();
  const damaged: DamagedLine[] = [];
  let completeBytes: number | undefined = scanLines(path, ({ bytes, offset, length, number }) => {
    const vote = isBlank(bodyOf(bytes)) ? undefined : parseLine(bodyOf(bytes));
    if (vote === undefined) return;
    const { key, content } = typeof vote === "string" ? {} : vote;
    if (typeof key === "string" && typeof content === "string") kept.set(key, content);
    else damaged.push({ offset, length, number, reason: typeof vote === "string" ? vote : "is not a vote" });
  });
  if (damaged.length > 0) {
    onNotice(setAside(path, damaged));
    completeBytes = undefined;
  }
  let file: AppendFile | undefined;
  return {
    get: (key) => kept.get(key),
    put: async (vote) => {
      kept.set(vote.key, vote.content);
      file ??= new AppendFile(path, { ...options, sync: "batch", completeBytes });
      await file.append(jsonLine(vote));
    },
    close: async () => file?.close(),
  };
}
