// A 400 that names a parameter, in any of the many wordings there are: the parameter is looked for among the settings
// that the request was made of, and the message then says which line of the config or the registry to change.
import { isObject, type Json, type JsonObject, type ModelClient, parseJson, redactText } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";
import type { CallSettings, ResolvedModel, SettingPlaces } from "./resolved.ts";

/** As written: variables are not filled in. */
export type SentSettings = { model: ResolvedModel; settings: CallSettings; places?: SettingPlaces | undefined };

export function explainRefusals(client: ModelClient, sent: SentSettings): ModelClient {
  return {
    id: client.id,
    complete: (request, signal) =>
      client.complete(request, signal).catch((error: unknown) => {
        throw error instanceof ModelFailure ? explain(error, sent, request.origin.party) : error;
      }),
  };
}

function explain(failure: ModelFailure, sent: SentSettings, party: string): ModelFailure {
  const advice = failure.answer === undefined ? undefined : adviseOn(failure.answer, sent, party);
  if (advice === undefined) return failure;
  const message = `${failure.message.replace(/\.$/, "")}. ${redactText(advice)}`;
  return failure.restate({ message, wrongSetup: true, wrongSetting: true });
}

/** Undefined if the answer names none of the settings. */
export function adviseOn(answer: string, sent: SentSettings, party: string): string | undefined {
  const said = readAnswer(answer);
  const named = listSettings(sent, party).filter(({ names }) => names.some((name) => isNamed(name, said)));
  const meant = named.filter(({ path }) => !named.some((other) => other.path.startsWith(`${path}.`)));
  const [first] = meant;
  if (!first) return undefined;
  if (first.names.includes("max_tokens") && /max_completion_tokens/.test(said.text)) {
    const line = `${party}.extra_params: {max_completion_tokens: ${first.value}}`;
    return `That is ${first.path}: ${first.value} (${first.where}); write ${line} instead`;
  }
  if ((party === "judge" || party === "summary") && first.where !== IN_REGISTRY) {
    const names = meant.map(({ names: [name] }) => name).join(", ");
    return `Judges are asked with ${names} ${first.value}; to leave it out, write refuses: [${names}] ${IN_REGISTRY}`;
  }
  const lines = meant.map(({ path, value }) => `${path}: ${value}`).join(" and ");
  return meant.length > 1
    ? `Those are ${lines} (${first.where}): remove or change one of them`
    : `That is ${lines} (${first.where}): remove or change it`;
}

type Setting = { names: string[]; path: string; value: string; where: string };

const IN_CONFIG = "in the config";
const IN_REGISTRY = "under the model in the registry";

/** What a setting is called on the wires, in snake case. */
const NAMES = {
  temperature: ["temperature"],
  top_p: ["top_p"],
  max_tokens: ["max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"],
  seed: ["seed", "random_seed"],
  thinking: [
    ...["thinking", "enable_thinking", "reasoning_effort", "reasoning", "chat_template_kwargs", "thinking_config"],
    ...["thinking_budget", "thinking_level", "budget_tokens", "reasoning_config", "output_config"],
  ],
};

/** Those that are merged last come first: they replace the others. */
function listSettings({ model, settings, places = {} }: SentSettings, party: string): Setting[] {
  const { temperature, topP, maxTokens, sendSeed, thinking, thinkingOptions, extraParams = {} } = settings;
  const own = extrasOf(extraParams, `${party}.extra_params`, IN_CONFIG);
  const body = Object.entries(model.body).flatMap(([name, value]) => {
    const holder = model.extraBody?.includes(name) ? "extra_body" : "extra_params";
    return extrasOf({ [name]: value }, holder, IN_REGISTRY);
  });
  const extras = [...own, ...body.filter(({ names }) => !own.some((other) => other.names[0] === names[0]))];
  const written: [keyof typeof NAMES, string, Json | undefined][] = [
    ["temperature", places.temperature ?? `${party}.temperature`, temperature],
    ["top_p", `${party}.top_p`, topP],
    ["max_tokens", `${party}.max_tokens`, maxTokens],
    ["seed", `${party}.send_seed`, sendSeed || undefined],
    thinkingOptions
      ? ["thinking", `${party}.thinking`, thinkingOptions]
      : ["thinking", places.thinking ?? `${party}.enable_thinking`, thinking],
  ];
  const isReplaced = (names: string[]) => extras.some((extra) => names.includes(extra.names[0] as string));
  const plain = written.flatMap(([key, path, value]) =>
    value === undefined || isReplaced(NAMES[key].slice(0, 1))
      ? []
      : [{ names: NAMES[key], path, value: show(value), where: path.includes(".") ? IN_CONFIG : inConfigOrFlag(path) }],
  );
  return [...extras, ...plain];
}

/** What a config sets for the whole run has a flag too. */
function inConfigOrFlag(key: string): string {
  return `${IN_CONFIG}, or --${key.replaceAll("_", "-")}`;
}

const MAX_LEVELS = 3;

/** Every member at every level: servers name the outer one or the inner one. */
function extrasOf(body: JsonObject, path: string, where: string, level = 1): Setting[] {
  return Object.entries(body).flatMap(([name, value]) => {
    const setting = { names: [snakeCase(name)], path: `${path}.${name}`, value: show(value), where };
    const inner = isObject(value) && level < MAX_LEVELS ? (value as JsonObject) : {};
    return [setting, ...extrasOf(inner, setting.path, where, level + 1)];
  });
}

const MAX_SHOWN = 80;

function show(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** The parameters that an answer points at, if it does, and its words, all in snake case. */
type Said = { pointed: string[][]; text: string };

function isNamed(name: string, { pointed, text }: Said): boolean {
  if (pointed.length > 0) return pointed.some((path) => path.includes(name));
  const word = name.replace(/[^\w]/g, "\\$&");
  // a name that could not be an ordinary word needs no quotes
  if (name.includes("_") || name === "temperature") return new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text);
  return WAYS_TO_NAME.some((way) => new RegExp(way.replaceAll("NAME", word)).test(text));
}

/** How an ordinary word is marked as a parameter's name. */
const WAYS_TO_NAME = [
  "[\"'`[(‘“]NAME[\"'`\\])’”]",
  "(?:^|\\n|errors?: )NAME(?::|=|\\n|\\.\\w)",
  "(?:parameter|argument|field|key|property|option|param|model|body)s?(?::| ->|\\.)? ?NAME(?![\\w-])",
  "(?:supported|supplied|allowed|permitted|recognized|unknown)\\b[^.\\n]{0,30}: ?NAME(?![\\w-])",
  "\\.NAME(?::|[\"'`\\])])",
  "(?<![\\w-])NAME ?[=<>]",
  "(?<![\\w-])NAME (?:(?:is|are) )?(?:currently )?(?:not |un)(?:supported|allowed|available|permitted|recognized)",
];

/** What is in the dialogue is not a setting. */
const OURS = new Set(["messages", "input", "contents", "tools", "system", "instructions", "tool_choice"]);
const MAX_TEXT = 2000;

function readAnswer(answer: string): Said {
  const paths: string[] = [];
  const texts: string[] = [];
  collect(parseJson(answer) ?? answer, { paths, texts });
  const all = texts.join("\n").replaceAll("\\", "").slice(0, MAX_TEXT);
  // what follows is a list of everything that there is
  const text =
    all.split(/expected one of|(?:valid|supported|allowed|known) (?:fields|parameters|params|keys)(?: are)?:/i)[0] ??
    "";
  // pydantic's errors as Python prints them
  for (const [, path = ""] of text.matchAll(/'loc': \(([^)]*)\)/g)) paths.push(path);
  const pointed = paths.map((path) =>
    snakeCase(path)
      .split(/[^\w-]+/)
      .filter((part) => part !== "" && part !== "body"),
  );
  const ours = pointed.filter(([root]) => OURS.has(root ?? ""));
  // an answer that points only into the dialogue names no setting, whatever its words
  if (ours.length > 0 && ours.length === pointed.length) return { pointed: [[]], text: "" };
  return { pointed: pointed.filter((path) => path.length > 0 && !ours.includes(path)), text: snakeCase(text) };
}

const MAX_DEPTH = 6;
const WORDS = ["message", "msg", "detail", "error", "title", "raw", "errors", "details", "description", "metadata"];

function collect(value: unknown, found: { paths: string[]; texts: string[] }, depth = 0): void {
  if (depth > MAX_DEPTH) return;
  if (typeof value === "string") {
    const inner = /^\s*[{[]/.test(value) ? parseJson(value) : undefined;
    if (isObject(inner) || Array.isArray(inner)) collect(inner, found, depth + 1);
    else found.texts.push(value);
  } else if (Array.isArray(value)) for (const item of value) collect(item, found, depth + 1);
  else if (isObject(value)) {
    for (const name of ["param", "field"]) if (typeof value[name] === "string") found.paths.push(value[name]);
    if (Array.isArray(value.loc)) found.paths.push(value.loc.join("."));
    for (const name of [...WORDS, "fieldViolations"])
      if (value[name] !== undefined) collect(value[name], found, depth + 1);
  }
}

function snakeCase(text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}
