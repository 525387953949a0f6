// Methods and filters of Python's Jinja that the engine lacks or reads differently.
import type { Value } from "./engine.ts";
import {
  dumps,
  equal,
  isList,
  isMap,
  isText,
  isTrue,
  isUndefined,
  iterate,
  type JsonStyle,
  str,
  typeOf,
  wrap,
  wrapList,
  wrapText,
} from "./python-values.ts";

export type Arguments = { positional: Value[]; named: Map<string, Value> };
type Builtin<Operand> = (operand: Operand, given: Arguments) => Value;

const strip =
  (start: boolean, end: boolean): Builtin<string> =>
  (text, { positional: [characters] }) => {
    if (!isText(characters)) {
      const left = start ? text.trimStart() : text;
      return wrapText(end ? left.trimEnd() : left);
    }
    let from = 0;
    let to = text.length;
    if (start) while (from < to && characters.value.includes(text[from]!)) from++;
    if (end) while (to > from && characters.value.includes(text[to - 1]!)) to--;
    return wrapText(text.slice(from, to));
  };

const anyOf = (part: Value) => (isList(part) ? part.value.map(str) : [str(part)]);

export const TEXT_METHODS: { [name: string]: Builtin<string> } = {
  strip: strip(true, true),
  lstrip: strip(true, false),
  rstrip: strip(false, true),
  startswith: (text, { positional: [part] }) => wrap(anyOf(part!).some((one) => text.startsWith(one))),
  endswith: (text, { positional: [part] }) => wrap(anyOf(part!).some((one) => text.endsWith(one))),
  find: (text, { positional: [part] }) => wrap(text.indexOf(str(part!))),
  rfind: (text, { positional: [part] }) => wrap(text.lastIndexOf(str(part!))),
  count: (text, { positional: [part] }) => wrap(text.split(str(part!)).length - 1),
  join: (text, { positional: [items] }) => wrapText(iterate(items!).map(str).join(text)),
  removeprefix: (text, { positional: [part] }) =>
    wrapText(text.startsWith(str(part!)) ? text.slice(str(part!).length) : text),
  removesuffix: (text, { positional: [part] }) =>
    wrapText(text.endsWith(str(part!)) ? text.slice(0, text.length - str(part!).length) : text),
  splitlines: (text) => wrap(text.replace(/\n$/, "").split(/\r?\n/)),
  isdigit: (text) => wrap(/^\d+$/.test(text)),
  isalnum: (text) => wrap(/^[\p{L}\p{N}]+$/u.test(text)),
  isspace: (text) => wrap(/^\s+$/.test(text)),
  rsplit: (text, { positional: [separator, most] }) => {
    const parts = text.split(str(separator!));
    const kept = most === undefined ? parts.length : Number(most.value);
    const cut = Math.max(parts.length - kept, 1);
    return wrap([parts.slice(0, cut).join(str(separator!)), ...parts.slice(cut)]);
  },
  format: (text, { positional, named }) => {
    let next = 0;
    return wrapText(
      text.replace(/\{(\w*)\}/g, (_, key: string) => {
        const value = /^\d*$/.test(key) ? positional[key === "" ? next++ : Number(key)] : named.get(key);
        if (!value) throw new Error(`format has no value for {${key}}`);
        return str(value);
      }),
    );
  },
};

/** Lists that a template made; those it was given are as good as new in every rendering. */
export const LIST_METHODS: { [name: string]: Builtin<Value[]> } = {
  index: (items, { positional: [item] }) => wrap(items.findIndex((other) => equal(item!, other))),
  count: (items, { positional: [item] }) => wrap(items.filter((other) => equal(item!, other)).length),
};

const pairs = (members: Map<string, Value>) =>
  wrapList([...members].map(([key, value]) => wrapList([wrap(key), value])));

export const MAP_METHODS: { [name: string]: Builtin<Map<string, Value>> } = {
  get: (members, { positional: [key, otherwise] }) => members.get(key?.value as string) ?? otherwise ?? wrap(null),
  items: pairs,
  keys: (members) => wrapList([...members.keys()].map(wrap)),
  values: (members) => wrapList([...members.values()]),
};

const size: Builtin<Value> = (operand) => {
  if (isText(operand)) return wrap([...operand.value].length);
  if (isList(operand) || isMap(operand) || isUndefined(operand)) return wrap(iterate(operand).length);
  throw new Error(`object of type '${typeOf(operand)}' has no len()`);
};

const orElse: Builtin<Value> = (operand, { positional, named }) => {
  const isMissing =
    isUndefined(operand) || (isTrue(positional[1] ?? named.get("boolean") ?? wrap(false)) && !isTrue(operand));
  return isMissing ? (positional[0] ?? named.get("default_value") ?? wrapText("")) : operand;
};

const extreme =
  (sign: number): Builtin<Value> =>
  (operand) =>
    iterate(operand).reduce((best, item) =>
      (item.value as number) * sign > (best.value as number) * sign ? item : best,
    );

export const FILTERS: { [name: string]: Builtin<Value> } = {
  tojson: (operand, given) => wrapText(dumps(operand, readStyle(given))),
  string: (operand) => wrapText(str(operand)),
  trim: (operand, given) => strip(true, true)(str(operand), given),
  upper: (operand) => wrapText(str(operand).toUpperCase()),
  lower: (operand) => wrapText(str(operand).toLowerCase()),
  length: size,
  count: size,
  list: (operand) => wrapList(iterate(operand)),
  items: (operand) => {
    if (isUndefined(operand)) return wrap([]);
    if (!isMap(operand)) throw new Error("Can only get item pairs from a mapping.");
    return pairs(operand.value);
  },
  dictsort: (operand, { positional, named }) => {
    if (!isMap(operand)) throw new Error("dictsort needs a mapping");
    const isExact = isTrue(positional[0] ?? named.get("case_sensitive") ?? wrap(false));
    const place = str(positional[1] ?? named.get("by") ?? wrapText("key")) === "value" ? 1 : 0;
    const sign = isTrue(positional[2] ?? named.get("reverse") ?? wrap(false)) ? -1 : 1;
    const rank = ({ value }: Value) =>
      typeof value === "string" && !isExact ? value.toLowerCase() : (value as string);
    const sorted = [...operand.value].map(([key, value]) => [wrap(key), value] as const);
    sorted.sort((a, b) => sign * (rank(a[place]) < rank(b[place]) ? -1 : rank(a[place]) > rank(b[place]) ? 1 : 0));
    return wrapList(sorted.map((pair) => wrapList([...pair])));
  },
  default: orElse,
  d: orElse,
  min: extreme(-1),
  max: extreme(1),
  join: (operand, { positional, named }) => {
    const attribute = positional[1] ?? named.get("attribute");
    const items = iterate(operand).map((item) =>
      attribute && isMap(item) ? (item.value.get(str(attribute)) ?? wrapText("")) : item,
    );
    return wrapText(items.map(str).join(str(positional[0] ?? named.get("d") ?? wrapText(""))));
  },
};

function readStyle({ positional, named }: Arguments): JsonStyle {
  const option = (name: string, place: number) => {
    const value = named.get(name) ?? positional[place];
    return value && typeOf(value) !== "NoneType" ? value : undefined;
  };
  const separators = option("separators", 2);
  return {
    ascii: isTrue(option("ensure_ascii", 0) ?? wrap(false)),
    indent: option("indent", 1)?.value as number | undefined,
    separators: separators && (iterate(separators).map(str) as [string, string]),
    sort: isTrue(option("sort_keys", 3) ?? wrap(false)),
  };
}
