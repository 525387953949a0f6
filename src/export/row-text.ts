// A row as one line of JSON that every loader agrees on. Arguments that become objects keep the exact text the model
// wrote, and tool lists their numbers, so that no digit changes; lists, which many rows share, become text once.
import { ExactNumber, parseJson, remember, wellFormedJson, writeExact } from "../core/index.ts";
import { escapeLineEnds } from "../files/index.ts";
import { parseArguments } from "./training-dialogue.ts";

export type DatasetRow = { [column: string]: unknown };

/** JSON that is put into a row as it is. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  /** for readers that want the value */
  toJSON(): unknown {
    return parseJson(this.text);
  }
}

/** A model's arguments as an object, or undefined if they are not one. */
export function rawArguments(text: string): RawJson | undefined {
  if (!parseArguments(text)) return undefined;
  if (text.trim() === "") return new RawJson("{}");
  // outside of strings these have no meaning in JSON, and inside they are not allowed
  return new RawJson(wellFormedJson(text.trim().replace(/[\n\r\t]+/g, " ")));
}

export function rowText(row: DatasetRow): string {
  const members = Object.entries(row).flatMap(([key, value]) =>
    value === undefined ? [] : [`${JSON.stringify(key)}:${valueText(value)}`],
  );
  return escapeLineEnds(wellFormedJson(`{${members.join(",")}}`));
}

/** For a value that many rows hold: its text is made once. */
export const sharedText = remember((value: object): string => wellFormedJson(writeExact(value)));

/** A tool list in a row: its text is made only once. */
export function shareText(value: object): RawJson {
  return new RawJson(sharedText(value));
}

function valueText(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (!Array.isArray(value) || !value.some(holdsRaw)) return writeExact(value);
  return `[${value.map((item) => (holdsRaw(item) ? deepText(item) : JSON.stringify(item))).join(",")}]`;
}

/** Messages hold raw arguments in some formats; most have none and take the fast path. */
function holdsRaw(message: unknown): boolean {
  const call = (message as { tool_calls?: { function?: { arguments?: unknown } }[] } | null)?.tool_calls?.[0];
  return call?.function?.arguments instanceof RawJson;
}

function deepText(value: unknown): string {
  if (value instanceof RawJson || value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(deepText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [`${JSON.stringify(key)}:${deepText(member)}`],
  );
  return `{${members.join(",")}}`;
}
