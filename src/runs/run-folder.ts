// A run's folder while it is being written: one writer, append-only files, a rollout finished only once it is on disk.
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { messageOf, type RunEvent, type Trajectory, UsageError } from "../core/index.ts";
import { AppendFile, type SyncMode } from "./append-file.ts";
import { type FinishedRecord, scanFinished } from "./finished.ts";
import { journalLine, scanJournal, type Unfinished } from "./journal.ts";
import { fileName, jsonLine } from "./lines.ts";
import { Lock } from "./lock.ts";
import { type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { PromptStore } from "./prompt-store.ts";

export type RunFolderOptions = {
  path: string;
  sync: SyncMode;
  /** false: no entries are journaled, so rollouts that are cut off start over */
  checkpoints: boolean;
  /** another folder for the journal */
  checkpointDir?: string;
  onPause?: (message: string) => void;
};

/** A rollout that ended for infrastructure reasons. */
export type FailureRecord = {
  id: string;
  query_id: string;
  rollout: number;
  dataset: string;
  attempt: number;
  error: string;
  boundary: string;
  entries: number;
  at: string;
};

export class RunFolder {
  readonly path: string;
  readonly manifest: Manifest | undefined;
  readonly prompts: PromptStore;
  readonly #options: RunFolderOptions;
  readonly #lock: Lock;
  readonly #journal: AppendFile;
  readonly #failures: AppendFile;
  readonly #outputs = new Map<string, AppendFile>();
  #unfinished: Map<string, Unfinished>;

  constructor(options: RunFolderOptions) {
    this.path = resolve(options.path);
    this.#options = options;
    makeWritable(this.path);
    this.#lock = Lock.take(join(this.path, "lock"), this.path);
    try {
      this.manifest = readManifest(join(this.path, "manifest.json"));
      const journalPath = join(options.checkpointDir ?? this.path, "journal.jsonl");
      const { unfinished, completeBytes } = scanJournal(journalPath);
      this.#unfinished = unfinished;
      this.#journal = new AppendFile(journalPath, { ...this.#append(), completeBytes });
      this.#failures = new AppendFile(join(this.path, "failures.jsonl"), this.#append());
      this.prompts = new PromptStore(join(this.path, "prompts.jsonl"), this.#append());
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  writeManifest(manifest: Manifest): void {
    writeManifest(join(this.path, "manifest.json"), manifest);
  }

  /** Opens a dataset's output and calls back for each rollout that it holds already. */
  openOutput(dataset: string, output: string, onRecord: (record: FinishedRecord) => void): void {
    const completeBytes = scanFinished(output, dataset, onRecord);
    this.#outputs.set(dataset, new AppendFile(output, { ...this.#append(), completeBytes }));
  }

  /** Hands over what the journal knows of rollouts that did not end; asked for once, so that nothing is kept. */
  takeUnfinished(): Map<string, Unfinished> {
    const unfinished = this.#unfinished;
    this.#unfinished = new Map();
    return unfinished;
  }

  /** Resolves when the event is safe against any kill of this process. */
  async record(event: RunEvent): Promise<void> {
    if (event.type === "entry-end" && !this.#options.checkpoints) return;
    await this.#journal.append(journalLine(event));
  }

  /** Resolves when the record is on disk. */
  async finish(trajectory: Trajectory): Promise<void> {
    const output = this.#outputs.get(trajectory.dataset);
    if (!output) throw new Error(`the output of ${trajectory.dataset} is not open`);
    await output.append(jsonLine(trajectory));
    await output.synced();
  }

  async fail(failure: FailureRecord): Promise<void> {
    await this.#failures.append(jsonLine(failure));
    await this.#failures.synced();
  }

  async close(): Promise<void> {
    try {
      await Promise.all(
        [...this.#outputs.values(), this.#journal, this.#failures, this.prompts].map((file) => file.close()),
      );
    } finally {
      this.#lock.release();
    }
  }

  #append() {
    return { sync: this.#options.sync, ...(this.#options.onPause ? { onPause: this.#options.onPause } : {}) };
  }
}

/** Where a dataset's records go unless the config says otherwise. */
export function defaultOutput(run: string, dataset: string): string {
  return join(run, "trajectories", `${fileName(dataset)}.jsonl`);
}

/** `path`, or the first of `path.2`, `path.3`, … that is not there: a run that must not touch the earlier one. */
export function besideIfTaken(path: string, isTaken: (path: string) => boolean = existsSync): string {
  if (!isTaken(path)) return path;
  const [, stem = path, extension = ""] = /^(.*?)(\.jsonl)?$/.exec(path) ?? [];
  let n = 2;
  while (isTaken(`${stem}.${n}${extension}`)) n++;
  return `${stem}.${n}${extension}`;
}

function makeWritable(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new UsageError(`Cannot write to ${path}: ${messageOf(error)}`);
  }
}
