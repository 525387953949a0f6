// What was asked of a run: enough to understand it later, to resume it, and to say what changed since.
import { existsSync, readFileSync } from "node:fs";
import { contentHash, isObject, type Json, messageOf, UsageError } from "../core/index.ts";
import { writeWhole } from "../files/index.ts";

/** 2: the manifest holds the resolved config, flags included, and no command. */
export const FORMAT_VERSION = 2;

export const MANIFEST_FILE = "manifest.json";

/** The parts of a dataset's fingerprint, by name, so that drift can be described. */
export type FingerprintParts = { [part: string]: Json };

export type Manifest = {
  format_version: number;
  program_version: string;
  node_version: string;
  created_at: string;
  updated_at: string;
  seed: number;
  /** the folder that relative paths start from */
  working_directory?: string;
  /** where the journal is, if not in the folder */
  journal?: string;
  /** the file that the config was read from, if any: literal keys are read from it again */
  config_file?: string;
  /** what the run is called on a queue, if it was ever on one */
  queue_id?: string;
  /** the resolved config, flags included; keys by NAME or "<literal>" */
  config: Json;
  datasets: { [name: string]: ManifestDataset };
};

export type ManifestDataset = {
  output: string;
  parts: FingerprintParts;
  /** the hash of the parts */
  base: string;
  /** where its queries and its domain come from, for looking at the run later */
  source?: Json;
  /** earlier settings; records made with them are kept */
  earlier?: { parts: FingerprintParts; base: string }[];
};

/** `base` is the hash of the settings' parts. */
export function rolloutFingerprint(base: string, queryHash: string): string {
  return contentHash(`${base} ${queryHash}`);
}

export function readManifest(path: string): Manifest | undefined {
  if (!existsSync(path)) return undefined;
  let manifest: unknown;
  const text = readWhole(path);
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`is not valid JSON (${messageOf(error)}); it is this run's manifest. ${REMEDY}`, {
      file: path,
    });
  }
  if (!isObject(manifest) || typeof manifest.format_version !== "number")
    throw new UsageError("is not a run's manifest", { file: path });
  if (manifest.format_version > FORMAT_VERSION) {
    throw new UsageError(
      `was written by a newer version of rollout (format ${manifest.format_version}, this one knows ${FORMAT_VERSION}); update rollout to continue this run`,
      { file: path },
    );
  }
  const fault = faultIn(manifest);
  if (fault) throw new UsageError(`is damaged: ${fault}. ${REMEDY}`, { file: path });
  return manifest as Manifest;
}

function readWhole(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`cannot be read (${messageOf(error)})`, { file: path });
  }
}

const REMEDY =
  "Put back a copy; or move it away and run the command that began the run again: records and journal are kept";

/** What readers count on, and is not there. */
function faultIn({ config, datasets, ...manifest }: Record<string, unknown>): string | undefined {
  const isEarlier = manifest.format_version !== FORMAT_VERSION;
  if (!isEarlier && config !== undefined && !isObject(config)) return '"config" is not whole';
  if (!isObject(datasets)) return '"datasets" is missing';
  for (const [name, dataset] of Object.entries(datasets)) {
    const { output, parts = {}, base = "" } = isObject(dataset) ? dataset : {};
    if (typeof output !== "string" || !isObject(parts) || typeof base !== "string")
      return `dataset "${name}" is not whole`;
  }
  const isPathOrNone = (path: unknown) => path === undefined || typeof path === "string";
  const paths = ["working_directory", "journal", "config_file"];
  const broken = paths.find((name) => !isPathOrNone(manifest[name]));
  return broken && `"${broken}" is no path`;
}

export function writeManifest(path: string, manifest: Manifest): void {
  writeWhole(path, `${JSON.stringify(manifest, null, 2)}\n`);
}
