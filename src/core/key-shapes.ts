// What keys look like: the shapes that providers give theirs, and text that nobody would write by hand.

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
const EACH_KIND = KINDS.map(([, pattern]) => new RegExp(pattern, "g"));
/** What every secret of these kinds contains: most texts contain none, and need only one search. */
const HINT =
  /sk-|AKIA|ASIA|AIza|gh[pousr]_|github_pat_|glpat-|hf_|xox|k_(?:live|test)_|npm_|gsk|xai|pplx|nvapi|tvly|r8[-_]|fw[-_]|-----B|eyJ|earer\s/;

/** The kind of the first key in a text, by its shape. */
export function findKeyKind(text: string): string | undefined {
  return HINT.test(text) ? KINDS.find(([, pattern]) => pattern.test(text))?.[0] : undefined;
}

/** Strikes out whatever has the shape of a key, no matter whose. */
export function strikeShapes(text: string, struck: string): string {
  if (!HINT.test(text)) return text;
  return EACH_KIND.reduce((rest, pattern) => rest.replace(pattern, struck), text);
}

/** The keys in a setting, by their shape; a value that is nothing but letters and digits at random is one as a whole. */
export function keysIn(text: string): string[] {
  const shaped = EACH_KIND.flatMap((pattern) => [...text.matchAll(pattern)].map(([key]) => key));
  return isRandom(text) ? [...shaped, text] : shaped;
}

/** Digits and letters of both cases change places more often than in names, versions and words. */
function isRandom(text: string): boolean {
  if (!/^[A-Za-z0-9_+/=~-]{20,}$/.test(text)) return false;
  return text.split(/[_+/=~-]/).some((run) => {
    const pieces = run.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
    return run.length >= 16 && /\d/.test(run) && /[A-Za-z]/.test(run) && run.length / pieces.length < 3;
  });
}

/**
 * Whether a value that a variable holds can only be a secret, whatever the setting is called: long, with letters and
 * digits, and neither a path nor an address.
 */
export function isKeyLike(value: string): boolean {
  if (keysIn(value).length > 0) return true;
  if (value.length < 16 || /\s/.test(value) || /^(?:\.{0,2}\/|~\/|[A-Za-z]:\\)|:\/\//.test(value)) return false;
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}
