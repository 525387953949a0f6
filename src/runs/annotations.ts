// `annotations.jsonl`: what people say about rollouts and about single messages of them. Append-only: the last line of an
// annotator about a rollout, or about one message of it, is what they say, and a line that says nothing takes it back.
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { messageOf, type RecordKey, redactWritten, rolloutId, UsageError } from "../core/index.ts";
import { jsonLine, scanLines } from "../files/index.ts";
import type { DamagedLine } from "./damage.ts";
import { bodyOf, isBlank, MISNAMED, parseLine } from "./examine-record.ts";

export const ANNOTATIONS_FILE = "annotations.jsonl";

export const JUDGEMENTS = ["accept", "reject", "unsure"] as const;
export type Judgement = (typeof JUDGEMENTS)[number];

export type AnnotationRecord = RecordKey & {
  by: string;
  at: string;
  /** which message it is about, counted from 0; absent: the whole dialogue */
  message?: number;
  verdict?: Judgement;
  tags?: string[];
  note?: string;
};

/** The annotation, or what is wrong with the line; undefined for a blank line. */
export function readAnnotationLine(line: Buffer): AnnotationRecord | string | undefined {
  const bytes = bodyOf(line);
  if (isBlank(bytes)) return undefined;
  const value = parseLine(bytes);
  if (typeof value === "string") return value;
  const { id, dataset, query_id, rollout, by, at, message, verdict, tags, note } = value;
  const isKeyed = typeof dataset === "string" && typeof query_id === "string" && typeof rollout === "number";
  const isSigned = typeof by === "string" && by !== "" && typeof at === "string";
  if (!isKeyed || !isSigned) return "is not an annotation: it lacks its rollout, who or when";
  if (id !== rolloutId({ queryId: query_id, rollout })) return MISNAMED;
  if (message !== undefined && !(Number.isInteger(message) && Number(message) >= 0)) return "names no message";
  if (verdict !== undefined && !JUDGEMENTS.includes(verdict as Judgement)) return "has an unknown verdict";
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === "string")))
    return "has tags that are no list of texts";
  if (note !== undefined && typeof note !== "string") return "has a note that is no text";
  return value as unknown as AnnotationRecord;
}

/** Calls back for each line that is none; returns where the last complete line ends. */
export function scanAnnotations(file: string, onDamage: (line: DamagedLine) => void): number {
  return scanLines(file, ({ bytes, offset, length, number }) => {
    const read = readAnnotationLine(bytes);
    if (typeof read === "string") onDamage({ offset, length, number, reason: read });
  });
}

/** Neither a link, which could lead out of the folder, nor anything that would block. */
const FLAGS =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Adds one line with one write, so that any number of processes can do it at once, and returns once it is on disk. After a
 * line that a crash tore, it begins with a line end: the torn piece stays a line of its own.
 */
export function appendAnnotation(folder: string, annotation: AnnotationRecord): void {
  const path = join(folder, ANNOTATIONS_FILE);
  const line = redactWritten(jsonLine(annotation));
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, FLAGS, 0o644);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new Error("it is not a plain file");
    // a torn write, which only a full disk makes, is left behind and the line written once more
    if (!write(descriptor, endsLine(descriptor, stat.size) ? line : `\n${line}`) && !write(descriptor, `\n${line}`))
      throw new Error("there is no space left");
    fsyncSync(descriptor);
  } catch (error) {
    throw new UsageError(`The annotation is not saved: cannot write to ${path} (${messageOf(error)})`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function endsLine(descriptor: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size === 0 || readSync(descriptor, last, 0, 1, size - 1) === 0 || last[0] === 10;
}

function write(descriptor: number, text: string): boolean {
  const bytes = Buffer.from(text);
  return writeSync(descriptor, bytes) === bytes.length;
}
