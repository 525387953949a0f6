// Writes examples/research: `npx tsx scripts/make-research.ts [folder]`. Deterministic; a test compares its output with
// the committed files.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeDocuments } from "./research/documents.ts";
import { writeQuestions } from "./research/questions.ts";
import { makeWorld } from "./research/world.ts";

/** File names, relative to the example's folder, and their text. */
export function makeResearch(): Map<string, string> {
  const world = makeWorld();
  const files = new Map(writeDocuments(world).map(({ file, text }) => [`corpus/${file}`, text]));
  const lines = writeQuestions(world).map((question) => `${JSON.stringify(question)}\n`);
  return files.set("questions.jsonl", lines.join(""));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = process.argv[2] ?? fileURLToPath(new URL("../examples/research/", import.meta.url));
  const files = makeResearch();
  mkdirSync(join(target, "corpus"), { recursive: true });
  for (const file of readdirSync(join(target, "corpus"))) rmSync(join(target, "corpus", file));
  for (const [file, text] of files) writeFileSync(join(target, file), text);
  console.log(`${files.size - 1} documents and their questions in ${target}`);
}
