// `--eval`: each rollout is scored soon after it is finished, while other rollouts are still running.
import type { RunEvent } from "../core/index.ts";
import { Evaluation, type EvaluationOptions } from "./evaluate.ts";
import { type PlayedDataset, toScoredDataset } from "./scored-datasets.ts";

export type LiveScoring = { onEvent(event: RunEvent): void; finish(): Promise<void>; close(): Promise<void> };

type LiveOptions = Omit<EvaluationOptions, "datasets"> & {
  /** called once if scoring cannot go on */
  onFailure: (error: unknown) => void;
};

export function scoreLive(datasets: PlayedDataset[], { onFailure, ...options }: LiveOptions): LiveScoring {
  const evaluation = new Evaluation({ ...options, datasets: datasets.map(toScoredDataset) });
  let failure: unknown;
  let waiting = false;
  return {
    onEvent(event) {
      if (event.type !== "rollout-end" || waiting) return;
      waiting = true;
      // rollouts that end during one pass are scored by the next
      setImmediate(() => {
        waiting = false;
        evaluation.catchUp().catch((error: unknown) => {
          if (failure === undefined) onFailure(error);
          failure ??= error;
        });
      });
    },
    async finish() {
      if (failure) throw failure;
      await evaluation.catchUp();
    },
    close: () => evaluation.close(),
  };
}
