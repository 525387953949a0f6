// Shares of a run, for machines that share nothing: every n-th query of a dataset. Shares are equal but for one query, and
// queries that are added at the end move no others.
import { contentHash } from "./json.ts";

/** Share `index` of `count`, from 1 on. */
export type Split = { index: number; count: number };

/** From text such as `2/5`; undefined if it is none. */
export function parseSplit(text: string): Split | undefined {
  const [, first, second] = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text) ?? [];
  const [index, count] = [Number(first), Number(second)];
  return index <= count ? { index, count } : undefined;
}

/** Whether a share holds the query at a position. Datasets begin with different shares: many small ones are shared evenly. */
export function createShare(dataset: string, { index, count }: Split): (position: number) => boolean {
  const offset = Number.parseInt(contentHash(dataset).slice(0, 12), 16) % count;
  return (position) => (position + offset) % count === index - 1;
}
