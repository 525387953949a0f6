// Writes the tables of docs/config.md and docs/zh/config.md from the config's schema: npx tsx scripts/make-docs.ts
// Regenerates everything between `<!-- keys: NAME -->` and `<!-- end -->`. Sentences, types and defaults come from the
// schema; scripts/config-docs.zh.json holds the Chinese sentences, and a test says which are missing.
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { CONFIG_SECTIONS, describeType, listFlags } from "../src/config/index.ts";
import { registryEntrySchema } from "../src/models/index.ts";
import { evaluationSchema } from "../src/scoring/index.ts";
import { mcpServersSchema } from "../src/tools/index.ts";

type Language = "en" | "zh";
type Shape = { [key: string]: z.ZodType };

const { run, parties, monitor, tools, models, printing } = CONFIG_SECTIONS;
const dataset = shapeOf(run.datasets);
const tables: { [name: string]: Shape } = {
  ...{ run, parties, tools, models, printing, dataset },
  monitor: without(monitor, parties),
  party: shapeOf(dataset.user as z.ZodType),
  auto_discover: shapeOf(run.auto_discover),
  server: shapeOf(mcpServersSchema),
  eval: shapeOf(evaluationSchema),
  entry: shapeOf(registryEntrySchema),
};

const chinese = JSON.parse(readFileSync(new URL("config-docs.zh.json", import.meta.url), "utf8")) as {
  words: { [english: string]: string };
  keys: { [key: string]: string };
};

const HEADERS = {
  en: ["key", "flag", "type", "default", ""],
  zh: ["键", "参数", "类型", "默认值", "说明"],
};

export function renderDocs(text: string, language: Language): string {
  return text.replace(
    /(<!-- keys: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, open: string, name: string, end: string) => {
      const shape = tables[name];
      if (!shape) throw new Error(`there is no table "${name}"`);
      return `${open}${renderTable(name, shape, language)}\n${end}`;
    },
  );
}

/** Keys that have no Chinese sentence yet. */
export function missingChinese(): string[] {
  return Object.entries(tables).flatMap(([name, shape]) =>
    Object.keys(shape).flatMap((key) =>
      sentenceOf(name, key, shape[key] as z.ZodType, "zh") ? [] : [`${name}.${key}`],
    ),
  );
}

function renderTable(name: string, shape: Shape, language: Language): string {
  const flags = new Map(listFlags().map((flag) => [flag.schema, flagsOf(flag)]));
  const rows = Object.entries(shape).map(([key, schema]) => [
    `\`${key}\``,
    flags.get(schema) ?? "",
    typeOf(schema, language),
    defaultOf(schema),
    sentenceOf(name, key, schema, language) ?? "",
  ]);
  const hasFlags = rows.some(([, flag]) => flag);
  const lines = [HEADERS[language], HEADERS[language].map(() => "---"), ...rows];
  return lines
    .map((cells) =>
      `| ${cells.filter((_, column) => hasFlags || column !== 1).join(" | ")} |`.replaceAll(" |  ", " | "),
    )
    .join("\n");
}

function flagsOf({ key, name, short, negation }: ReturnType<typeof listFlags>[number]): string {
  const flag = name ?? key.replaceAll("_", "-");
  const words = [...(short ? [`-${short}`] : []), `--${flag}`, ...(negation ? [`--no-${flag}`] : [])];
  return words.map((word) => `\`${word}\``).join(", ");
}

function typeOf(schema: z.ZodType, language: Language): string {
  const words = describeType(schema)
    .replace(/\ban? /g, "")
    .replace(/ (of at least|above|and at most) [\d.]+/g, "")
    .replace(
      "DEBUG, INFO, WARNING, ERROR, CRITICAL, debug, info, warning, error, critical",
      "DEBUG, INFO, WARNING, ERROR, CRITICAL",
    );
  if (language === "en") return words;
  return words
    .replace(/whole number|number|true or false|mapping|list|text| or /g, (word) => chinese.words[word] ?? word)
    .replace(/(\w)(?=\p{Script=Han})/gu, "$1 ");
}

function defaultOf(schema: z.ZodType): string {
  const value: unknown = schema.safeParse(undefined).data;
  return value === undefined ? "" : `\`${String(value)}\``;
}

function sentenceOf(name: string, key: string, schema: z.ZodType, language: Language): string | undefined {
  const sentence = language === "en" ? schema.description : (chinese.keys[`${name}.${key}`] ?? chinese.keys[key]);
  return sentence?.replaceAll("|", "\\|");
}

/** The keys of an object, looking through any wrappers; of a union or a record, those of the object in it. */
function shapeOf(schema: z.ZodType): Shape {
  if (schema instanceof z.ZodObject) return schema.shape as Shape;
  if (schema instanceof z.ZodRecord) return shapeOf(schema.valueType as z.ZodType);
  if (schema instanceof z.ZodUnion) {
    const objects = (schema.options as z.ZodType[]).map(shapeOf);
    return objects.find((shape) => Object.keys(shape).length > 0) ?? {};
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return shapeOf(schema.unwrap() as z.ZodType);
  return {};
}

function without(shape: Shape, other: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).filter(([key]) => !(key in other)));
}

if (process.argv[1]?.endsWith("make-docs.ts")) {
  for (const [file, language] of [
    ["docs/config.md", "en"],
    ["docs/zh/config.md", "zh"],
  ] as const) {
    const url = new URL(`../${file}`, import.meta.url);
    writeFileSync(url, renderDocs(readFileSync(url, "utf8"), language));
  }
}
