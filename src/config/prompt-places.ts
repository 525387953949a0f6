// Placeholders in prompts that users write: `{policy}` and `{answer_format}` for the agent, `{scenario}` for the user.
// Other braces are text.
import { type Location, nearest, UsageError } from "../core/index.ts";

const PLACEHOLDERS = { agent: ["policy", "answer_format"], user: ["scenario"] };
const WORD_IN_BRACES = /\{+\s*([\w-]+)\s*\}+/g;

/** Refuses what is nearly a placeholder, or the other party's. `locate` finds a text's place. */
export function requirePlaceholders(
  prompt: string,
  party: keyof typeof PLACEHOLDERS,
  locate: (text: string) => Location | undefined,
): void {
  const own = PLACEHOLDERS[party];
  const known = own.map((word) => `{${word}}`);
  for (const [written, word = ""] of prompt.matchAll(WORD_IN_BRACES)) {
    if (known.includes(written) || nearest(word, Object.values(PLACEHOLDERS).flat()) === undefined) continue;
    const meant = nearest(word, own);
    throw new UsageError(
      `${written} stands for nothing in the prompt of the ${party}; write ${meant ? `{${meant}}` : known.join(" or ")}`,
      locate(written),
    );
  }
}
