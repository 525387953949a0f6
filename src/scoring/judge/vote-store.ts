// What judges answered, by the content of the question: `judgements.jsonl` in the run folder.
import { isObject, parseJson } from "../../core/index.ts";
import { AppendFile, type AppendOptions, jsonLine, scanLines } from "../../files/index.ts";

type StoredVote = { key: string; model: string; vote: number; content: string };

export type VoteStore = {
  get(key: string): string | undefined;
  put(vote: StoredVote): Promise<void>;
  close(): Promise<void>;
};

export function openVoteStore(path: string, options: Pick<AppendOptions, "onPause" | "giveUp"> = {}): VoteStore {
  const kept = new Map<string, string>();
  const completeBytes = scanLines(path, ({ bytes }) => {
    const vote = parseJson(bytes.toString("utf8"));
    if (isObject(vote)) kept.set(String(vote.key), String(vote.content));
  });
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
