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
  view?: boolean;
  queue?: string;
  fleetLimit?: number;
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

type Key = ConfigFlag["key"];

/** Where each key's flag is shown; the others are about how it runs. */
const GROUP_KEYS: { [group in Group]?: readonly Key[] } = {
  input: [
    ...(["dataset", "base_path", "query_dir", "policy_dir", "bundled", "limit", "ids", "split", "mode"] as const),
    ...(["mcp_config_file", "tool_files", "corpus", "python"] as const),
  ],
  models: [
    "agent_model",
    "user_model",
    "agent_temperature",
    "user_temperature",
    "top_p",
    "enable_thinking",
    "tool_format",
    "system_prompt_file",
    "answer_format",
    "models_config_file",
    "sticky",
    "record",
    "replay",
  ],
  limits: [
    ...(["max_workers", "max_turns", "max_steps_per_turn", "max_rollout_seconds", "max_cost"] as const),
    ...(["max_tokens_total", "context_limit", "on_context_full", "summary_model"] as const),
  ],
  output: ["output_dir", "verbose", "verbose_colors"],
};

/** What a command runs. */
type Kind = "config" | "domains" | "questions" | "run";

/**
 * Every command takes every flag, and `--help-all` shows them all. `--help` leaves out those that few people need, unless
 * a key is named here, and those that say nothing about what a command runs.
 */
const RARE: ReadonlySet<string> = new Set<Key | "otel" | "otel-content" | "fleet-limit">([
  ...(["query_dir", "policy_dir", "top_p", "sticky", "system_prompt_file", "answer_format", "context_limit"] as const),
  ...(["on_context_full", "summary_model", "mcp_config_file", "tool_files", "corpus", "verbose_colors"] as const),
  ...(["max_rollout_seconds", "python_processes", "otel", "otel-content", "fleet-limit"] as const),
]);
const SHOWN: { [kind in Kind]?: readonly Key[] } = {
  questions: [
    ...(["system_prompt_file", "answer_format", "context_limit", "on_context_full", "sticky"] as const),
    ...(["mcp_config_file", "tool_files", "corpus", "max_rollout_seconds"] as const),
  ],
};
const HIDDEN: { [kind in Kind]?: readonly Key[] } = {
  domains: ["dataset", "judge_model", "replay", "record", "python"],
  questions: [
    ...(["dataset", "base_path", "bundled", "mode", "user_model", "user_temperature", "max_turns"] as const),
    ...(["record", "replay", "python", "retry_failed", "allow_drift", "resume", "max_tokens_total"] as const),
  ],
  run: ["base_path", "bundled", "mode"],
};

function isShown(key: string, kind: Kind): boolean {
  const has = (keys: readonly string[] = []) => keys.includes(key);
  return has(SHOWN[kind]) || !(RARE.has(key) || has(HIDDEN[kind]));
}

type RunFlagOptions = {
  /** what the command runs; by default what a config says */
  of?: Kind;
  /** the command's own */
  defaults?: ConfigPatch;
  /** a second name for a flag */
  aliases?: { [key in ConfigFlag["key"]]?: string };
};

/** The flags of every command that runs rollouts: one list. */
export function addRunFlags(command: Command, options: RunFlagOptions = {}): Command {
  const { of = "config" } = options;
  const isResumed = of === "run";
  const all = [
    // a run that has begun has its folder
    ...listFlags()
      .filter(({ key }) => !isResumed || key !== "output_dir")
      .flatMap((flag) =>
        optionsOf(flag, options).map((option) => ({ key: flag.key as string, group: groupOf(flag), option })),
      ),
    ...ownFlags().map(([group, option]) => ({ key: option.long?.slice(2) ?? "", group, option })),
  ];
  for (const [group, heading] of entriesOf(GROUPS))
    for (const { group: its, option } of all) if (its === group) command.addOption(option.helpGroup(heading));
  const rare = all.filter(({ key }) => !isShown(key, of)).map(({ option }) => option);
  let isAll = false;
  const hide = () => {
    for (const option of rare) option.hideHelp(!isAll);
  };
  command.addOption(new Option("--help-all", "every flag").hideHelp()).on("option:help-all", () => {
    isAll = true;
    command.help();
  });
  // only then: a mistyped flag is compared with all of them
  command.on("beforeHelp", hide);
  return command.addHelpText("after", () =>
    isAll ? "" : `\n${rare.length} more flags: rollout ${command.name()} --help-all`,
  );
}

/** How a command runs rollouts this time. */
function ownFlags(): [Group, Option][] {
  const pilot = new Option("--pilot <n>", "make n rollouts of each dataset in a folder of their own, to extrapolate");
  return [
    ["run", new Option("--dry-run", "show what would be done and about what it takes, and write nothing")],
    ["run", pilot.argParser(whole(1))],
    ["run", new Option("--queue <url>", "postgres://…: rollout worker makes it, this collects (or ROLLOUT_QUEUE)")],
    [
      "run",
      new Option("--fleet-limit <n>", "rollouts at once, of all workers of a queue together").argParser(whole(1)),
    ],
    ["output", new Option("--quiet", "print nothing but errors")],
    ["output", new Option("--view", "show the run on a page while it goes on; its address is printed first")],
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

function optionsOf(flag: ConfigFlag, { defaults = {}, aliases = {}, of }: RunFlagOptions): Option[] {
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
    ...(fallback === undefined || of === "run" ? [] : [`default: ${fallback}`]),
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
    const value = type instanceof z.ZodArray ? list(text) : isNumber(type, text) ? toNumber(text) : text;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data as T;
    const own = parsed.error.issues[0]?.message ?? "";
    throw new InvalidArgumentError(`It ${own.startsWith("must ") ? own : `must be ${describeType(schema)}`}.`);
  };
}

/** Of a type that takes words as well, what looks like a number. */
function isNumber(type: z.ZodType, text: string): boolean {
  if (type instanceof z.ZodUnion)
    return /^\s*[-+.\d]/.test(text) && type.options.some((one) => one instanceof z.ZodNumber);
  return type instanceof z.ZodNumber;
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
