// A YAML file checked against a schema; every complaint has a line, a column, what was expected and the nearest valid key.
import { existsSync, readFileSync, statSync } from "node:fs";
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from "yaml";
import type { z } from "zod";
import { type Location, UsageError } from "../core/index.ts";
import { complaintsOf } from "./complaints.ts";

type Path = readonly PropertyKey[];

/** Where a path of the config is written, if it was read from a file. */
export type LocationOf = (path: Path) => Location | undefined;

/** What a file says, and where: the location of a path's value, or of its nearest ancestor. */
export type CheckedYaml<T> = { value: T; locationOf(path: Path): Location };

const MAX_ALIASES = 100;

export function readYaml<T>(file: string, schema: z.ZodType<T>): T {
  return openYaml(file, schema).value;
}

export function openYaml<T>(file: string, schema: z.ZodType<T>): CheckedYaml<T> {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}`);
  if (statSync(file).isDirectory()) throw new UsageError(`${file} is a folder, not a file`);
  return parseYaml(readFileSync(file, "utf8"), file, schema);
}

export function checkYaml<T>(text: string, file: string, schema: z.ZodType<T>): T {
  return parseYaml(text, file, schema).value;
}

function parseYaml<T>(text: string, file: string, schema: z.ZodType<T>): CheckedYaml<T> {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const at = (offset: number): Location => {
    const { line, col } = counter.linePos(offset);
    return { file, line, column: col };
  };
  const [error] = document.errors;
  if (error) throw new UsageError(`this is not valid YAML: ${yamlProblem(error)}`, at(error.pos[0]));
  refusePrototypeKeys(document, at);
  const locationOf = (path: Path, wanted: "key" | "value" = "value"): Location => {
    const node = nodeAt(document.contents, path, wanted);
    return node?.range ? at(node.range[0]) : { file };
  };
  const value = plainValue(document, file);
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

function yamlProblem({ code, message }: { code: string; message: string }): string {
  if (code === "MULTIPLE_DOCS") return "a second document begins here; one file holds one";
  if (code === "DUPLICATE_KEY") return "this key stands here for the second time";
  return message;
}

/** Such a key would silently vanish when the object is built. */
function refusePrototypeKeys(document: Document, at: (offset: number) => Location): void {
  visit(document, {
    Pair(_, { key }) {
      if (isScalar(key) && key.value === "__proto__")
        throw new UsageError('"__proto__" cannot be used as a name here', at(key.range?.[0] ?? 0));
    },
  });
}

function plainValue(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch (cause) {
    const message = (cause as Error).message;
    const problem = /alias count/i.test(message) ? "its aliases (*name) unfold into far too much" : message;
    throw new UsageError(`this file cannot be read: ${problem}`, { file });
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
