import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { missingChinese, renderDocs } from "../scripts/make-docs.ts";
import { configJsonSchema } from "../src/config/index.ts";
import { fullHelp, RUNNING, type WorkFolder, workFolder } from "./support/cli.ts";

const DOCUMENTS = ["docs/config.md", "docs/zh/config.md"];

const missingIn = (document: string, words: Iterable<string>) => {
  const text = readFileSync(new URL(`../${document}`, import.meta.url), "utf8");
  return [...words].filter((word) => !text.includes(`\`${word}\``));
};

test.each([
  ["docs/config.md", "en"],
  ["docs/zh/config.md", "zh"],
] as const)(
  "the tables of %s are in step with the schema (npx tsx scripts/make-docs.ts writes them)",
  (file, language) => {
    const text = readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
    expect(renderDocs(text, language)).toBe(text);
  },
);

test("every key has a Chinese sentence (scripts/config-docs.zh.json)", () => {
  expect(missingChinese()).toEqual([]);
});

test.each(DOCUMENTS)("%s names every key of the config, however deep", (document) => {
  const keys = keysOf(configJsonSchema());
  expect(keys.size).toBeGreaterThan(80);
  expect(missingIn(document, keys)).toEqual([]);
});

test("every command's help is short and has examples, and both documents name every flag", async () => {
  const helps = await helpsBelow(workFolder(), []);
  expect(helps.length).toBeGreaterThan(6);
  for (const { command, text } of helps) {
    expect([command, text.split("\n").length < 75]).toEqual([command, true]);
    expect([command, text.includes("Examples:\n  rollout ")]).toEqual([command, true]);
  }
  const full = await Promise.all(
    RUNNING.map(async (name) => ({ text: (await workFolder().run([name, fullHelp(name)])).stdout })),
  );
  const flags = new Set(
    [...helps, ...full].flatMap(({ text }) =>
      [...text.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag as string),
    ),
  );
  expect(flags.size).toBeGreaterThan(40);
  for (const document of DOCUMENTS) expect([document, missingIn(document, flags)]).toEqual([document, []]);
});

/** The names of all properties in a JSON Schema, including those of nested schemas. */
function keysOf(schema: unknown): Set<string> {
  if (typeof schema !== "object" || schema === null) return new Set();
  const own = "properties" in schema ? Object.keys(schema.properties as object) : [];
  return new Set([...own, ...Object.values(schema).flatMap((part) => [...keysOf(part)])]);
}

type Help = { command: string; text: string };

async function helpsBelow(work: WorkFolder, words: string[]): Promise<Help[]> {
  const { code, stdout } = await work.run([...words, "--help"]);
  expect([words, code]).toEqual([words, 0]);
  const listed = /\nCommands:\n([\s\S]*?)(\n\n|$)/.exec(stdout)?.[1] ?? "";
  const names = [...listed.matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name as string);
  const below = names.filter((name) => name !== "help").map((name) => helpsBelow(work, [...words, name]));
  return [{ command: words.join(" "), text: stdout }, ...(await Promise.all(below)).flat()];
}
