// What is compared, as an address writes it: RUN, or RUN/DATASET/ID, each part encoded.
import { signal } from "@preact/signals";
import { Address, encodePart } from "../address.ts";

export type ComparedPlace = { run: string; dataset?: string; id?: string };

export function readPlace(text: string | null): ComparedPlace | undefined {
  const parts = (text ?? "").split("/").map(decode);
  const [run, dataset] = parts;
  if (!run || parts.length === 2) return undefined;
  return parts.length === 1 ? { run } : { run, dataset, id: parts.slice(2).join("/") };
}

export function writePlace(...parts: string[]): string {
  return parts.map(encodePart).join("/");
}

export function pathToCompare(a: string, b?: string): string {
  return `/compare?${new URLSearchParams(b === undefined ? { a } : { a, b })}`;
}

/** Picked as the first of two. */
export const picked = signal<string | undefined>(undefined);

/** The first of two is remembered, the second opens the comparison. */
export function pick(place: string): void {
  const first = picked.value;
  if (first === place) picked.value = undefined;
  else if (first === undefined || first.split("/").length !== place.split("/").length) picked.value = place;
  else {
    picked.value = undefined;
    Address.go(pathToCompare(first, place));
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
