// Texts that look like keys. A finding is named by its kind and never shown.
import { createRedactor, findKeyKind } from "../core/index.ts";

export type SecretFinder = {
  /** the kind of the first secret in any text of a value */
  find(value: unknown): string | undefined;
  /** the same for a value that occurs often: searched once */
  findShared(value: object): string | undefined;
};

/** `known` are keys that must not leave, no matter what they look like. */
export function createSecretFinder(known: readonly string[] = []): SecretFinder {
  const redact = createRedactor(known);
  const inText = (text: string): string | undefined => {
    return findKeyKind(text) ?? (known.length > 0 && redact(text) !== text ? "a key of this environment" : undefined);
  };
  const clean = new Set<string>();
  /** Long texts such as system prompts occur again and again. */
  const inLongText = (text: string): string | undefined => {
    if (clean.has(text)) return undefined;
    const kind = inText(text);
    if (!kind && clean.size < 1000) clean.add(text);
    return kind;
  };
  const find = (value: unknown): string | undefined => {
    if (typeof value === "string") return value.length < 2000 ? inText(value) : inLongText(value);
    if (typeof value !== "object" || value === null) return undefined;
    for (const member of Array.isArray(value) ? value : Object.values(value)) {
      const kind = find(member);
      if (kind) return kind;
    }
    return undefined;
  };
  const cleanValues = new WeakSet<object>();
  return {
    find,
    findShared(value) {
      if (cleanValues.has(value)) return undefined;
      const kind = find(value);
      if (!kind) cleanValues.add(value);
      return kind;
    },
  };
}
