// `${VAR}` and `${VAR:-default}` in texts that users write, filled from the environment that is passed in.
import { UsageError } from "./errors.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Its place is added by whoever knows the files. */
export class UnsetVariableError extends UsageError {
  readonly variable: string;
  constructor(reason: string, variable: string) {
    super(reason);
    this.variable = variable;
  }
}

export type FillOptions = {
  env: Variables;
  /** what the text is, for errors */
  where: string;
  /** a variable without a value stays as it is written, instead of being an error */
  keepMissing?: boolean;
  /** variables that are filled elsewhere */
  skip?: readonly string[];
  /** other uses of `${` in the text, such as a shell's, are fine */
  allowOthers?: boolean;
};

/** The text, and the names of the variables in it with their values. A variable that is unset or empty has none. */
export function fillVariables(
  text: string,
  { env, where, keepMissing, skip = [], allowOthers }: FillOptions,
): { text: string; values: Map<string, string | undefined> } {
  const values = new Map<string, string | undefined>();
  if (!allowOthers && text.replace(VARIABLE, "").includes("${"))
    throw new UsageError(`${where}: a variable is written \${NAME} or \${NAME:-default}`);
  const filled = text.replace(VARIABLE, (written, name: string, fallback: string | undefined) => {
    if (skip.includes(name)) return written;
    const value = readVariable(name, env) ?? fallback;
    values.set(name, value);
    if (value !== undefined) return value;
    if (keepMissing) return written;
    throw new UnsetVariableError(`${where}: the environment variable ${name} is not set`, name);
  });
  return { text: filled, values };
}

const VARIABLE = /\$\{(\w+)(?::-([^}]*))?\}/g;

export function readVariable(name: string, env: Variables): string | undefined {
  return Object.hasOwn(env, name) && env[name] !== "" ? env[name] : undefined;
}
