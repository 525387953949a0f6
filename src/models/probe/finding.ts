// What the doctor found out about an endpoint, in plain words.
import { type ModelReply, redactText } from "../../core/index.ts";

/** `bad` makes the model unusable for its role; `odd` is worth knowing. */
export type Finding = {
  level: "ok" | "odd" | "bad";
  text: string;
  /** what the model answered, each different answer once */
  said?: string[];
  /** what to do about it, where it is not a line of YAML */
  hint?: string;
  fix?: Fix;
};

/** One line of YAML, and where it belongs. */
export type Fix = { where: "agent" | "user" | "models" | "config"; yaml: string };

export function tellOnce(findings: Finding[], finding: Finding): void {
  if (!findings.some(({ text }) => text === finding.text)) findings.push(finding);
}

const MAX_SAID = 200;

/** Texts in quotes, calls as calls. */
export function quoteReplies(replies: readonly ModelReply[]): string[] {
  const said = replies.map(({ content, toolCalls, reasoning }) => {
    const calls = toolCalls.map(({ name, arguments: given }) => `${name}(${given})`).join(", ");
    const text = content.trim() === "" ? "" : JSON.stringify(content.trim());
    const shown = [text, calls].filter(Boolean).join(" and ");
    return shown !== "" ? shown : reasoning === undefined ? "nothing" : `(reasoning) ${JSON.stringify(reasoning)}`;
  });
  return [...new Set(said.map(shorten))];
}

function shorten(text: string): string {
  const shown = redactText(text);
  return shown.length > MAX_SAID ? `${shown.slice(0, MAX_SAID)}…` : shown;
}
