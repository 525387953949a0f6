// A row of pairs seen as the dialogues in it: each with the shared beginning, in the shape of the format's plain rows.
import { isObject, type JsonObject, parseJson } from "../core/index.ts";

/** The row itself if it holds no pair. */
export function plainRows(row: JsonObject): JsonObject[] {
  const { prompt, chosen, rejected, completion, rejected_messages, conversations, input } = row;
  const together = (a: unknown, b: unknown) => ({ ...row, messages: [...listIn(a), ...listIn(b)] }) as JsonObject;
  if (prompt && chosen && rejected) return [together(prompt, chosen), together(prompt, rejected)];
  if (prompt && completion) return [together(prompt, completion)];
  if (rejected_messages) return [row, { ...row, messages: rejected_messages }];
  if (conversations && chosen && rejected)
    return [chosen, rejected].map((end) => ({ ...row, conversations: [...listIn(conversations), end] }));
  const given = typeof input === "string" ? parseJson(input) : input;
  if (isObject(given) && row.preferred_output) {
    const ends = [row.preferred_output, row.non_preferred_output];
    return ends.map(
      (end) => ({ ...together(given.messages, end), ...(given.tools ? { tools: given.tools } : {}) }) as JsonObject,
    );
  }
  return [row];
}

/** A list, its JSON text, or the messages of a side. */
function listIn(value: unknown): JsonObject[] {
  if (typeof value === "string") return listIn(parseJson(value) ?? []);
  if (isObject(value)) return listIn(value.messages);
  return Array.isArray(value) ? value : [];
}
