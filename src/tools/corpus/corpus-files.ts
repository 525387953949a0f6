// Which files a corpus is made of, a hash of what is in them, and whether there is anything to find: all known before a
// run begins, without an index.
import { createHash } from "node:crypto";
import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join, relative } from "node:path";
import { messageOf, UsageError } from "../../core/index.ts";
import { isJsonLines, MAX_BYTES, readDocuments } from "./documents.ts";

export type CorpusFile = {
  path: string;
  /** the path in the folder; of a single file its name */
  name: string;
};

export type CorpusFiles = { files: CorpusFile[]; hash: string; notes: string[] };

const EXTENSIONS = /\.(txt|text|md|markdown|rst|jsonl|ndjson)$/i;
const WANTED = "text (.txt, .md, .rst) or JSONL (.jsonl)";
const CHUNK_BYTES = 1 << 20;

/** Throws a UsageError that says in one sentence why there is nothing to search. */
export async function findCorpusFiles(path: string): Promise<CorpusFiles> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`There is no corpus ${path}`);
  const isFolder = stats.isDirectory();
  if (!isFolder && /\.json$/i.test(path))
    throw new UsageError(`The corpus ${path} is JSON; it must be ${WANTED}, one document on each line`);
  const listed = listCorpusFiles(path);
  if (listed.length === 0) throw new UsageError(`The corpus ${path} has no ${WANTED}`);
  const hash = createHash("sha256");
  const files: CorpusFile[] = [];
  const left = new Map<string, string[]>();
  for (const file of listed) {
    const name = isFolder ? relative(path, file) : file.replace(/^.*[\\/]/, "");
    const wrong = await readContent(file, name, hash);
    if (wrong === undefined) files.push({ path: file, name });
    else
      left
        .set(wrong, left.get(wrong) ?? [])
        .get(wrong)
        ?.push(name);
  }
  if (files.length === 0) throw new UsageError(`The corpus ${path} ${nothingIn(left, listed)}`);
  requireDocument(path, files);
  const notes = [...left]
    .filter(([why]) => why !== EMPTY)
    .map(([why, names]) => `Corpus ${path}: left out, because ${why}: ${shorten(names)}`);
  return { files, hash: hash.digest("hex").slice(0, 16), notes };
}

/** What there is to read, whether or not it can be. */
export function listCorpusFiles(path: string): string[] {
  return statSync(path).isDirectory() ? listFiles(path) : [path];
}

const EMPTY = "empty";
const BINARY = "not text in UTF-8";
const TOO_LONG = "longer than 32 MB; as JSONL, one document on each line, a file may have any length";

function nothingIn(left: Map<string, string[]>, { length }: string[]): string {
  const [why = EMPTY, ...others] = left.keys();
  if (others.length > 0) return `has nothing to read: ${[why, ...others].join(", or ")}`;
  const subject = length === 1 ? "is" : "holds only files that are";
  return `${subject} ${why}`;
}

/** Folders and files whose names begin with a dot are not meant, and neither is what package managers put there. */
function listFiles(folder: string, seen = new Set<string>()): string[] {
  const real = realpathSync(folder);
  if (seen.has(real)) return [];
  seen.add(real);
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new UsageError(`The corpus folder ${folder} cannot be read: ${messageOf(error)}`);
  }
  const wanted = entries.filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
  return wanted
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => {
      const path = join(folder, name);
      const stats = tryStat(path);
      if (stats?.isDirectory()) return listFiles(path, seen);
      return stats?.isFile() && EXTENSIONS.test(name) ? [path] : [];
    });
}

/** Undefined for a link that leads nowhere. */
function tryStat(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Into the hash; or why the file is left out. */
async function readContent(
  file: string,
  name: string,
  hash: ReturnType<typeof createHash>,
): Promise<string | undefined> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file);
  } catch (error) {
    throw new UsageError(`The corpus cannot be read: ${messageOf(error)}`, { file });
  }
  try {
    const { size } = await handle.stat();
    if (size > MAX_BYTES && !isJsonLines(file)) return TOO_LONG;
    const buffer = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES));
    let hasText = false;
    for (let offset = 0; offset < size; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
      if (bytesRead === 0) break;
      const bytes = buffer.subarray(0, bytesRead);
      if (offset === 0 && isBinary(bytes)) return BINARY;
      if (offset === 0) hash.update(`\n${name}\n${size}\n`);
      hash.update(bytes);
      hasText ||= bytes.some((byte) => byte > 32);
      offset += bytesRead;
    }
    return hasText ? undefined : EMPTY;
  } finally {
    await handle.close();
  }
}

/** A NUL in the beginning, or more than a tenth that is no UTF-8: pictures, archives, UTF-16. */
function isBinary(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 8192);
  if (head.includes(0)) return true;
  const odd = head.toString("utf8").match(/\ufffd/g)?.length ?? 0;
  return odd > head.length / 10;
}

/** A JSONL file may hold something else. */
function requireDocument(path: string, files: CorpusFile[]): void {
  let problem: { file: string; line?: number; text: string } | undefined;
  for (const { path: file } of files) {
    if (!isJsonLines(file)) return;
    for (const { document, line } of readDocuments(file)) {
      if (typeof document !== "string") return;
      problem ??= { file, line, text: document };
    }
  }
  const { file, line, text } = problem ?? { file: path, text: "is empty" };
  throw new UsageError(`the corpus ${path} has no document: this line ${text}`, { file, line });
}

export function shorten(names: string[]): string {
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return `${names.slice(0, 3).join(", ")}${more}`;
}
