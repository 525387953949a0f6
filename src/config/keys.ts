// A config as a manifest keeps it: keys and passwords by NAME, or as "<literal>"; and the way back, to continue a run.
import {
  hideLogin,
  hideSecret,
  isObject,
  isSecretName,
  type Json,
  LITERAL,
  learnAll,
  learnUrl,
  UsageError,
} from "../core/index.ts";
import type { FullConfig } from "./schema.ts";

export function hideKeys(config: FullConfig): Json {
  const hide = (text: string) => /^\$\{(\w+)(?::-[^}]*)?\}$/.exec(text)?.[1] ?? LITERAL;
  learnLiterals(config);
  return JSON.parse(
    JSON.stringify(config, (name, value: unknown) => {
      if (typeof value === "string")
        return isSecretName(name) ? hide(value) : hideSecret(name, hideLogin(value, `${LITERAL}@`));
      if (!isSecretive(name) || !isObject(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, hide(String(text))]));
    }),
  );
}

/** Also those of models and servers that this run does not use. */
function learnLiterals(value: unknown, name = ""): void {
  if (BODIES.has(name)) learnAll(value);
  else if (typeof value === "string") learnUrl({ text: value });
  else if (Array.isArray(value)) for (const item of value) learnLiterals(item);
  else if (isObject(value)) for (const [key, member] of Object.entries(value)) learnLiterals(member, key);
}

const BODIES = new Set(["extra_params", "extra_body"]);

/** `original`: the config file as it is now, which still holds the literals. */
export function restoreKeys(hidden: Json, original: () => unknown): unknown {
  let source: unknown;
  const restore = (value: Json, path: string[], inSecret: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => restore(item, [...path, String(index)], inSecret));
    if (isObject(value)) {
      const secretive = isSecretive(path.at(-1) ?? "");
      const members = Object.entries(value as { [key: string]: Json });
      return Object.fromEntries(members.map(([key, member]) => [key, restore(member, [...path, key], secretive)]));
    }
    if (typeof value !== "string") return value;
    if (value.includes(LITERAL)) {
      source ??= original();
      return literalAt(source, path);
    }
    return (inSecret || isSecretName(path.at(-1) ?? "")) && /^\w+$/.test(value) ? `\${${value}}` : value;
  };
  return restore(hidden, [], false);
}

function literalAt(source: unknown, path: readonly string[]): unknown {
  const found = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], source);
  if (found !== undefined) return found;
  throw new UsageError(
    `${path.join(".")} was written as a literal, which a run folder does not keep, and the config no longer has it: write it as \${NAME}, or run the first command again`,
  );
}

/** Mappings whose values may all be secrets. */
function isSecretive(name: string): boolean {
  return name === "env" || name === "headers";
}
