// Numbers in JSON texts that Hugging Face datasets cannot hold: integers beyond 64 bits, floats that overflow, and long
// fractions.
import { sharedText } from "./row-text.ts";

const SUSPECT = /\d{19}|\d[eE]\+?\d{3}/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];

export function hasHugeNumber(json: string): boolean {
  if (!SUSPECT.test(json)) return false;
  return [...json.matchAll(TOKEN)].some(([token]) => {
    if (token.startsWith('"')) return false;
    if (!/^-?\d+$/.test(token)) return !Number.isFinite(Number(token));
    const value = BigInt(token);
    return value < LEAST || value > MOST;
  });
}

/** A fraction of more digits than `datasets` keeps in JSON. */
export function hasLongFraction(json: string): boolean {
  if (!/\.\d{11}/.test(json)) return false;
  return [...json.matchAll(TOKEN)].some(([token]) => /^[^"]*\.\d{11}/.test(token));
}

const known = new WeakMap<object, boolean>();

/** For a value that many rows share. */
export function hasHugeNumbers(value: object): boolean {
  const found = known.get(value) ?? hasHugeNumber(sharedText(value));
  known.set(value, found);
  return found;
}
