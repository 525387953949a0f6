// Who this is: the version, and the command with which people reach this same program.
import { readFileSync } from "node:fs";

export const PROGRAM_VERSION = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;

/**
 * For commands that are printed. Fetched for one use, the program is in nobody's `node_modules/.bin`, and `npx rollout`
 * would fetch a stranger's package of that name.
 */
export const PROGRAM_COMMAND = commandFor(import.meta.url);

export function commandFor(address: string): string {
  return address.includes("/_npx/") ? "npx agent-rollout" : "npx rollout";
}
