// A judge of the exports: every format goes through the real loader, tokenizer code and loss mask of its trainer, under
// the chat templates of real models, and is compared with the records it was made of, text by text.
//   npx tsx scripts/verify-exports.mjs [--trainers trl,…] [--write-docs] [folder for the Python environments]
// The folder is kept; without one a temporary folder is used. Needs the network and some gigabytes, so it is not part
// of `npm test`. A result that is not perfect and has no known cause (causes.mjs) ends it with 1, and so does a
// trainer that cannot be tried, and a cause that no longer explains anything.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportDataset, FORMATS } from "../src/export/index.ts";
import { runRollouts } from "../src/index.ts";
import { fetchTemplates, pythonOf } from "./verify-exports/environments.mjs";
import { Marks } from "./verify-exports/marks.mjs";
import { oddRecords } from "./verify-exports/records.mjs";
import { findProblems, printTables, writeDocs } from "./verify-exports/report.mjs";

const TRAINERS = ["datasets", "trl", "axolotl", "llamafactory", "ms-swift", "verl"];
const BUNDLED_RECORDS = 3;
const here = join(dirname(fileURLToPath(import.meta.url)), "verify-exports");

const words = process.argv.slice(2);
const wanted = take("--trainers")?.split(",") ?? TRAINERS;
const writes = words.includes("--write-docs");
const temporary = mkdtempSync(join(tmpdir(), "rollout-verify-"));
const environments = words.find((word) => !word.startsWith("--")) ?? join(temporary, "python");
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const failures = [];
const trl = pythonOf("trl", environments);
if (!trl) throw new Error("TRL, which ships some of the templates, does not install here");
const job = {
  ...(await makeExports()),
  templates: fetchTemplates(join(environments, "templates"), trl),
  cache: join(temporary, "cache"),
};
mkdirSync(job.cache);
writeFileSync(join(temporary, "job.json"), JSON.stringify(job));
console.log(`${job.exports.length} exports, ${job.exports.reduce((sum, { rows }) => sum + rows, 0)} rows`);

const cells = wanted.flatMap((trainer) => judgeWith(trainer) ?? []);
printTables(cells, job.exports);
const isAll = wanted.length === TRAINERS.length;
failures.push(...findProblems(cells, isAll && failures.length === 0));
if (isAll && failures.length === 0) failures.push(...writeDocs(cells, job.exports, writes));
for (const failure of failures) console.log(`FAILED  ${failure}`);
if (failures.length > 0) process.exitCode = 1;

function judgeWith(trainer) {
  const python = pythonOf(trainer, environments);
  if (!python) return void failures.push(`${trainer} could not be tried: it does not install here`);
  const report = join(temporary, `${trainer}.json`);
  const judged = spawnSync(python, [join(here, "verify.py"), trainer, join(temporary, "job.json"), report], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { PATH: process.env.PATH, HOME: temporary, HF_HUB_OFFLINE: "1", TOKENIZERS_PARALLELISM: "false" },
  });
  if (judged.status !== 0)
    return void failures.push(`${trainer} ${judged.status === 3 ? "does not start here" : "broke off"}`);
  const { version, cells } = JSON.parse(readFileSync(report, "utf8"));
  return cells.map((cell) => ({ trainer, version, ...cell }));
}

async function makeExports() {
  const marks = new Marks();
  const inputs = [join(temporary, "records.jsonl")];
  const records = [...oddRecords(), ...(await bundledRecords())].map((record) => marks.mark(record));
  writeFileSync(inputs[0], records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const names = [...FORMATS.keys()];
  const jobs = [
    ...names.map((format) => ({ format })),
    ...["verl-sft", "llamafactory"].map((format) => ({ format, unroll: "step" })),
    { format: "trl", container: "parquet" },
    ...names.flatMap((format) => Object.keys(FORMATS.get(format).pairs ?? {}).map((pairs) => ({ format, pairs }))),
  ];
  const exports = [];
  for (const [index, wantedExport] of jobs.entries()) {
    const name = Object.values(wantedExport).join(" ");
    const folder = join(temporary, "exports", `${index}-${wantedExport.format}`);
    try {
      const { files, counts } = await exportDataset({
        ...wantedExport,
        inputs,
        out: folder,
        all: true,
        license: "unknown",
      });
      const { out: rows, left_out, notes } = counts;
      exports.push({ name, ...wantedExport, file: files[0], folder, rows, lost: { ...left_out, ...notes } });
    } catch (error) {
      failures.push(`${name} is not written: ${error.message}`);
    }
  }
  return { exports, facts: marks.facts };
}

/** Whole dialogues of a scripted run of the bundled domains. */
async function bundledRecords() {
  const run = join(temporary, "run");
  const config = { datasets: ["StudentHealthServices"], agent_model: "scripted/agent?skill=0.5" };
  await runRollouts({ config, outputDir: run, bundled: true });
  const out = join(temporary, "bundled");
  const { files } = await exportDataset({ inputs: [run], format: "jsonl", out, all: true, license: "unknown" });
  const lines = readFileSync(files[0], "utf8").trim().split("\n");
  return lines.slice(0, BUNDLED_RECORDS).map((line) => JSON.parse(line));
}

function take(flag) {
  const at = words.indexOf(flag);
  return at === -1 ? undefined : words.splice(at, 2)[1];
}
