// Which files hold the requested records: a run folder, a folder of the original system's outputs, or plain files.
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../core/index.ts";
import { ANNOTATIONS_FILE, FAILURES_FILE, listRecordFiles, MANIFEST_FILE, readManifest } from "../runs/index.ts";

export type InputFile = {
  file: string;
  /** the dataset of its records if they do not name one themselves */
  dataset: string;
  /** the run folder around it, if there is one: prompts.jsonl and scores.jsonl are looked for there */
  run: string | undefined;
};

/** Files in a run folder other than its records. */
const NOT_RECORDS = new Set([
  ...["prompts.jsonl", "journal.jsonl", FAILURES_FILE, "scores.jsonl", "judgements.jsonl", ANNOTATIONS_FILE],
]);

export function findInputs(paths: readonly string[]): InputFile[] {
  const found = new Map<string, InputFile>();
  for (const path of paths) {
    if (!existsSync(path)) throw new UsageError(`There is no file or folder ${path}`);
    const files = statSync(path).isDirectory() ? filesOf(path) : [plainFile(path)];
    if (files.length === 0) throw new UsageError(`${path} holds no trajectories (*.jsonl)`);
    for (const input of files) found.set(realpathSync(input.file), found.get(realpathSync(input.file)) ?? input);
  }
  return [...found.values()];
}

/** A run's records are where its manifest says; a folder that is not a run holds result files. */
function filesOf(folder: string): InputFile[] {
  const manifest = readManifest(join(folder, MANIFEST_FILE));
  const inside = jsonLines(join(folder, "trajectories"));
  if (!manifest) return (inside.length > 0 ? inside : jsonLines(folder)).map(plainFile);
  return listRecordFiles(folder, manifest)
    .filter(({ file }) => existsSync(file))
    .map((input) => ({ ...input, run: folder }));
}

function plainFile(file: string): InputFile {
  const folders = [dirname(file), dirname(dirname(file))];
  return { file, dataset: stem(file), run: folders.find((folder) => existsSync(join(folder, "prompts.jsonl"))) };
}

function jsonLines(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl") && !NOT_RECORDS.has(name) && !name.startsWith("."))
    .sort()
    .map((name) => join(folder, name));
}

function stem(file: string): string {
  const name = basename(file, ".jsonl");
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
