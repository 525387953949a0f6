// A `.env` file next to a config: variables that are not set yet. Their values are never shown.
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { learnEnvironment, messageOf, UsageError } from "../core/index.ts";
import type { Host } from "./host.ts";

export function readEnvFile({ env }: Pick<Host, "env">, configFile: string): void {
  const file = join(dirname(configFile), ".env");
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return;
  try {
    for (const [name, value] of Object.entries(parseEnv(readFileSync(file, "utf8")))) env[name] ??= value;
    learnEnvironment(env);
  } catch (error) {
    throw new UsageError(`cannot be read: ${messageOf(error)}`, { file });
  }
}
