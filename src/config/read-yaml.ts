// A YAML file checked against a schema; every complaint has a line, a column, what was expected and the nearest valid key.
import { existsSync, statSync } from "node:fs";
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParseOptions,
  parseDocument,
} from "yaml";
import type { z } from "zod";
import { type Location, messageOf, UsageError } from "../core/index.ts";
import { placeIn, readText } from "../files/index.ts";
import { complaintsOf } from "./complaints.ts";
import { findHazard, findTooDeepYaml, lastAlias, TOO_DEEP } from "./yaml-hazards.ts";

type Path = readonly PropertyKey[];

/** Where a path of the config is written, if it was read from a file. */
export type LocationOf = (path: Path) => Location | undefined;

/** What a file says, and where: the location of a path's value, or of its nearest ancestor. */
export type CheckedYaml<T> = { value: T; locationOf(path: Path): Location };

const MAX_ALIASES = 100;
/** Reading YAML takes hundreds of times its size in memory; nobody writes more by hand. */
const MAX_MEGABYTES = 4;
/** The same whatever version a file claims: no dates, no merging, no tags of other programs. */
const DIALECT = { schema: "core", merge: false, resolveKnownTags: false } as const;

export function readYaml<T>(file: string, schema: z.ZodType<T>): T {
  return openYaml(file, schema).value;
}

export function openYaml<T>(file: string, schema: z.ZodType<T>): CheckedYaml<T> {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}`);
  const stat = statSync(file);
  if (stat.isDirectory()) throw new UsageError(`${file} is a folder, not a file`);
  if (stat.size > MAX_MEGABYTES * 1e6) {
    const megabytes = Math.ceil(stat.size / 1e6);
    throw new UsageError(`is too large: ${megabytes} MB, where at most ${MAX_MEGABYTES} MB are read`, { file });
  }
  return parseYaml(readText(file), file, schema);
}

export function checkYaml<T>(text: string, file: string, schema: z.ZodType<T>): T {
  return parseYaml(text, file, schema).value;
}

function parseYaml<T>(text: string, file: string, schema: z.ZodType<T>): CheckedYaml<T> {
  const tooDeep = findTooDeepYaml(text);
  if (tooDeep !== undefined) throw new UsageError(TOO_DEEP, placeIn(text, tooDeep, { file }));
  const counter = new LineCounter();
  const document = parse(text, { lineCounter: counter, prettyErrors: false }, file);
  const at = (offset: number): Location => {
    const { line, col } = counter.linePos(offset);
    return { file, line, column: col };
  };
  const [error] = document.errors;
  if (error) throw new UsageError(yamlProblem(error), at(error.pos[0]));
  const hazard = findHazard(document);
  if (hazard) throw new UsageError(hazard.problem, at(hazard.offset));
  const locationOf = (path: Path, wanted: "key" | "value" = "value"): Location => {
    const node = nodeAt(document.contents, path, wanted);
    return node?.range ? at(node.range[0]) : { file };
  };
  const value = plainValue(document, at);
  const result = schema.safeParse(value);
  if (result.success) return { value: result.data, locationOf };
  const complaints = complaintsOf(result.error, value, schema)
    .map(({ path, wanted, message }) => new UsageError(message, locationOf(path, wanted)))
    .sort(
      (a, b) =>
        (a.location?.line ?? 0) - (b.location?.line ?? 0) || (a.location?.column ?? 0) - (b.location?.column ?? 0),
    );
  if (complaints.length === 1) throw complaints[0];
  throw new UsageError(complaints.map((complaint) => complaint.message).join("\n"));
}

function yamlProblem({ code, message }: { code?: string; message: string }): string {
  if (/call stack/i.test(message)) return TOO_DEEP; // the parser's own limit is the stack
  const problem =
    code === "MULTIPLE_DOCS"
      ? "a second document begins here; one file holds one"
      : code === "DUPLICATE_KEY"
        ? "this key stands here for the second time"
        : message;
  return `this is not valid YAML: ${problem}`;
}

function parse(text: string, options: ParseOptions, file: string): Document.Parsed {
  try {
    return parseDocument(text, { ...options, ...DIALECT });
  } catch (error) {
    throw new UsageError(yamlProblem({ message: messageOf(error) }), { file });
  }
}

function plainValue(document: Document, at: (offset: number) => Location): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch (cause) {
    const message = messageOf(cause);
    const problem = /alias count/i.test(message) ? "the aliases (*name) unfold into far too much" : message;
    throw new UsageError(`this file cannot be read: ${problem}`, at(lastAlias(document.contents) ?? 0));
  }
}

function nodeAt(contents: unknown, path: Path, wanted: "key" | "value"): Node | undefined {
  let node: unknown = contents;
  let found: Node | undefined = isNode(contents) ? contents : undefined;
  for (const [depth, key] of path.entries()) {
    const isLast = depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(key),
      );
      if (!pair) break;
      const next = isLast && wanted === "value" && isNode(pair.value) ? pair.value : pair.key;
      found = isNode(next) ? next : found;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      found = isNode(node) ? node : found;
    } else break;
  }
  return found;
}
