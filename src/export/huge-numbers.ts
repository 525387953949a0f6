// Numbers in JSON texts that Hugging Face datasets cannot hold: integers beyond 64 bits, floats that overflow, and long
// fractions.
import { remember, scanNumbers } from "../core/index.ts";
import { sharedText } from "./row-text.ts";

const LONG = /\.\d{11}/;
const SUSPECT = /\d{19}|\d[eE]\+?\d{3}/;
const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];

export function hasHugeNumber(json: string): boolean {
  return SUSPECT.test(json) && hasNumber(json, isHuge);
}

function isHuge(number: string): boolean {
  if (!/^-?\d+$/.test(number)) return !Number.isFinite(Number(number));
  const value = BigInt(number);
  return value < LEAST || value > MOST;
}

/** A fraction of more digits than `datasets` keeps in JSON. */
export function hasLongFraction(json: string): boolean {
  return LONG.test(json) && hasNumber(json, (number) => LONG.test(number));
}

/** Digits in texts are no numbers. */
function hasNumber(json: string, test: (number: string) => boolean): boolean {
  let found = false;
  scanNumbers(json, (number) => {
    found ||= test(number);
  });
  return found;
}

/** For a value that many rows share. */
export const hasHugeNumbers = remember((value: object): boolean => hasHugeNumber(sharedText(value)));
