// What differs between two settings of a dataset, in words for a person.
import { contentHash, type Json } from "../core/index.ts";
import type { FingerprintParts } from "./manifest.ts";

export function describeDrift(then: FingerprintParts | undefined, now: FingerprintParts): string[] {
  if (!then) return [];
  return [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((part) => contentHash(then[part] ?? null) !== contentHash(now[part] ?? null))
    .map((part) =>
      isHash(then[part]) && isHash(now[part]) ? `${part} changed` : `${part}: ${show(then[part])} → ${show(now[part])}`,
    );
}

function isHash(value: Json | undefined): boolean {
  return typeof value === "string" && /^[0-9a-f]{16}$/.test(value);
}

function show(value: Json | undefined): string {
  return value === undefined ? "(not set)" : typeof value === "string" ? value : JSON.stringify(value);
}
