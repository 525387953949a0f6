// The three tokens with which a user ends the dialogue, recognised and removed anywhere in the text.
import { END_TOKENS, type LoopReason } from "../core/index.ts";

const TOKEN = /#{2,}\s*(STOP|TRANSFER|OUT[-_ ]OF[-_ ]SCOPE)\s*#{2,}/gi;

export type UserText = { text: string; end: LoopReason | undefined };

/** Slightly misspelt tokens (case, spaces, underscores) count too: a simulated user that means to stop must stop. */
export function readUserText(content: string): UserText {
  if (!content.includes("##")) return { text: content.trim(), end: undefined };
  let end: LoopReason | undefined;
  const text = content.replace(TOKEN, (_, name: string) => {
    end ??= END_TOKENS[`###${name.toUpperCase().replace(/[_ ]/g, "-")}###` as keyof typeof END_TOKENS];
    return " ";
  });
  return end ? { text: text.replace(/[ \t]{2,}/g, " ").trim(), end } : { text: content.trim(), end };
}
