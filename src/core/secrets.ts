// The secrets of this process, learnt where settings are read, and struck out of everything that it writes or prints.
// There is one collection, since a secret may turn up anywhere: a server may repeat it, an error may quote it.
// docs/decisions/2026-11-16-what-is-a-secret.md says what counts.
import { isObject } from "./json.ts";
import { findKeyKind, isKeyLike, keysIn, strikeShapes } from "./key-shapes.ts";
import { createRedactor, isSecretName, isWorthHiding, STRUCK } from "./redact.ts";

/** A `key` is struck out everywhere, also of dialogues; a `setting` of what is said about settings and errors. */
type Rank = "key" | "setting";

/** A setting as it is used, and the variables in it with their values. */
export type FilledText = { text: string; values?: ReadonlyMap<string, string | undefined> };

type Redactors = { text: Redact; said: Redact; line: Redact };
type Redact = (text: string) => string;

const known = new Map<string, Rank>();
let made: Redactors | undefined;

export function learnSecret(value: string, rank: Rank = "key"): void {
  const ranked = rank === "key" || isKeyLike(value) ? "key" : "setting";
  if (!isWorthHiding(value) || known.get(value) === "key" || known.get(value) === ranked) return;
  known.set(value, ranked);
  made = undefined;
}

/** For tests, which share a process. */
export function forgetSecrets(): void {
  known.clear();
  made = undefined;
}

/** What is secret in a setting: all of it by its name, the values of variables, and what looks like a key. */
export function learnSetting(name: string, { text, values = new Map() }: FilledText): void {
  if (isSecretName(name)) {
    learnSecret(text);
    learnSecret(text.replace(/^[A-Za-z]+\s+/, "")); // `Bearer …`
  }
  for (const [variable, value] of values) learnVariable(variable, value);
  for (const key of keysIn(text)) learnSecret(key);
}

/** What a variable holds that a setting refers to. */
function learnVariable(name: string, value: string | undefined): void {
  if (value !== undefined) learnSecret(value, isSecretName(name) ? "key" : "setting");
}

/** The login and the query parameters of an address, and whatever in its path looks like a key. Hosts are not secret. */
export function learnUrl({ text, values = new Map() }: FilledText): void {
  if (!text.includes("://") || !URL.canParse(text)) return;
  const url = new URL(text);
  const parts: [string, string][] = [
    ["password", url.password],
    [url.password === "" ? "password" : "user", url.username],
    ...url.search
      .slice(1)
      .split("&")
      .map((pair): [string, string] => [pair.split("=")[0] as string, pair.slice(pair.indexOf("=") + 1)]),
  ];
  for (const [name, written] of parts) {
    for (const text of new Set([written, decode(written)])) learnSetting(name, { text });
    for (const [variable, value = ""] of values) {
      if (value === "" || !(written.includes(value) || decode(written).includes(value))) continue;
      for (const each of [value, decode(value)]) learnVariable(variable, each);
    }
  }
  for (const part of url.pathname.split("/")) for (const key of keysIn(decode(part))) learnSecret(key);
  for (const value of values.values()) if (value && isKeyLike(value) && !url.host.includes(value)) learnSecret(value);
}

/** Every text in a mapping such as `extra_params`, by the name that is nearest to it. */
export function learnAll(settings: unknown, name = ""): void {
  if (typeof settings === "string") learnSetting(name, { text: settings });
  else if (Array.isArray(settings)) for (const item of settings) learnAll(item, name);
  else if (isObject(settings)) for (const [key, value] of Object.entries(settings)) learnAll(value, key);
}

/** Whether a variable of this name holds request headers, `name=value,…`, of which some are keys. */
export function holdsHeaders(name: string): boolean {
  return /^OTEL_EXPORTER_OTLP_(?:\w+_)?HEADERS$/.test(name);
}

/** Values are URL-encoded; a key may come after a word such as `Bearer`. */
function learnHeaders(text: string): void {
  for (const pair of text.split(",")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    for (const value of new Set([pair.slice(at + 1).trim(), decode(pair.slice(at + 1).trim())])) {
      const rank = isSecretName(name) ? "key" : "setting";
      learnSecret(value, rank);
      learnSecret(value.replace(/^[A-Za-z]+\s+/, ""), rank);
    }
  }
}

/** The environment: variables that are named like secrets and hold what looks like one, and the logins of proxies. */
export function learnEnvironment(env: { readonly [name: string]: string | undefined }): void {
  for (const [name, value = ""] of Object.entries(env)) {
    if (isSecretName(name) && isKeyLike(value)) learnSecret(value);
    if (holdsHeaders(name)) learnHeaders(value);
    if (/_proxy$/i.test(name)) learnUrl({ text: value.includes("://") ? value : `http://${value}` });
  }
}

/** For texts about settings, errors and the run: whatever is printed or logged, or put into a message. */
export const redactText: Redact = (text) => redactors().text(strikeShapes(redactSaid(text), STRUCK));

/** For texts that become part of a dialogue: keys, but no words that a person may well say. */
export const redactSaid: Redact = (text) => redactors().said(text);

/** For lines and files as they are written, usually JSON: keys that are nothing else, so that no structure is hit. */
export const redactWritten: Redact = (text) => keepJson(text, redactors().line);

/** The same for JSON text of a dialogue, such as arguments. */
export const redactSaidJson: Redact = (text) => keepJson(text, redactors().said);

/** All texts in a value. */
export function redactDeep<T>(value: T, redact: Redact = redactText): T {
  if (typeof value === "string") return redact(value) as T;
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact)) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, redactDeep(member, redact)])) as T;
}

/** Stands for a secret that a config holds as it is. */
export const LITERAL = "<literal>";

/** A setting as it may be written down: as it is, or, if it is a secret by its name or looks, as a literal. */
export function hideSecret(name: string, written: string): string {
  if (ONE_VARIABLE.test(written)) return written;
  return isSecretName(name) || findKeyKind(written) || redactSaid(written) !== written ? LITERAL : written;
}

const ONE_VARIABLE = /^\$\{\w+\}$/;

/** A match may begin inside an escape (`\n…`) or be a number: then JSON is read, and its texts are redacted. */
function keepJson(text: string, redact: Redact): string {
  const struck = redact(text);
  if (struck === text || !/^\s*[[{"]/.test(text) || isJson(struck) || !isJson(text)) return struck;
  return `${JSON.stringify(redactDeep(JSON.parse(text), redact))}${text.endsWith("\n") ? "\n" : ""}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function redactors(): Redactors {
  if (made) return made;
  const all = [...known.keys()];
  const said = all.filter((value) => known.get(value) === "key" && !isShortWord(value));
  const line = createRedactor(said.filter(isUnmistakable));
  made = { text: createRedactor(all), said: withEdges(createRedactor(said), said), line };
  return made;
}

/** A text that was cut elsewhere may begin or end in the middle of a key. */
function withEdges(redact: Redact, keys: readonly string[]): Redact {
  const long = keys.filter((key) => key.length > MIN_EDGE);
  if (long.length === 0) return redact;
  return (text) => {
    let struck = redact(text);
    for (const key of long) {
      if (struck.slice(1 - key.length).includes(key.slice(0, MIN_EDGE))) {
        const end = edgeOf(key, (length) => struck.endsWith(key.slice(0, length)));
        if (end > 0) struck = `${struck.slice(0, -end)}${STRUCK}`;
      }
      if (struck.slice(0, key.length - 1).includes(key.slice(-MIN_EDGE))) {
        const start = edgeOf(key, (length) => struck.startsWith(key.slice(-length)));
        if (start > 0) struck = `${STRUCK}${struck.slice(start)}`;
      }
    }
    return struck;
  };
}

/** Fewer characters of a key give nothing away. */
const MIN_EDGE = 8;

function edgeOf(key: string, fits: (length: number) => boolean): number {
  for (let length = key.length - 1; length >= MIN_EDGE; length--) if (fits(length)) return length;
  return 0;
}

/** A key such as `secret` or `1234` would be struck out of what people say. */
function isShortWord(value: string): boolean {
  return value.length < 8 && /^(?:[A-Za-z]+|\d+)$/.test(value);
}

/** It can be no name of a field, no number and no date. */
function isUnmistakable(value: string): boolean {
  return value.length >= 8 && !/^[A-Za-z_]+$/.test(value) && !/^[\d.:TZ+-]+$/.test(value);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\+/g, " "));
  } catch {
    return text;
  }
}
