// The names that the pages use are the program's: formats, commands, flags.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { FORMATS } from "../src/export/formats/index.ts";
import { fullHelp, PROGRAM } from "./support/cli.ts";

const read = (page: string) => readFileSync(new URL(`../${page}`, import.meta.url), "utf8");
const PAGES = ["README.md", "README_zh.md", ...["docs", "docs/zh"].flatMap(pagesOf)];
const help = async (...words: string[]) =>
  (await promisify(execFile)(process.execPath, [PROGRAM, ...words, fullHelp(words[0])])).stdout;

function pagesOf(folder: string): string[] {
  const names = readdirSync(new URL(`../${folder}`, import.meta.url));
  return names.filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`);
}

function found(text: string, pattern: RegExp): string[] {
  return [...new Set(Array.from(text.matchAll(pattern), ([, name]) => name as string))];
}

test.each(["README.md", "README_zh.md"])("%s names every export format, and no other", (page) => {
  const [sentence = ""] =
    /^.*`openai`(?:, |、)`trl`.*?(?= and `parquet`| 和 `parquet`)(?: and| 和) `parquet`/m.exec(read(page)) ?? [];
  expect(found(sentence, /`([^`]+)`/g)).toEqual([...FORMATS.keys()]);
});

test.each(["docs/export.md", "docs/zh/export.md"])(
  "the table of %s has a row for every format, and no other",
  (page) => {
    const [table = ""] = /^\| `--format`[\s\S]*?\n\n/m.exec(read(page)) ?? [];
    const names = found(table, /^\| ((?:`[a-z-]+`(?:, |、)?)+) *\|/gm).flatMap((cell) => found(cell, /`([a-z-]+)`/g));
    expect(names.filter((name) => name !== "--format").sort()).toEqual([...FORMATS.keys()].sort());
  },
);

test("every format that is asked for on a page exists", () => {
  const asked = PAGES.flatMap((page) => found(read(page), /--format[ =]([a-z][\w-]*)/g).map((name) => [page, name]));
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter(([, name]) => !FORMATS.has(name as string))).toEqual([]);
});

test("every command and flag that the READMEs name exists, and each format is in the program's own help", async () => {
  const commands = found(await help(), /^ {2}([a-z][a-z-]*)/gm);
  const pages = ["README.md", "README_zh.md"].map(read);
  const used = [...new Set(pages.flatMap((text) => found(text, /npx rollout ([a-z][a-z-]*)/g)))];
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((name) => !commands.includes(name))).toEqual([]);
  const helps = (await Promise.all([help(), ...used.map((name) => help(name))])).join("\n");
  const flags = new Set(found(helps, /(--[a-z][a-z-]*)/g));
  for (const text of pages)
    expect(found(text, /(?<![\w-])(--[a-z][a-z-]*)/g).filter((flag) => !flags.has(flag))).toEqual([]);
  const formats = await help("export");
  for (const name of FORMATS.keys()) expect(formats).toContain(name);
}, 60_000);
