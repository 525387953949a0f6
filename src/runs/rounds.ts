// Where records are. Question sets keep one file per round of rollouts: `iter1.jsonl` holds rollout 0 of every
// question, `iter2.jsonl` rollout 1, and so on. A dataset's output names them all at once.
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileName } from "../files/index.ts";
import type { Manifest } from "./manifest.ts";

export const ROUND = "{round}";

/** The existing round files, in order; any other output is a single file. */
export function roundFiles(output: string): string[] {
  if (!output.includes(ROUND)) return [output];
  const [head = "", tail = ""] = basename(output).split(ROUND);
  const folder = dirname(output);
  const rounds = (existsSync(folder) ? readdirSync(folder) : []).flatMap((name) => {
    const number =
      name.startsWith(head) && name.endsWith(tail) ? name.slice(head.length, name.length - tail.length) : "";
    return /^[1-9]\d*$/.test(number) ? [Number(number)] : [];
  });
  return rounds.sort((a, b) => a - b).map((round) => join(folder, `${head}${round}${tail}`));
}

/** The files that hold a run's records, each with the dataset it belongs to. */
export function listRecordFiles(
  run: string,
  { datasets }: Pick<Manifest, "datasets">,
): { dataset: string; file: string }[] {
  return Object.entries(datasets).flatMap(([dataset, { output }]) =>
    recordFiles(run, dataset, output).map((file) => ({ dataset, file })),
  );
}

/**
 * A dataset's record files: where its manifest says. If that is their usual place, the one in this folder comes first: in
 * a run that was moved or copied, the manifest's may belong to another run by now.
 */
export function recordFiles(run: string, dataset: string, output: string): string[] {
  const usual = usualOutput(run, dataset, output);
  const isUsual = resolve(output).endsWith(`${sep}${relative(run, usual)}`);
  const places = (isUsual ? [usual, output] : [output, usual]).map(roundFiles);
  return places.find((files) => files.some((file) => existsSync(file))) ?? (places[0] as string[]);
}

/** Where a dataset's records are in a folder that holds all of them, in one file or in rounds as elsewhere. */
export function usualOutput(run: string, dataset: string, output: string): string {
  return output.includes(ROUND) ? join(run, basename(output)) : defaultOutput(run, dataset);
}

/** Where a dataset's records go unless the config says otherwise. */
export function defaultOutput(run: string, dataset: string): string {
  return join(run, "trajectories", `${fileName(dataset)}.jsonl`);
}

/** The files of this many rounds, whether or not they exist yet. */
export function allRounds(output: string, rollouts: number): string[] {
  if (!output.includes(ROUND)) return [output];
  return Array.from({ length: rollouts }, (_, rollout) => roundFile(output, rollout));
}

export function roundFile(output: string, rollout: number): string {
  return output.replace(ROUND, String(rollout + 1));
}

/** The number of the rollouts that a round's file holds. */
export function rolloutOf(output: string, file: string): number {
  const [head = "", tail = ""] = basename(output).split(ROUND);
  return Number(basename(file).slice(head.length, basename(file).length - tail.length)) - 1;
}
