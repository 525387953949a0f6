// Flags, checked as they are parsed. Those of a run come from the config's schema: each is one of its keys.
import { type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { type ConfigFlag, type ConfigPatch, describeType, listFlags } from "../config/index.ts";

/** A whole number of at least `least`. */
export function whole(least: number): (text: string) => number {
  return parserOf(z.int().min(least));
}

export const atLeastZero = parserOf<number>(z.number().min(0));

export function list(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** How a command runs rollouts this time: not part of the run itself. */
export type RunFlags = { dryRun?: boolean; pilot?: number; quiet?: boolean; json?: boolean };

/** The flags of every command that runs rollouts; `defaults` are the command's own. */
export function addRunFlags(command: Command, defaults: ConfigPatch = {}): Command {
  for (const flag of listFlags()) for (const option of optionsOf(flag, defaults)) command.addOption(option);
  return command
    .option("--dry-run", "show what would be done and about what it takes, and write nothing")
    .option("--pilot <n>", "make n rollouts of each dataset in a separate folder, to extrapolate", whole(1))
    .option("--quiet", "print nothing but errors")
    .option("--json", "print every event of the run as one line of JSON, and nothing else");
}

/** What was given on the command line, as a patch of the config. */
export function toPatch(command: Command): ConfigPatch {
  const given = listFlags().flatMap((flag) => {
    const name = attributeOf(flag);
    return command.getOptionValueSource(name) === "cli" ? [[flag.key, command.getOptionValue(name)]] : [];
  });
  return Object.fromEntries(given);
}

function optionsOf(flag: ConfigFlag, defaults: ConfigPatch): Option[] {
  const name = nameOf(flag);
  const { schema, value } = flag;
  const fallback = defaults[flag.key] ?? schema.safeParse(undefined).data;
  const sentence = flag.sentence ?? schema.description ?? "";
  const written = `${flag.short ? `-${flag.short}, ` : ""}--${name}`;
  if (!value) {
    const positive = new Option(written, sentence);
    return flag.negation ? [positive, new Option(`--no-${name}`, flag.negation)] : [positive];
  }
  const option = new Option(
    `${written} ${value}`,
    fallback === undefined ? sentence : `${sentence} (default: ${fallback})`,
  );
  const choices = enumOf(schema);
  if (choices) return [option.choices(choices)];
  return [option.argParser(parserOf(schema))];
}

function nameOf({ key, name }: ConfigFlag): string {
  return name ?? key.replaceAll("_", "-");
}

function attributeOf(flag: ConfigFlag): string {
  return nameOf(flag)
    .replace(/^no-/, "")
    .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Reads a flag's text as a value of the schema, or says what it must be. */
function parserOf<T>(schema: z.ZodType): (text: string) => T {
  return (text) => {
    const type = innerOf(schema);
    const value = type instanceof z.ZodArray ? list(text) : type instanceof z.ZodNumber ? toNumber(text) : text;
    const parsed = schema.safeParse(value);
    if (!parsed.success) throw new InvalidArgumentError(`It must be ${describeType(schema)}.`);
    return parsed.data as T;
  };
}

function toNumber(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

function enumOf(schema: z.ZodType): string[] | undefined {
  const type = innerOf(schema);
  return type instanceof z.ZodEnum ? type.options.map(String) : undefined;
}

function innerOf(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? innerOf(schema.unwrap() as z.ZodType)
    : schema;
}
