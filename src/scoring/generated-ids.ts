// Ids that a tool generates differ from one environment to the next. Where a result from a record and the result of the
// same call played again hold different ids at the same place, they stand for the same thing.
import { isObject, parseJson } from "../core/index.ts";

/** A uuid, with or without hyphens, or a prefix and hex digits: `APT-1a2b3c4d`. */
const ID = /\b(?:[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|([a-z]\w*[-_])[0-9a-f]{6,32})\b/gi;

/** Recorded ids and what they are called now. */
export class GeneratedIds {
  readonly #renamed = new Map<string, string>();

  get size(): number {
    return this.#renamed.size;
  }

  /** A text from the record, in the ids of now. */
  rename(text: string): string {
    if (this.#renamed.size === 0) return text;
    const recorded = new RegExp([...this.#renamed.keys()].join("|"), "g");
    return text.replace(recorded, (id) => this.#renamed.get(id) as string);
  }

  /** An id that both results hold was not generated; one that is known already keeps its first meaning. */
  learn(recorded: string, replayed: string): void {
    for (const [before, now] of pairIds(parseJson(recorded) ?? recorded, parseJson(replayed) ?? replayed)) {
      if (this.#renamed.has(before) || replayed.includes(before) || recorded.includes(now)) continue;
      this.#renamed.set(before, now);
    }
  }
}

/** The ids at the same places of two values; whatever else differs, such as times, is passed over. */
function pairIds(recorded: unknown, replayed: unknown): [string, string][] {
  if (typeof recorded === "string" && typeof replayed === "string") {
    if (withoutIds(recorded) !== withoutIds(replayed)) return [];
    const now = replayed.match(ID) ?? [];
    return (recorded.match(ID) ?? []).map((id, index) => [id, now[index] as string]);
  }
  if (Array.isArray(recorded) && Array.isArray(replayed)) {
    return recorded.length === replayed.length ? recorded.flatMap((item, at) => pairIds(item, replayed[at])) : [];
  }
  if (!isObject(recorded) || !isObject(replayed)) return [];
  return Object.entries(recorded).flatMap(([key, member]) => pairIds(member, replayed[key]));
}

function withoutIds(text: string): string {
  return text.replace(ID, (_, prefix = "") => `${prefix}…`);
}
