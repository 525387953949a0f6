// Keys: read from the environment that is handed in, named but never shown, and struck out of any text that leaves.
import { UsageError } from "../core/index.ts";
import type { ResolvedModel } from "./resolved.ts";

export type Variables = { readonly [name: string]: string | undefined };

export type Filled = { text: string; names: string[] };

/**
 * Fills `${VAR}` and `${VAR:-default}`. A variable that is unset or empty has no value: without a default that is a
 * UsageError which names it, or, with `keepMissing`, the reference stays as it stands.
 */
export function fillVariables(
  text: string,
  options: { env: Variables; where: string; keepMissing?: boolean | undefined },
): Filled {
  const names: string[] = [];
  if (text.replace(REFERENCE, "").includes("${"))
    throw new UsageError(`${options.where}: a reference is written \${NAME} or \${NAME:-default}`);
  const filled = text.replace(REFERENCE, (reference, name: string, fallback: string | undefined) => {
    names.push(name);
    const value = readVariable(name, options.env) ?? fallback;
    if (value !== undefined) return value;
    if (options.keepMissing) return reference;
    throw new UsageError(`${options.where}: the environment variable ${name} is not set`);
  });
  return { text: filled, names };
}

const REFERENCE = /\$\{(\w+)(?::-([^}]*))?\}/g;

export function readVariable(name: string, env: Variables): string | undefined {
  return Object.hasOwn(env, name) && env[name] !== "" ? env[name] : undefined;
}

/** Every text in a resolved model that must not be seen: for createRedactor. */
export function secretsOf(model: ResolvedModel): string[] {
  const headers = Object.entries(model.headers)
    .filter(([name]) => /auth|key|token|secret|cookie/i.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+\s+/, "")]);
  const passwords = model.baseUrls
    .map((url) => (URL.canParse(url) ? new URL(url).password : ""))
    .flatMap((password) => [password, decodeSafely(password)]);
  return [model.apiKey ?? "", ...headers, ...passwords].filter((secret) => secret !== "");
}

/**
 * Strikes out each secret, as it is and as it may be dressed: URL-encoded, escaped in JSON, in base64 alone or inside
 * longer encoded text. Secrets of fewer than four characters and usual stand-ins for "no key" are no secrets.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(
    secrets.filter((secret) => secret.length >= SHORTEST && !STAND_INS.has(secret.toLowerCase())).flatMap(formsOf),
  );
  if (forms.size === 0) return (text) => text;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(escapePattern).join("|"), "g");
  return (text) => text.replace(pattern, "[redacted]");
}

const SHORTEST = 4;
const STAND_INS = new Set(["empty", "none", "null", "dummy", "local", "ollama", "lm-studio", "not-needed", "no-key"]);

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const encoded = encodeURIComponent(bytes.toString());
  const form = new URLSearchParams([["", secret]]).toString().slice(1);
  const base64 = [0, 1, 2].map((offset) => insideBase64(bytes, offset));
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    ...[encoded, form].flatMap((text) => [text, text.replace(/%../g, (code) => code.toLowerCase())]),
    ...[bytes.toString("base64"), bytes.toString("base64").replace(/=+$/, ""), ...base64],
    ...[bytes.toString("base64url"), ...base64.map((text) => text.replace(/\+/g, "-").replace(/\//g, "_"))],
  ];
  return forms.filter((form) => form.length >= SHORTEST);
}

/** The characters of base64 that stand for these bytes alone, when `offset` other bytes (modulo three) stand before. */
function insideBase64(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
