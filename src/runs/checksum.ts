// The checksum that a record carries of its own line: 16 hex digits of SHA-256 over the line without it. It is the last
// thing in the line (in a trajectory, of `metadata.timings`, which is what equal runs differ in), so that it is verified
// without parsing.
import { createHash } from "node:crypto";
import { isObject, redactWritten } from "../core/index.ts";
import { escapeLineEnds } from "../files/index.ts";

/** A line with its checksum and newline. */
export function sealedLine(value: object): string {
  const text = redactWritten(serialise(value)); // what is struck out later would break the seal
  let end = text.length;
  while (text[end - 1] === "}") end--;
  if (text[end - 1] === "{") end++; // an empty object has no last member to follow
  return `${text.slice(0, end)},"checksum":"${digest(text)}"${text.slice(end)}\n`;
}

const SEAL = /,"checksum":"([0-9a-f]{16})"(\}+)$/;
const MAX_SEAL = 64;

/** Whether a line is as it was written; undefined if it does not end with a checksum. */
export function isIntact(bytes: Buffer): boolean | undefined {
  const [seal, checksum, braces = ""] = SEAL.exec(bytes.toString("latin1", Math.max(0, bytes.length - MAX_SEAL))) ?? [];
  if (seal === undefined) return undefined;
  return digest(bytes.subarray(0, bytes.length - seal.length), braces) === checksum;
}

/** The same for a parsed line: another program may have written it anew, with other spaces and escapes. */
export function isUnchanged(record: Record<string, unknown>): boolean | undefined {
  const { checksum, without } = takeChecksum(record);
  if (checksum === undefined) return undefined;
  try {
    return digest(serialise(without)) === checksum;
  } catch {
    return false; // nested too deep to be ours
  }
}

function takeChecksum(record: Record<string, unknown>): { checksum?: unknown; without: object } {
  const { metadata } = record;
  const timings = isObject(metadata) && isObject(metadata.timings) ? metadata.timings : undefined;
  if (!timings || !isObject(metadata) || timings.checksum === undefined) {
    const { checksum, ...without } = record;
    return { checksum, without };
  }
  const { checksum, ...rest } = timings;
  return { checksum, without: { ...record, metadata: { ...metadata, timings: rest } } };
}

function serialise(value: object): string {
  return escapeLineEnds(JSON.stringify(value));
}

function digest(...parts: (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex").slice(0, 16);
}
