// Texts that look like keys. A finding is named by its kind and never shown.
import { createRedactor } from "../core/index.ts";

const KINDS: [string, RegExp][] = [
  ["an API key (sk-…)", /(?<![A-Za-z0-9_])sk-(?:[A-Za-z0-9]{20,}|(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{24,})/],
  ["an AWS access key", /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])/],
  ["a Google API key", /(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}/],
  ["a GitHub token", /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40,})/],
  ["a GitLab token", /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,}/],
  ["a Hugging Face token", /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/],
  ["a Slack token", /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}/],
  ["a Stripe key", /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/],
  ["an npm token", /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}/],
  ["a provider's key", /(?<![A-Za-z0-9])(?:gsk|xai|pplx|nvapi|tvly|r8|fw)[-_][A-Za-z0-9_-]{30,}/],
  ["a private key", /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ["a JSON web token", /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/],
  ["a bearer token", /[Bb]earer\s+(?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{24,}/],
];
/** What every secret of these kinds contains: most texts contain none, and need only one search. */
const HINT =
  /sk-|AKIA|ASIA|AIza|gh[pousr]_|github_pat_|glpat-|hf_|xox|k_(?:live|test)_|npm_|gsk|xai|pplx|nvapi|tvly|r8[-_]|fw[-_]|-----B|eyJ|earer\s/;

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
    const kind = HINT.test(text) ? KINDS.find(([, pattern]) => pattern.test(text))?.[0] : undefined;
    return kind ?? (known.length > 0 && redact(text) !== text ? "a key of this environment" : undefined);
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
