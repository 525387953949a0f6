// A row of pairs seen as the dialogues in it: each with the shared beginning, in the shape of the format's plain rows.
import { isObject, type JsonObject, parseJson } from "../core/index.ts";

/** The row itself if it holds no pair. */
export function plainRows(row: JsonObject): JsonObject[] {
  const { chosen, rejected, completion, rejected_messages, conversations, input } = row;
  if (conversations && chosen && rejected)
    return [chosen, rejected].map((end) => ({ ...row, conversations: [...listIn(conversations), end] }));
  if (chosen && rejected) return [chosen, rejected].map((end) => ({ ...row, completion: listIn(end) }));
  if (completion && !Array.isArray(completion)) return [{ ...row, completion: listIn(completion) }];
  if (rejected_messages) return [row, { ...row, messages: rejected_messages }];
  const given = typeof input === "string" ? parseJson(input) : input;
  if (!isObject(given) || !row.preferred_output) return [row];
  return [row.preferred_output, row.non_preferred_output].map((end) => ({
    ...row,
    messages: [...listIn(given.messages), ...listIn(end)],
    ...(given.tools ? { tools: given.tools as JsonObject } : {}),
  }));
}

/** Rows of which trainers learn all that is marked as the continuation: nothing in them can be masked. */
export function endsOf({ chosen, rejected, completion, label }: JsonObject): JsonObject[][] {
  if (chosen && rejected) return [listIn(chosen), listIn(rejected)];
  return completion && label !== undefined ? [listIn(completion)] : [];
}

/** A list, its JSON text, the messages of a side, or one message. */
function listIn(value: unknown): JsonObject[] {
  if (typeof value === "string") return listIn(parseJson(value) ?? []);
  if (isObject(value)) return value.messages ? listIn(value.messages) : [value as JsonObject];
  return Array.isArray(value) ? value : [];
}
