// The variables that a run's settings name, and the secrets that are written in them as they are: those are refused, since
// what is sent may be read by whoever reads the database.
import {
  isObject,
  isSecretName,
  isWorthHiding,
  keysIn,
  readVariable,
  UsageError,
  type Variables,
} from "../../core/index.ts";

const VARIABLE = /\$\{(\w+)(?::-([^}]*))?\}/g;
/** Filled for each rollout, not from the environment. */
const PLACES = new Set(["WORK_FOLDER", "QUERY_ID", "ROLLOUT", "SEED", "DATASET"]);

export class NamedVariables {
  /** as `RunBundle.needs` has them */
  readonly needs = new Set<string>();
  /** those that stand where a secret stands */
  readonly secret = new Set<string>();
  readonly #env: Variables;

  constructor(env: Variables) {
    this.#env = env;
  }

  /** Every text in a setting, by the name that is nearest to it. `where` says which setting it is. */
  read(setting: unknown, where: string, name = ""): void {
    if (typeof setting === "string") this.#readText(setting, where, name);
    else if (Array.isArray(setting)) for (const item of setting) this.read(item, where, name);
    else if (isObject(setting))
      for (const [key, value] of Object.entries(setting)) this.read(value, `${where}.${key}`, key);
  }

  /** `--token=…`, `--token …`, `KEY=…`, `Authorization: …` */
  readArguments(args: readonly string[], where: string): void {
    for (const [index, written] of args.entries()) {
      const [, name = args[index - 1] ?? "", value] = /^([\w-]+)(?:=|:\s*)(.+)$/s.exec(written) ?? [];
      if (value !== undefined) this.#readText(value, `${where}.${index}`, name);
      this.#readText(written, `${where}.${index}`, value === undefined && name.startsWith("-") ? name : "");
    }
  }

  /** One of these variables is enough. */
  needOneOf(names: readonly string[]): void {
    for (const name of names) this.secret.add(name);
    this.needs.add(names.join("|"));
  }

  #readText(text: string, where: string, name: string): void {
    const isSecret = isSecretName(name);
    for (const [, variable = "", fallback] of text.matchAll(VARIABLE)) {
      if (PLACES.has(variable)) continue;
      // one that has a default here, and a value too, would mean something else on a worker that lacks it
      if (fallback === undefined || readVariable(variable, this.#env) !== undefined) this.needs.add(variable);
      if (isSecret || isSecretName(variable)) this.secret.add(variable);
    }
    if (holdsSecret(text, isSecret))
      throw new UsageError(
        `${where} holds a secret as it is written, and secrets are not sent to workers: put it into a variable of theirs and write \${NAME} here`,
      );
  }
}

function holdsSecret(text: string, isSecret: boolean): boolean {
  const fixed = text.replace(VARIABLE, (_, _name, fallback: string | undefined) => fallback ?? "");
  if (isSecret && isWorthHiding(fixed.replace(/^(?:bearer|basic|token|digest|apikey)\b\s*/i, "").trim())) return true;
  return keysIn(fixed).length > 0 || hasLogin(fixed) || hasSecretParameter(fixed);
}

/** `https://name:password@…`, or a token in the place of the name; a name alone next to a variable is none. */
function hasLogin(text: string): boolean {
  return [...text.matchAll(/\w:\/\/([^/?#\s]*)@/g)].some(([, login = ""]) => /:.|^[^:]+$/s.test(login));
}

function hasSecretParameter(text: string): boolean {
  if (!text.includes("://")) return false;
  return [...text.matchAll(/[?&]([\w.-]+)=([^&#\s]+)/g)].some(
    ([, name = "", value = ""]) => isSecretName(name) && isWorthHiding(value),
  );
}

/** Those that an environment lacks, as people read them. */
export function listMissing(needs: readonly string[], env: Variables): string[] {
  return needs
    .map((names) => names.split("|"))
    .filter((names) => !names.some((name) => readVariable(name, env) !== undefined))
    .map((names) => names.join(" or "));
}
