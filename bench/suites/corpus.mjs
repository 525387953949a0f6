// Searching a local corpus: 100,000 generated paragraphs as JSONL, in words with spaces and in characters without. What
// opening, indexing, a search and a visit cost, beside reading and parsing the same lines.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLines } from "../../dist/files/index.js";
import { Corpus } from "../../dist/tools/index.js";
import { heapUsed, report, round, timed } from "../support/measure.mjs";

const PARAGRAPHS = 100_000;
const QUERIES = 300;

const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

let state = 1;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};

const SYLLABLES = ["ka", "lo", "mi", "ran", "tes", "vor", "ul", "shi", "pre", "con", "den", "or", "ba", "ne", "ti"];

function spell(number) {
  let word = "";
  for (let rest = number + 17; rest > 0; rest = Math.floor(rest / 15)) word += SYLLABLES[rest % 15];
  return word;
}

const VOCABULARY = Array.from({ length: 60_000 }, (_, number) => spell(number));
/** The n-th word is n times as rare as the first, as in natural languages. */
const rank = (size) => Math.min(size - 1, Math.floor(Math.exp(random() * Math.log(size))) - 1);

/** Words of two characters, which stand next to each other. */
const CHINESE = Array.from({ length: 20_000 }, () => String.fromCodePoint(0x4e00 + rank(3000), 0x4e00 + rank(3000)));

const KINDS = {
  "words (English and the like)": {
    paragraph: () => `${Array.from({ length: 60 + rank(60) }, () => VOCABULARY[rank(60_000)]).join(" ")}.`,
    query: () => Array.from({ length: 4 + rank(6) }, () => VOCABULARY[rank(60_000)]).join(" "),
  },
  "characters (Chinese and the like)": {
    paragraph: () => `${Array.from({ length: 60 + rank(60) }, () => CHINESE[rank(20_000)]).join("")}。`,
    query: () => Array.from({ length: 2 + rank(4) }, () => CHINESE[rank(20_000)]).join(""),
  },
};

async function measure(name, { paragraph, query }) {
  const file = join(temporary, "corpus.jsonl");
  const lines = Array.from({ length: PARAGRAPHS }, (_, id) =>
    JSON.stringify({ id: `doc${id}`, title: `Document ${id}`, text: paragraph() }),
  );
  writeFileSync(file, `${lines.join("\n")}\n`);
  lines.length = 0;
  const parsing = await timed(async () => {
    for (const { bytes } of readLines(file)) JSON.parse(bytes.toString("utf8"));
  });
  const before = await memory();
  const opening = await timed(() => Corpus.open(file, () => {}));
  const corpus = opening.value;
  const indexing = await timed(() => corpus.search("x", 5));
  const held = (await memory()) - before;
  const times = [];
  for (let n = 0; n < QUERIES; n++) times.push((await timed(() => corpus.search(query(), 5))).wallMs);
  times.sort((a, b) => a - b);
  const visiting = await timed(async () => {
    for (let n = 0; n < QUERIES; n++) await corpus.visit(`doc${rank(PARAGRAPHS)}`, 1);
  });
  return {
    what: name,
    MB: round(statSync(file).size / 2 ** 20, 0),
    "s to parse (floor)": round(parsing.wallMs / 1000),
    "s to open": round(opening.wallMs / 1000),
    "s to index": round(indexing.wallMs / 1000),
    "of these CPU": round(indexing.cpuMs / 1000),
    "ms a search": round(times.reduce((sum, time) => sum + time, 0) / QUERIES),
    "95 % within ms": round(times[Math.floor(QUERIES * 0.95)]),
    "ms a visit": round(visiting.wallMs / QUERIES, 3),
    "MB held": round(held / 2 ** 20, 0),
  };
}

async function memory() {
  const heap = await heapUsed();
  return heap + process.memoryUsage().arrayBuffers;
}

const rows = [];
for (const [name, kind] of Object.entries(KINDS)) rows.push(await measure(name, kind));
report([{ title: `BM25 over ${PARAGRAPHS.toLocaleString("en")} paragraphs`, rows }]);
