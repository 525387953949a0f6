// Exact duplicates: the same user messages and the same agent calls, in the same order, regardless of everything else.
import { createHash } from "node:crypto";
import { canonicalJson } from "../core/index.ts";
import type { ExportRecord } from "./record.ts";
import { parseArguments } from "./training-dialogue.ts";

export const DUPLICATE = "a duplicate of an earlier one (user side and calls)";

/** Keeps a 16-byte hash for each record seen. */
export class Duplicates {
  readonly #seen = new Set<string>();

  /** Whether a record like this one was seen before. */
  has(record: ExportRecord): boolean {
    const before = this.#seen.size;
    this.#seen.add(hashLikeness(record));
    return this.#seen.size === before;
  }
}

function hashLikeness({ messages }: ExportRecord): string {
  const hash = createHash("sha256");
  for (const message of messages) {
    if (message.role === "user") hash.update(JSON.stringify(["user", message.content]));
    if (message.role !== "assistant") continue;
    for (const { function: call } of message.tool_calls ?? []) {
      const given = parseArguments(call.arguments);
      hash.update(JSON.stringify(["call", call.name, given ? canonicalJson(given) : call.arguments]));
    }
  }
  return hash.digest("base64").slice(0, 22);
}
