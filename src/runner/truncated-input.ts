// Servers that silently cut what does not fit their context still count tokens: a request of many characters that
// counts as very few tokens was not read whole. Derived from the record, so a resumed rollout says the same.
import { type Entry, isAside, isObject, type OpeningMessage, remember, type ToolSpec } from "../core/index.ts";

/** What was sent, from the first request to the last. */
type Sent = {
  system: string;
  tools: readonly ToolSpec[];
  opening: readonly OpeningMessage[];
  entries: readonly Entry[];
};

/** Text in any language has fewer characters per token than this. */
const CHARACTERS_PER_TOKEN = 10;
const MIN_CHARACTERS = 8000;

/** One fault for the first reply of the agent whose request was cut, or none. */
export function findTruncatedInput({
  system,
  tools,
  opening,
  entries,
}: Sent): { type: string; [detail: string]: string }[] {
  const fixed = system.length + toolCharacters(tools);
  let characters = fixed;
  for (const message of opening) characters += message.content.length;
  for (const entry of entries) {
    if (entry.type === "summary") {
      if (!entry.rejected) characters = fixed + entry.content.length;
      continue;
    }
    if (entry.type === "verdict" || isAside(entry)) continue;
    if (entry.type === "tool-result") {
      characters += entry.content.length;
      continue;
    }
    const { inputTokens, cachedTokens } = entry.usage;
    const counted = Math.max(inputTokens, cachedTokens);
    if (entry.by === "agent" && counted > 0 && characters > Math.max(MIN_CHARACTERS, counted * CHARACTERS_PER_TOKEN))
      return [{ type: "truncated_input", sent_characters: String(characters), counted_tokens: String(counted) }];
    if (entry.rejected) continue;
    characters += entry.content.length;
    for (const call of entry.toolCalls) characters += call.name.length + call.arguments.length;
  }
  return [];
}

/** Only names, descriptions and property names: how the rest of a schema reaches the model is up to the server. */
const toolCharacters = remember((tools: readonly ToolSpec[]): number => {
  let characters = 0;
  for (const { name, description, parameters } of tools) {
    const properties = isObject(parameters.properties) ? Object.keys(parameters.properties) : [];
    characters += name.length + description.length + properties.join("").length;
  }
  return characters;
});
