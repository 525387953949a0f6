// Placeholders in prompts that users write: `{policy}` for the agent, `{scenario}` for the user. Other braces are text.
import { type Location, nearest, UsageError } from "../core/index.ts";

const PLACEHOLDERS = { agent: "policy", user: "scenario" } as const;
const WORD_IN_BRACES = /\{+\s*(\w+)\s*\}+/g;

/** Refuses what is nearly a placeholder, or the other party's. `locate` finds a text's place. */
export function requirePlaceholders(
  prompt: string,
  party: keyof typeof PLACEHOLDERS,
  locate: (text: string) => Location | undefined,
): void {
  const known = `{${PLACEHOLDERS[party]}}`;
  for (const [written, word = ""] of prompt.matchAll(WORD_IN_BRACES)) {
    if (written === known || nearest(word, Object.values(PLACEHOLDERS)) === undefined) continue;
    throw new UsageError(
      `${written} stands for nothing in the prompt of the ${party}; write ${known}`,
      locate(written),
    );
  }
}
