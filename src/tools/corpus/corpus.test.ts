import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { UsageError } from "../../core/index.ts";
import { Corpus } from "./corpus.ts";

type Files = { [name: string]: string | Buffer };

function writeCorpus(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

async function openCorpus(files: Files, at = "") {
  const notes: string[] = [];
  const corpus = await Corpus.open(join(writeCorpus(files), at), (note) => notes.push(note));
  return { corpus, notes };
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13, 1, 2, 3]);

test("documents of all kinds are found by their words and titles, and visited by id, url or title", async () => {
  const { corpus, notes } = await openCorpus({
    "cities/berlin.md": "# Berlin\n\nThe Spree flows through it.",
    "notes.txt": "Rivers: the Seine.",
    "wiki.jsonl": [
      { id: 7, title: "Rome", text: "The Tiber flows here.", url: "https://example.org/rome" },
      { contents: '"Madrid"\nThe Manzanares flows here.' },
      { _id: "罗马", passage: "罗马是意大利的首都。" },
    ]
      .map((line) => JSON.stringify(line))
      .join("\n\n"),
    "data.csv": "not,read",
  });
  expect(notes).toEqual([]);
  expect(await corpus.search("SPREE", 5)).toEqual([
    { id: "cities/berlin.md", title: "Berlin", page: 1, pages: 1, snippet: expect.stringContaining("The Spree flows") },
  ]);
  expect((await corpus.search("意大利首都", 5)).map(({ id }) => id)).toEqual(["罗马"]);
  expect((await corpus.search("rome", 1))[0]).toMatchObject({ id: "7", url: "https://example.org/rome" });
  expect((await corpus.search("Manzanares", 1))[0]).toMatchObject({ id: "wiki.jsonl:3", title: "Madrid" });
  for (const name of ["7", "https://example.org/rome", "rome", " Rome "])
    expect(await corpus.visit(name, 1)).toMatchObject({ id: "7", title: "Rome", text: "The Tiber flows here." });
  expect(await corpus.visit("notes.tx", 1)).toBe(
    'There is no document "notes.tx"; did you mean "notes.txt"? Use the id of a search result.',
  );
  expect(await corpus.visit("7", 2)).toBe('"7" has 1 page, no page 2.');
});

test("a long document is read by page, and a search says on which page its words are", async () => {
  const pages = Array.from({ length: 9 }, (_, n) => `${`Chapter ${n} tells little. `.repeat(150)}\n\n`);
  const { corpus } = await openCorpus({ "book.txt": `${pages.join("")}The treasure is buried in Zanzibar.` });
  const [hit] = await corpus.search("treasure Zanzibar", 3);
  expect(hit).toMatchObject({ id: "book.txt", snippet: expect.stringContaining("Zanzibar") });
  expect(hit?.page).toBe(hit?.pages);
  expect(await corpus.visit("book.txt", hit?.page ?? 0)).toMatchObject({ text: expect.stringContaining("Zanzibar") });
  expect(await corpus.visit("book.txt", 1)).toMatchObject({ page: 1, text: expect.stringContaining("Chapter 0") });
});

test("a document with many good pages leaves room for others", async () => {
  const { corpus } = await openCorpus({
    "book.txt": "apple pie. ".repeat(30_000),
    "note.txt": `One apple. ${"Nothing. ".repeat(300)}`,
  });
  expect((await corpus.search("apple", 2)).map(({ id }) => id)).toEqual(["book.txt", "note.txt"]);
});

test("documents with the same id keep both, under ids of their own", async () => {
  const line = (text: string) => `${JSON.stringify({ id: "a", text })}\n`;
  const { corpus } = await openCorpus({ "x.jsonl": line("first apple") + line("second pear") });
  expect((await corpus.search("apple pear", 5)).map(({ id }) => id).sort()).toEqual(["a", "a#2"]);
  expect(await corpus.visit("a#2", 1)).toMatchObject({ text: "second pear" });
});

test("what cannot be read is left out and named: binary files, broken lines; bytes that are no UTF-8 are told", async () => {
  const { corpus, notes } = await openCorpus({
    "good.txt": "apple",
    "picture.txt": PNG,
    "sixteen.txt": Buffer.from("apple in another encoding", "utf16le"),
    "empty.md": " \n",
    "latin.txt": Buffer.concat([Buffer.from("a long text about a caf"), Buffer.from([0xe9]), Buffer.from(" apple")]),
    "lines.jsonl": '{"text": "apple pie"}\n{"text": \nnonsense\n[1]\n{"title": "no text"}\n',
    ".hidden/secret.txt": "apple",
    "node_modules/readme.md": "apple",
  });
  symlinkSync(".", join(corpus.path, "loop"));
  symlinkSync("self.txt", join(corpus.path, "self.txt"));
  expect((await Corpus.open(corpus.path, () => {})).hash).toBe(corpus.hash);
  expect(notes).toEqual([expect.stringMatching(/left out, because not text in UTF-8: picture.txt, sixteen.txt$/)]);
  expect((await corpus.search("apple", 20)).map(({ id }) => id).sort()).toEqual([
    "good.txt",
    "latin.txt",
    "lines.jsonl:1",
  ]);
  expect(notes.slice(1)).toEqual([
    expect.stringMatching(/not all of it is UTF-8: latin.txt$/),
    expect.stringMatching(
      /left out: lines.jsonl:2 is not a JSON object, lines.jsonl:3 is not a JSON object, lines.jsonl:4 .* and 1 more$/,
    ),
  ]);
});

test.each<[string, Files, string, RegExp]>([
  ["missing", {}, "nowhere", /^There is no corpus .*nowhere$/],
  ["an empty folder", {}, "", /^The corpus \S+ has no text \(\.txt, \.md, \.rst\) or JSONL \(\.jsonl\)$/],
  ["a folder of other files", { "a.pdf": "%PDF", "b/c.html": "<p>" }, "", /has no text/],
  ["only binary files", { "a.txt": PNG, "b.md": PNG }, "", /holds only files that are not text in UTF-8$/],
  ["a binary file", { "a.txt": PNG }, "a.txt", /a\.txt is not text in UTF-8$/],
  ["an empty file", { "a.txt": "" }, "a.txt", /a\.txt is empty$/],
  ["only empty files", { "a.txt": "", "b.txt": "\n" }, "", /holds only files that are empty$/],
  ["JSONL without a document", { "a.jsonl": '\n{"question": 1}\nx\n' }, "a.jsonl", /a\.jsonl:2: .* has none of text, /],
  ["JSONL that is none", { "a.jsonl": "[\n{}\n]" }, "", /a\.jsonl:1: .* is not a JSON object$/],
  ["JSON, but not one document on each line", { "a.json": '[{"text": "a"}]' }, "a.json", /a\.json is JSON; it must be/],
  ["hidden files only", { ".a.txt": "apple" }, "", /has no text/],
])("a corpus that is %s is refused in one sentence", async (_, files, at, message) => {
  const error = await openCorpus(files, at).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toMatch(message);
});

test("the hash follows the contents and names of files, not their place", async () => {
  const files = { "a.txt": "apple", "b.txt": "pear" };
  const hashes = await Promise.all(
    [files, files, { ...files, "b.txt": "peas" }, { "a.txt": "apple", "c.txt": "pear" }].map(
      async (each) => (await openCorpus(each)).corpus.hash,
    ),
  );
  expect(hashes[1]).toBe(hashes[0]);
  expect(new Set(hashes).size).toBe(3);
});

test("many who search at once wait for one index", async () => {
  const lines = Array.from({ length: 5000 }, (_, n) => `${JSON.stringify({ id: n, text: `number ${n} of many` })}\n`);
  const { corpus } = await openCorpus({ "x.jsonl": lines.join("") });
  const found = await Promise.all(Array.from({ length: 50 }, (_, n) => corpus.search(`number ${n}`, 1)));
  expect(found.map(([hit]) => hit?.id)).toEqual(Array.from({ length: 50 }, (_, n) => String(n)));
});
