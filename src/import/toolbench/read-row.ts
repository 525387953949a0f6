// A row in any of the known forms.
import type { JsonObject } from "../../core/index.ts";
import { toolName } from "../tool-schema.ts";
import type { MadeCall, RecordedDialogue } from "./dialogue.ts";
import { readMessages } from "./read-messages.ts";
import { listIn, readTools } from "./read-tools.ts";

export function readRow(row: JsonObject): RecordedDialogue | undefined {
  const dialogue = readMessages(row) ?? readQuestion(row);
  for (const event of dialogue?.events ?? [])
    if ("calls" in event) for (const call of event.calls) call.name = toolName(call.name);
  return dialogue;
}

/** One question with the calls that answer it, none of them executed. */
function readQuestion({ query, question, answers, tools, functions }: JsonObject): RecordedDialogue | undefined {
  const asked = query ?? question;
  const offered = tools ?? functions;
  if (typeof asked !== "string" || offered === undefined) return undefined;
  const calls = listIn(answers).map((answer): MadeCall => {
    const { name, arguments: args } = answer as JsonObject;
    return { name: String(name), arguments: (args ?? {}) as JsonObject, content: undefined };
  });
  const events = [{ user: asked }, ...(calls.length > 0 ? [{ say: "", calls }] : [])];
  return { tools: readTools(offered), events, hasSystem: false };
}
