// What is wrong with a value according to a schema, in words for the person who wrote it.
import { z } from "zod";
import { didYouMean, isSecretName, LITERAL, redactText } from "../core/index.ts";

type Issue = z.core.$ZodIssue;

/** `wanted`: whether the key itself is wrong, or its value. */
export type Complaint = { path: readonly PropertyKey[]; wanted: "key" | "value"; message: string };

export function complaintsOf(error: z.ZodError, value: unknown, schema: z.ZodType): Complaint[] {
  return error.issues.flatMap(flatten).flatMap((issue): Complaint[] => {
    if (issue.code !== "unrecognized_keys")
      return [{ path: issue.path, wanted: "value", message: describe(issue, value) }];
    const path = writePath(issue.path);
    const known = keysAt(schema, issue.path);
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      wanted: "key",
      message: `${path ? `${path}: ` : ""}unknown key "${key}"${didYouMean(key, known)}`,
    }));
  });
}

/** Of a union's complaints, those of the branch that fits the value's type. */
function flatten(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const branches = issue.errors.map((branch) =>
    branch.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }) as Issue),
  );
  const fitting = branches.find(
    (branch) => branch.length > 0 && !branch.some((inner) => isOfAnotherKind(inner, issue)),
  );
  return fitting ? fitting.flatMap(flatten) : [issue];
}

function isOfAnotherKind(inner: Issue, union: Issue): boolean {
  return inner.path.length === union.path.length && ["invalid_type", "invalid_value"].includes(inner.code);
}

function describe(issue: Issue, root: unknown): string {
  const path = writePath(issue.path) || "the file";
  if (issue.message.startsWith("must "))
    return `${path} ${issue.message}, not ${shown(valueAt(root, issue.path), issue)}`;
  if (issue.code === "custom") return `${path}: ${issue.message}`;
  if (isEmptiness(issue)) return `${path} must not be empty`;
  const value = valueAt(root, issue.path);
  if (value === undefined) return `${path} is missing; it must be ${describeExpected(issue)}`;
  return `${path} must be ${describeExpected(issue)}, not ${shown(value, issue)}`;
}

function shown(value: unknown, { path }: Issue): string {
  const text = show(value, path);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Without keys: they may be what is wrong, such as a number that lacks its quotes. */
function show(value: unknown, path: readonly PropertyKey[]): string {
  if (path.some((key) => MAPPINGS.has(String(key)) || isSecretName(String(key))))
    return `a ${typeof value} (not shown)`;
  const hide = (name: string, member: unknown) =>
    MAPPINGS.has(name) || (isSecretName(name) && member !== null) ? LITERAL : member;
  return redactText(JSON.stringify(value, hide));
}

/** All of their values may be secrets. */
const MAPPINGS = new Set(["env", "headers"]);

function isEmptiness(issue: Issue): boolean {
  return issue.code === "too_small" && issue.origin !== "number" && issue.origin !== "int";
}

const KINDS: { [expected: string]: string } = {
  record: "a mapping",
  object: "a mapping",
  array: "a list",
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
};

function describeExpected(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return KINDS[issue.expected] ?? issue.expected;
    case "invalid_value":
      return `${issue.values.length > 1 ? "one of " : ""}${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return `${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    case "invalid_union":
      return [...new Set(issue.errors.flatMap((branch) => branch.slice(0, 1).map(describeExpected)))].join(" or ");
    default:
      return `valid (${issue.message})`;
  }
}

function writePath(path: readonly PropertyKey[]): string {
  return path.map(String).join(".");
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      value === null || typeof value !== "object" ? undefined : (value as Record<PropertyKey, unknown>)[key],
    root,
  );
}

/** The keys that a schema knows at a path, looking through any wrappers around the object there. */
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
