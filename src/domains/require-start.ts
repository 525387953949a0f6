// Starting a domain's tools once before they are needed: what keeps them from starting is told once, by the command,
// and not by each of a thousand rollouts.
import { RolloutError, UsageError } from "../core/index.ts";
import type { Domain } from "./domain.ts";
import type { DomainFiles } from "./folder.ts";

export async function requireStart(domain: Domain, { serverFiles }: DomainFiles): Promise<void> {
  try {
    await (await domain.openEnvironment({ seed: 0 })).close();
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error;
    const [file] = Object.values(serverFiles);
    throw new UsageError(error.message, file === undefined ? undefined : { file });
  }
}
