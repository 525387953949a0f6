// Finds a chat template among the user's files and makes it ready to render. Nothing is downloaded, and none is shipped.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject, messageOf, UsageError } from "../../core/index.ts";
import { readJson } from "../../files/index.ts";
import { type Boundaries, compile } from "./python-jinja.ts";

export const BOUNDARIES = Symbol("boundaries");

export type ChatTemplate = {
  name: string;
  /** throws in the template's own words where it refuses its input */
  render(input: {
    messages: JsonObject[];
    tools?: JsonObject[] | string;
    [variable: string]: unknown;
    /** marks to put around what is written for each message */
    [BOUNDARIES]?: Boundaries;
  }): string;
};

type Sources = { templates: Map<string, { text: string; file: string }>; tokens: { [name: string]: string } };

export function loadTemplate(given: string, options: { hubFolders?: string[] } = {}): ChatTemplate {
  const { templates, tokens } = readSources(given, options.hubFolders ?? []);
  const compiled = new Map([...templates].map(([name, { text, file }]) => [name, compileAt(text, file)]));
  const [any] = compiled.values();
  if (!any) throw new UsageError(`${given} has no chat template. ${WHERE}`);
  return {
    name: given,
    render({ [BOUNDARIES]: boundaries, ...input }) {
      const name = input.tools && input.tools.length > 0 ? "tool_use" : "default";
      const render = compiled.get(name) ?? compiled.get("default") ?? any;
      const variables = {
        documents: null,
        add_generation_prompt: false,
        ...tokens,
        ...input,
        tools: input.tools ?? null,
      };
      return render(variables, boundaries);
    },
  };
}

const WHERE =
  "A chat template is in the folder of the model's tokenizer: chat_template.jinja, or chat_template in tokenizer_config.json";

function compileAt(text: string, file: string): ReturnType<typeof compile> {
  try {
    return compile(text);
  } catch (error) {
    throw new UsageError(`this chat template cannot be read: ${messageOf(error)}`, { file });
  }
}

function readSources(given: string, hubFolders: string[]): Sources {
  if (!existsSync(given)) return readFolder(findSnapshot(given, hubFolders));
  if (statSync(given).isDirectory()) return readFolder(given);
  const tokens = readTokens(dirname(given));
  if (given.endsWith(".json")) return { templates: readConfig(given), tokens };
  if (!/\.(jinja2?|j2|txt)$/.test(given))
    throw new UsageError("a chat template is a .jinja, .j2, .txt or tokenizer_config.json file", { file: given });
  // a file alone does not say what its tokens are called
  return { templates: new Map([["default", readText(given)]]), tokens: { bos_token: "", eos_token: "", ...tokens } };
}

/** As transformers reads a tokenizer's folder: files of templates count before the one in the config. */
function readFolder(folder: string): Sources {
  const templates: Sources["templates"] = new Map();
  for (const name of ["chat_template.json", "tokenizer_config.json"])
    for (const [key, text] of readConfig(join(folder, name))) templates.set(key, text);
  const more = join(folder, "additional_chat_templates");
  for (const file of existsSync(more) ? readdirSync(more) : [])
    if (file.endsWith(".jinja")) templates.set(basename(file, ".jinja"), readText(join(more, file)));
  const main = join(folder, "chat_template.jinja");
  if (existsSync(main)) templates.set("default", readText(main));
  if (templates.size === 0)
    throw new UsageError(`there is no chat template in this folder. ${WHERE}`, { file: folder });
  return { templates, tokens: readTokens(folder) };
}

function readText(file: string): { text: string; file: string } {
  return { text: readFileSync(file, "utf8"), file };
}

/** `chat_template` is one text, or a list of named ones. */
function readConfig(file: string): Sources["templates"] {
  const config = existsSync(file) ? readJson(file) : undefined;
  const given = isObject(config) ? config.chat_template : undefined;
  const named = typeof given === "string" ? [{ name: "default", template: given }] : Array.isArray(given) ? given : [];
  return new Map(
    named.flatMap((entry) =>
      isObject(entry) && typeof entry.name === "string" && typeof entry.template === "string"
        ? [[entry.name, { text: entry.template, file }] as const]
        : [],
    ),
  );
}

/** `bos_token`, `eos_token` and the like, which templates use as variables. */
function readTokens(folder: string): Sources["tokens"] {
  const tokens: Sources["tokens"] = {};
  for (const name of ["special_tokens_map.json", "tokenizer_config.json"]) {
    const file = join(folder, name);
    const config = existsSync(file) ? readJson(file) : undefined;
    for (const [key, value] of Object.entries(isObject(config) ? config : {})) {
      const text = isObject(value) ? value.content : value;
      if (key.endsWith("_token") && typeof text === "string") tokens[key] = text;
    }
  }
  return tokens;
}

/** The folder of a model's files in a local Hugging Face cache. */
function findSnapshot(model: string, hubFolders: string[]): string {
  if (!/^[\w.-]+(\/[\w.-]+)?$/.test(model) || /\.(jinja2?|j2|txt|json)$/.test(model))
    throw new UsageError(`there is no such file or folder. ${WHERE}`, { file: model });
  const folders = hubFolders.map((hub) => join(hub, `models--${model.replace("/", "--")}`));
  for (const folder of folders) {
    const snapshots = join(folder, "snapshots");
    if (!existsSync(snapshots)) continue;
    const main = join(folder, "refs", "main");
    const current = existsSync(main) ? readFileSync(main, "utf8").trim() : "";
    const found = [current, ...readdirSync(snapshots)].find((name) => name !== "" && existsSync(join(snapshots, name)));
    if (found) return join(snapshots, found);
  }
  const places = folders.length > 0 ? `looked for ${folders.join(" and ")}` : "no Hugging Face cache is known";
  throw new UsageError(
    `${model} is neither a file or folder nor a model in the local Hugging Face cache (${places}). ${WHERE}. To get it into the cache: hf download ${model} --include "*.json" "*.jinja"`,
  );
}
