// The messages of a question's turn.
import { isObject, type Json, type JsonObject } from "../../core/index.ts";
import { type Tally, Uncarried } from "../tally.ts";

export function messagesOf(
  id: string,
  turn: Json | undefined,
  tally: Tally,
): { opening: JsonObject[]; lines: string[] } {
  const messages = (Array.isArray(turn) ? turn : []).filter(isObject) as JsonObject[];
  const opening = messages.filter(({ role, content }) => role !== "system" && typeof content === "string");
  if (opening.length < messages.length)
    tally.lose(id, "system_message", "a system message of the task's own, which a query cannot have");
  const lines = linesOf(opening);
  if (lines.length === 0) throw new Uncarried("it has no message of the user");
  return { opening: opening.map(({ role, content }) => ({ role, content }) as JsonObject), lines };
}

export function linesOf(turn: Json | undefined): string[] {
  if (!Array.isArray(turn)) return [];
  return (turn as JsonObject[]).filter(({ role }) => role === "user").map(({ content }) => String(content));
}
