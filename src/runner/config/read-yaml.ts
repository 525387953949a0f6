// A YAML file checked against a schema; every complaint has a line, a column, what was expected and the nearest valid key.
import { existsSync, readFileSync, statSync } from "node:fs";
import { isMap, isNode, isPair, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { z } from "zod";
import { didYouMean, type Place, UsageError } from "../../core/index.ts";

type Issue = z.core.$ZodIssue;

export function readYaml<T>(file: string, schema: z.ZodType<T>): T {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}`);
  if (statSync(file).isDirectory()) throw new UsageError(`${file} is a folder, not a file`);
  return checkYaml(readFileSync(file, "utf8"), file, schema);
}

export function checkYaml<T>(text: string, file: string, schema: z.ZodType<T>): T {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    const { line, col } = counter.linePos(error.pos[0]);
    throw new UsageError(`is not valid YAML: ${error.message}`, { file, line, column: col });
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (cause) {
    throw new UsageError(`cannot be read: ${(cause as Error).message}`, { file });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const complaints = result.error.issues
    .flatMap((issue) => flatten(issue, value))
    .map((issue) => {
      const place = placeOf(issue, document.contents, counter, file);
      return new UsageError(describe(issue, value, schema), place);
    });
  if (complaints.length === 1) throw complaints[0];
  throw new UsageError(complaints.map((complaint) => complaint.message).join("\n"));
}

/** Of a union's complaints, those of the branch that fits the kind of the value. */
function flatten(issue: Issue, root: unknown): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const branches = issue.errors.map((branch) =>
    branch.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }) as Issue),
  );
  const fitting = branches.filter(
    (branch) => !branch.some((inner) => inner.code === "invalid_type" && inner.path.length === issue.path.length),
  );
  const best = fitting[0] ?? [];
  return best.length > 0 ? best.flatMap((inner) => flatten(inner, root)) : [issue];
}

function describe(issue: Issue, root: unknown, schema: z.ZodType): string {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(schema, issue.path);
    return issue.keys
      .map((key) => `${path ? `${path}: ` : ""}unknown key "${key}"${didYouMean(key, known)}`)
      .join("; ");
  }
  const value = valueAt(root, issue.path);
  const got = value === undefined ? "nothing" : JSON.stringify(value);
  const expected = expectation(issue);
  return `${path || "the file"} must be ${expected}, not ${got.length > 60 ? `${got.slice(0, 57)}…` : got}`;
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return withArticle(
        { record: "mapping", object: "mapping", array: "list", string: "text", int: "whole number" }[
          issue.expected as string
        ] ?? issue.expected,
      );
    case "invalid_value":
      return `one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return issue.origin === "number" || issue.origin === "int"
        ? `${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`
        : "not empty";
    case "too_big":
      return `at most ${issue.maximum}`;
    case "invalid_union":
      return "of another kind";
    default:
      return `valid (${issue.message})`;
  }
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}

/** The place of the unknown key itself, else of the value that is wrong, else of the mapping that lacks it. */
function placeOf(issue: Issue, contents: unknown, counter: LineCounter, file: string): Place {
  const keys = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] as string] : issue.path;
  let node: unknown = contents;
  let found: Node | undefined = isNode(contents) ? contents : undefined;
  for (const [depth, key] of keys.entries()) {
    if (!isMap(node) && !(isNode(node) && "items" in node)) break;
    const items = (node as unknown as { items: unknown[] }).items;
    const item = isMap(node)
      ? items.find((pair) => isPair(pair) && isScalar(pair.key) && String(pair.key.value) === String(key))
      : items[Number(key)];
    if (!item) break;
    const isLast = depth === keys.length - 1;
    if (isPair(item)) {
      const wanted = isLast && issue.code !== "unrecognized_keys" && isNode(item.value) ? item.value : item.key;
      found = isNode(wanted) ? wanted : found;
      node = item.value;
    } else {
      found = isNode(item) ? item : found;
      node = item;
    }
  }
  if (!found?.range) return { file };
  const { line, col } = counter.linePos(found.range[0]);
  return { file, line, column: col };
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      value === null || typeof value !== "object" ? undefined : (value as Record<PropertyKey, unknown>)[key],
    root,
  );
}

/** The keys that a schema knows at a path, through whatever wraps the object there. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let types: z.ZodType[] = [schema];
  for (const key of path) types = types.flatMap(unwrap).flatMap((type) => childrenAt(type, String(key)));
  return types.flatMap(unwrap).flatMap((type) => (type instanceof z.ZodObject ? Object.keys(type.shape) : []));
}

function childrenAt(type: z.ZodType, key: string): z.ZodType[] {
  if (type instanceof z.ZodObject) return type.shape[key] ? [type.shape[key] as z.ZodType] : [];
  if (type instanceof z.ZodRecord) return [type.valueType as z.ZodType];
  if (type instanceof z.ZodArray) return [type.element as z.ZodType];
  return [];
}

function unwrap(type: z.ZodType): z.ZodType[] {
  if (type instanceof z.ZodOptional || type instanceof z.ZodNullable || type instanceof z.ZodDefault)
    return unwrap(type.unwrap() as z.ZodType);
  if (type instanceof z.ZodUnion) return type.options.flatMap((option) => unwrap(option as z.ZodType));
  return [type];
}
