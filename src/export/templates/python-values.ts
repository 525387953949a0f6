// The engine's values seen as Python sees them: what `str`, `repr`, `json.dumps` and `==` make of them.
import { EngineScope, type Value } from "./engine.ts";

const TYPES: { [type: string]: string } = {
  StringValue: "str",
  IntegerValue: "int",
  FloatValue: "float",
  BooleanValue: "bool",
  ObjectValue: "dict",
  KeywordArgumentsValue: "dict",
  NamespaceValue: "Namespace",
  ArrayValue: "list",
  TupleValue: "tuple",
  NullValue: "NoneType",
  UndefinedValue: "Undefined",
};

export function typeOf(value: Value): string {
  return TYPES[value.type] ?? "function";
}

const scope = new EngineScope();

/** An engine's value from a plain one. */
export function wrap(value: unknown): Value {
  if (typeof value === "boolean") return value ? TRUE : FALSE;
  return convert(value);
}

function convert(value: unknown): Value {
  scope.variables.delete("value");
  return scope.set("value", value);
}

const TRUE = convert(true);
const FALSE = convert(false);

export function wrapList(values: Value[]): Value {
  return Object.assign(wrap([]), { value: values });
}

const Text = wrap("").constructor as new (text: string) => Value;
export function wrapText(text: string): Value {
  return new Text(text);
}

export function isText(value: Value | undefined): value is Value & { value: string } {
  return value?.type === "StringValue";
}
export function isList(value: Value): value is Value & { value: Value[] } {
  return value.type === "ArrayValue" || value.type === "TupleValue";
}
export function isMap(value: Value): value is Value & { value: Map<string, Value> } {
  return typeOf(value) === "dict";
}
export function isUndefined(value: Value): boolean {
  return value.type === "UndefinedValue";
}
export function isTrue(value: Value): boolean {
  if (isList(value)) return value.value.length > 0;
  return isMap(value) ? value.value.size > 0 : Boolean(value.value);
}

/** What a loop over the value meets, one after the other. */
export function iterate(value: Value): Value[] {
  if (isList(value)) return value.value;
  if (isMap(value)) return [...value.value.keys()].map(wrap);
  if (isText(value)) return [...value.value].map(wrapText);
  if (isUndefined(value)) return [];
  throw new Error(`'${typeOf(value)}' object is not iterable`);
}

export function str(value: Value): string {
  if (isText(value)) return value.value;
  return isUndefined(value) ? "" : repr(value);
}

function repr(value: Value): string {
  if (isText(value)) return quote(value.value);
  if (isMap(value)) return `{${[...value.value].map(([key, member]) => `${quote(key)}: ${repr(member)}`).join(", ")}}`;
  if (isList(value)) {
    const items = value.value.map(repr).join(", ");
    if (typeOf(value) === "list") return `[${items}]`;
    return value.value.length === 1 ? `(${items},)` : `(${items})`;
  }
  if (typeOf(value) === "NoneType") return "None";
  if (typeOf(value) === "bool") return value.value ? "True" : "False";
  return isUndefined(value) ? "Undefined" : value.toString();
}

const ESCAPES: { [character: string]: string } = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\n\r\t\\]/g, (character) => ESCAPES[character] as string);
  const printable = escaped.replace(
    /[\p{Cc}\u00a0\u00ad]/gu,
    (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return mark + (mark === "'" ? printable.replaceAll("'", "\\'") : printable) + mark;
}

export type JsonStyle = { indent?: number; ascii?: boolean; separators?: [string, string]; sort?: boolean };

export function dumps(value: Value, style: JsonStyle, margin = "\n"): string {
  const { indent, ascii, sort } = style;
  const [comma, colon] = style.separators ?? [indent === undefined ? ", " : ",", ": "];
  const inner = indent === undefined ? "" : margin + " ".repeat(indent);
  const enclose = (open: string, items: string[], close: string) =>
    items.length === 0
      ? open + close
      : open + inner + items.join(comma + inner) + (indent === undefined ? "" : margin) + close;
  const literal = (text: string) => {
    const quoted = JSON.stringify(text);
    return ascii ? escapeNonAscii(quoted) : quoted;
  };
  if (isText(value)) return literal(value.value);
  if (isList(value))
    return enclose(
      "[",
      value.value.map((item) => dumps(item, style, inner)),
      "]",
    );
  if (isMap(value)) {
    const members = [...value.value];
    if (sort) members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return enclose(
      "{",
      members.map(([key, member]) => literal(key) + colon + dumps(member, style, inner)),
      "}",
    );
  }
  const type = typeOf(value);
  if (type === "NoneType") return "null";
  if (type === "bool") return String(value.value);
  if (type === "int" || type === "float") return value.toString();
  throw new Error(`Object of type ${type} is not JSON serializable`);
}

export function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function equal(a: Value, b: Value): boolean {
  if (isList(a) && isList(b))
    return (
      a.type === b.type && a.value.length === b.value.length && a.value.every((item, i) => equal(item, b.value[i]!))
    );
  if (isMap(a) && isMap(b)) {
    const others = b.value;
    return (
      a.value.size === others.size &&
      [...a.value].every(([key, item]) => others.has(key) && equal(item, others.get(key)!))
    );
  }
  if (isNumber(a) && isNumber(b)) return Number(a.value) === Number(b.value);
  return a.type === b.type && a.value === b.value;
}

export function isNumber(value: Value): boolean {
  return ["int", "float", "bool"].includes(typeOf(value));
}
