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
export type RunFlags = {
  dryRun?: boolean;
  pilot?: number;
  quiet?: boolean;
  json?: boolean;
  otel?: boolean | string;
  otelContent?: boolean;
};

/** The headings under which `--help` shows the flags, in this order. */
export const GROUPS = {
  input: "Input:",
  models: "Models:",
  limits: "Limits:",
  run: "How it runs:",
  output: "Output:",
} as const;

type Group = keyof typeof GROUPS;

/** Where each key's flag is shown; the others are about how it runs. */
const GROUP_KEYS: { [group in Group]?: readonly ConfigFlag["key"][] } = {
  input: ["dataset", "base_path", "query_dir", "policy_dir", "bundled", "limit", "ids", "mode", "python"],
  models: [
    "agent_model",
    "user_model",
    "agent_temperature",
    "user_temperature",
    "enable_thinking",
    "models_config_file",
    "record",
    "replay",
  ],
  limits: ["max_workers", "max_turns", "max_steps_per_turn", "max_cost", "max_tokens_total"],
  output: ["output_dir", "verbose", "verbose_colors"],
};

type RunFlagOptions = {
  /** the command's own */
  defaults?: ConfigPatch;
  /** a second name for a flag */
  aliases?: { [key in ConfigFlag["key"]]?: string };
  /** of a run that has begun: its folder is given, and its own settings are the defaults */
  resumed?: boolean;
};

/** The flags of every command that runs rollouts. */
export function addRunFlags(command: Command, options: RunFlagOptions = {}): Command {
  const flags = listFlags().filter(({ key }) => !options.resumed || key !== "output_dir");
  const own: [Group, Option][] = [
    ["run", new Option("--dry-run", "show what would be done and about what it takes, and write nothing")],
    [
      "run",
      new Option("--pilot <n>", "make n rollouts of each dataset in a folder of their own, to extrapolate").argParser(
        whole(1),
      ),
    ],
    ["output", new Option("--quiet", "print nothing but errors")],
    [
      "output",
      new Option(
        "--otel [url]",
        "send OpenTelemetry spans to this collector (default: OTEL_EXPORTER_OTLP_ENDPOINT, or port 4318 of this machine)",
      ).argParser(address),
    ],
    ["output", new Option("--otel-content", "put messages, arguments and results into the spans")],
    ["output", new Option("--json", "print every event of the run as one line of JSON, and nothing else")],
  ];
  const all = [
    ...flags.flatMap((flag) => optionsOf(flag, options).map((option) => [groupOf(flag), option] as const)),
    ...own,
  ];
  for (const [group, heading] of entriesOf(GROUPS))
    for (const [its, option] of all) if (its === group) command.addOption(option.helpGroup(heading));
  return command;
}

/** Only the flags of these keys, for commands that run rollouts in a way of their own. */
export function addConfigFlags(command: Command, keys: readonly ConfigFlag["key"][]): Command {
  const all = listFlags().filter(({ key }) => keys.includes(key));
  for (const [group, heading] of entriesOf(GROUPS))
    for (const flag of all)
      if (groupOf(flag) === group)
        for (const option of optionsOf(flag, {})) command.addOption(option.helpGroup(heading));
  return command;
}

/** A word after a bare flag would be taken for its address. */
function address(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError("It must be an address such as http://localhost:4318; without one, --otel goes last.");
}

function groupOf({ key }: ConfigFlag): Group {
  return entriesOf(GROUP_KEYS).find(([, keys]) => keys?.includes(key))?.[0] ?? "run";
}

function entriesOf<T extends object>(object: T): [keyof T, T[keyof T]][] {
  return Object.entries(object) as [keyof T, T[keyof T]][];
}

/** What was given on the command line, as a patch of the config. */
export function toPatch(command: Command): ConfigPatch {
  const given = listFlags().flatMap((flag) => {
    const name = attributeOf(flag);
    return command.getOptionValueSource(name) === "cli" ? [[flag.key, command.getOptionValue(name)]] : [];
  });
  return Object.fromEntries(given);
}

function optionsOf(flag: ConfigFlag, { defaults = {}, aliases = {}, resumed }: RunFlagOptions): Option[] {
  const name = nameOf(flag);
  const { schema, value } = flag;
  const alias = aliases[flag.key];
  const fallback = defaults[flag.key] ?? schema.safeParse(undefined).data;
  const sentence = flag.sentence ?? schema.description ?? "";
  const written = `${flag.short ? `-${flag.short}, ` : ""}--${name}`;
  if (!value) {
    const positive = new Option(written, sentence);
    return flag.negation ? [positive, new Option(`--no-${name}`, flag.negation)] : [positive];
  }
  const notes = [
    ...(alias === undefined ? [] : [`also --${alias}`]),
    ...(fallback === undefined || resumed ? [] : [`default: ${fallback}`]),
  ];
  const option = new Option(
    `${alias === undefined ? "" : `--${alias}, `}${written} ${value}`,
    notes.length === 0 ? sentence : `${sentence} (${notes.join("; ")})`,
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
