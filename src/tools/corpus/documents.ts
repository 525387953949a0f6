// The documents of a corpus file: a text or Markdown file is one, each line of a JSONL file is one.
import { basename, extname } from "node:path";
import { isObject, isTooDeep, parseJson } from "../../core/index.ts";
import { type Extent, readLines } from "../../files/index.ts";

/** `id` and `url` only if the document itself has them. */
export type Document = { id?: string; title: string; url?: string; text: string };

export type FoundDocument = Extent & { line?: number; document: Document | string };

/** What documents are made of; longer ones would block everything while they are read. */
export const MAX_BYTES = 32 << 20;

export function isJsonLines(file: string): boolean {
  return /\.(jsonl|ndjson)$/i.test(file);
}

/** Of a JSONL file, one for each line that is not blank; a text instead of a document says what is wrong with it. */
export function* readDocuments(file: string): Generator<FoundDocument, void> {
  for (const { bytes, offset, length, number: line } of readLines(file)) {
    if (length > MAX_BYTES) yield { offset, length, line, document: "is longer than 32 MB" };
    else if (bytes.some((byte) => byte > 32)) yield { offset, length, line, document: parseDocument(bytes) };
  }
}

export function parseDocument(bytes: Buffer): Document | string {
  const text = decode(bytes);
  const value = isTooDeep(text) ? undefined : parseJson(text);
  if (!isObject(value)) return "is not a JSON object";
  const field = TEXT_FIELDS.find((name) => typeof value[name] === "string");
  if (field === undefined) return `has none of ${TEXT_FIELDS.join(", ")}`;
  const content = value[field] as string;
  // as retrieval benchmarks write their passages: the title in quotes on a line of its own
  const [, quoted] = (field === "contents" && /^"(.+)"\n/.exec(content)) || [];
  const title = firstOf(value, ["title", "name"]) ?? quoted;
  const [id, url] = [firstOf(value, ["id", "_id", "docid", "doc_id"]), firstOf(value, ["url", "link", "source"])];
  const body = quoted === undefined ? content : content.slice(quoted.length + 3);
  return { id: id ?? url, url, title: title ?? id ?? url ?? "", text: body };
}

const TEXT_FIELDS = ["text", "content", "contents", "passage", "body"];

function firstOf(value: { [key: string]: unknown }, names: string[]): string | undefined {
  const found = names.map((name) => value[name]).find((each) => typeof each === "string" || typeof each === "number");
  return found === undefined || String(found).trim() === "" ? undefined : String(found).trim();
}

/** The title is the first heading of Markdown, else the file's name. */
export function toDocument(file: string, bytes: Buffer): Document {
  const text = decode(bytes);
  const [, heading] = (/\.(md|markdown)$/i.test(file) && /^#+[ \t]+(.+?)[ \t#]*$/m.exec(text.slice(0, 4096))) || [];
  return { title: heading ?? basename(file, extname(file)), text };
}

const decoder = new TextDecoder("utf-8");

/** What is not UTF-8 shows as U+FFFD. */
function decode(bytes: Buffer): string {
  return decoder.decode(bytes).replaceAll("\r\n", "\n");
}
