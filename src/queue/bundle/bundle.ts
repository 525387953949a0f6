// What a worker gets of a run: its resolved settings without any secret, the files it needs by content hash, and the names
// of the variables that the worker's own environment must have.
import type { Json } from "../../core/index.ts";

/** `path` is relative, with `/`: `run/…` as the files lie to each other, `bundled/…` for those of the program itself. */
export type BundleFile = { path: string; hash: string; mode: number; size: number };

export type RunBundle = {
  /** the run's name, for messages */
  name: string;
  /** a `ResolvedRun` with its paths replaced by references */
  spec: Json;
  files: BundleFile[];
  /** names of variables; `A|B` where one of them is enough */
  needs: string[];
};

export type PackedRun = RunBundle & {
  /** what people should know about what is not sent, one line each */
  notes: string[];
  /** the bytes of one of its files, in pieces; throws a UsageError if the file has changed since */
  read(hash: string): AsyncIterable<Uint8Array>;
};

/** Where a path stands in the spec. `before` and `after` are the rest of a text that has a path in it. */
export type FileReference = { $file: string; before?: string; after?: string };
/** For texts that mean a part of the program that reads them: its own Node, or a file of its own package. */
export type ProgramReference = { $program: string };

export const RUN = "run";
export const BUNDLED = "bundled";
export const NODE = "node";
