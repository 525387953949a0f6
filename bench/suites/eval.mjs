// Scoring 10,000 trajectories with every check that needs no model, and a report over 100,000 scored rollouts.
import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { resolveConfig } from "../../dist/config/index.js";
import { makeRollouts } from "../../dist/runner/index.js";
import { readManifest } from "../../dist/runs/index.js";
import { chooseChecks } from "../../dist/scoring/check-list.js";
import { Evaluation } from "../../dist/scoring/evaluate.js";
import { buildReport, compareReports, reportHtml } from "../../dist/scoring/index.js";
import { openScoredDatasets } from "../../dist/scoring/scored-datasets.js";
import { heapUsed, report, round, timed } from "../support/measure.mjs";

const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const DATASETS = ["StudentAcademicPortal", "StudentFinancialServices", "StudentHealthServices"];
const ROLLOUTS = 124; // of 81 queries: 10,044 trajectories
const folder = join(temporary, "run");
const settings = { agent_model: "scripted/agent?skill=0.7", sync: "never", max_workers: 64, rollouts: ROLLOUTS };
const made = await makeRollouts(resolveConfig({ datasets: DATASETS, bundled: true, ...settings }, { folder }));
const outputs = Object.values(made.outputs);

const floor = await timed(async () => {
  let records = 0;
  for (const file of outputs)
    for (const line of readFileSync(file, "utf8").trim().split("\n")) records += JSON.parse(line) ? 1 : 0;
  return records;
});

const manifest = readManifest(join(folder, "manifest.json"));
const datasets = await openScoredDatasets(folder, manifest, { onNotice: () => {} });
const before = await heapUsed();
const samples = [];
let scored = 0;
const evaluation = new Evaluation({
  folder,
  datasets,
  checks: await chooseChecks({}, false),
  workers: 8,
  onScore: () => {
    if (++scored % 12_000 === 0) {
      globalThis.gc?.();
      samples.push(round((process.memoryUsage().heapUsed - before) / 2 ** 20, 1));
    }
  },
});
const scoring = await timed(() => evaluation.catchUp());
await evaluation.close();
const again = await timed(async () => {
  const second = new Evaluation({ folder, datasets, checks: await chooseChecks({}, false), workers: 8 });
  await second.catchUp();
  await second.close();
  return second.counts;
});

/** Ten times the run, as if it had ten times the queries: records and scores with new ids. */
const large = join(temporary, "large");
mkdirSync(join(large, "trajectories"), { recursive: true });
const copies = 10;
async function multiply(from, to) {
  const target = createWriteStream(to);
  for await (const line of createInterface({ input: createReadStream(from) })) {
    for (let copy = 0; copy < copies; copy++) {
      const text = line.replace(/"query_id":"/, `"query_id":"${copy}-`);
      if (!target.write(`${text}\n`)) await new Promise((resolve) => target.once("drain", resolve));
    }
  }
  await new Promise((resolve) => target.end(resolve));
}
for (const [name, file] of Object.entries(made.outputs))
  await multiply(file, join(large, "trajectories", `${name}.jsonl`));
await multiply(join(folder, "scores.jsonl"), join(large, "scores.jsonl"));
for (const [name, dataset] of Object.entries(manifest.datasets))
  dataset.output = join(large, "trajectories", `${name}.jsonl`);
writeFileSync(join(large, "manifest.json"), JSON.stringify(manifest));
const reporting = await timed(async () => {
  const built = buildReport(large);
  writeFileSync(join(large, "report.json"), JSON.stringify(built));
  writeFileSync(join(large, "report.html"), reportHtml([built], undefined));
  return built.overall;
});
const comparing = await timed(async () => compareReports([buildReport(folder), buildReport(folder)]).shared_queries);

report([
  {
    title: `Scoring ${evaluation.counts.rollouts} trajectories (aim: under 60 s)`,
    rows: [
      {
        what: "all checks that need no model",
        s: round(scoring.wallMs / 1000),
        "CPU s": round(scoring.cpuMs / 1000),
        "trajectories/s": round(evaluation.counts.rollouts / (scoring.wallMs / 1000), 0),
        "x floor (CPU)": round(scoring.cpuMs / floor.cpuMs, 1),
      },
      {
        what: "again, with nothing new",
        s: round(again.wallMs / 1000),
        "trajectories/s": "",
        "x floor (CPU)": round(again.cpuMs / floor.cpuMs, 1),
      },
      {
        what: "floor: read and parse the same files",
        s: round(floor.wallMs / 1000),
        "trajectories/s": "",
        "x floor (CPU)": 1,
      },
    ],
  },
  {
    title: "Heap above the start while scoring, every 2,000 trajectories (MB)",
    rows: [Object.fromEntries(samples.map((mb, index) => [(index + 1) * 2000, mb]))],
  },
  {
    title: "Reports (aim: under 10 s for 100,000 scored rollouts)",
    rows: [
      {
        what: `report over ${reporting.value.scored} scored rollouts`,
        s: round(reporting.wallMs / 1000),
        "CPU s": round(reporting.cpuMs / 1000),
        "peak RSS MB": round(process.resourceUsage().maxRSS / 1024, 0),
      },
      {
        what: `two runs of ${evaluation.counts.rollouts} compared`,
        s: round(comparing.wallMs / 1000),
        "CPU s": round(comparing.cpuMs / 1000),
        "peak RSS MB": "",
      },
    ],
  },
]);
