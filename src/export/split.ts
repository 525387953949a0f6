// Sides of a split. A query's side depends on its id alone: all its rollouts are on one side, in this export and in
// every later one, whatever is added.
import { createHash } from "node:crypto";
import { UsageError } from "../core/index.ts";

export type Split = { name: string; share: number }[];

export function parseSplit(text: string): Split {
  const split = text.split(",").map((part) => {
    const [, name, share] = /^\s*([A-Za-z0-9_-]+)\s*=\s*([0-9.]+)\s*$/.exec(part) ?? [];
    if (!name || !(Number(share) > 0))
      throw new UsageError(`--split "${text}": write it as train=0.9,valid=0.1, each share above 0`);
    return { name, share: Number(share) };
  });
  const total = split.reduce((sum, { share }) => sum + share, 0);
  if (Math.abs(total - 1) > 1e-6) throw new UsageError(`--split "${text}": the shares add up to ${total}, not to 1`);
  if (new Set(split.map(({ name }) => name)).size < split.length)
    throw new UsageError(`--split "${text}": a name appears twice`);
  return split;
}

export function sideOf(split: Split, queryId: string): string {
  const place = createHash("sha256").update(`split\n${queryId}`).digest().readUInt32BE(0) / 2 ** 32;
  let end = 0;
  for (const { name, share } of split) {
    end += share;
    if (place < end) return name;
  }
  return (split.at(-1) as Split[number]).name;
}
