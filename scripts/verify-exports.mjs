// Every export format, loaded by the real loaders of its trainers: each gets its own Python environment in a temporary
// folder (or in the given folder, which is then kept), and must take every row. Needs the network and some
// gigabytes, so it is not part of `npm test`. What could not be installed is reported loudly and counts as a failure.
//   npx tsx scripts/verify-exports.mjs [--loaders datasets,trl,…] [folder for the Python environments]
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportDataset, FORMATS } from "../src/export/index.ts";
import { runRollouts } from "../src/index.ts";

const LOADERS = ["datasets", "trl", "llamafactory", "ms-swift", "verl", "axolotl"];
const CHECKS = join(dirname(fileURLToPath(import.meta.url)), "verify-exports.py");
const INSTALL_LIMIT_MS = 15 * 60_000;

const words = process.argv.slice(2);
const flag = words.indexOf("--loaders");
const wanted = flag === -1 ? LOADERS : words.splice(flag, 2)[1].split(",");
const temporary = mkdtempSync(join(tmpdir(), "rollout-verify-"));
const environments = words[0] ?? join(temporary, "python");
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const exports = await exportAll(await makeInputs());
writeFileSync(join(temporary, "exports.json"), JSON.stringify(exports));
console.log(`${exports.length} exports, ${exports.reduce((sum, { rows }) => sum + rows, 0)} rows`);

const outcomes = wanted.map((loader) => ({ loader, outcome: tryLoader(loader) }));
for (const { loader, outcome } of outcomes)
  console.log(`${outcome === "ok" ? "ok" : outcome.toUpperCase()}  ${loader}`);
if (outcomes.some(({ outcome }) => outcome !== "ok")) process.exitCode = 1;

function tryLoader(loader) {
  const environment = join(environments, loader);
  const python = join(environment, "bin", "python");
  if (!existsSync(python)) {
    console.log(`installing ${loader} …`);
    mkdirSync(environments, { recursive: true });
    const made = spawnSync("python3", ["-m", "venv", environment], { stdio: "inherit" });
    const installed =
      made.status !== 0
        ? made
        : spawnSync(python, ["-m", "pip", "install", "-q", loader], {
            stdio: ["ignore", "ignore", "inherit"],
            timeout: INSTALL_LIMIT_MS,
          });
    if (installed?.status !== 0) {
      rmSync(environment, { recursive: true, force: true });
      return "could not be tried: it does not install here";
    }
  }
  const check = spawnSync(
    python,
    [CHECKS, loader, join(temporary, "exports.json"), join(temporary, `cache-${loader}`)],
    {
      stdio: ["ignore", "inherit", "inherit"],
      env: { PATH: process.env.PATH, HOME: temporary, HF_HUB_OFFLINE: "1", TOKENIZERS_PARALLELISM: "false" },
    },
  );
  return check.status === 0
    ? "ok"
    : check.status === 3
      ? "could not be tried: it does not start here"
      : "rows were refused or lost";
}

async function exportAll(inputs) {
  const plain = [...FORMATS.keys()].map((format) => ({ format }));
  const jobs = [
    ...plain,
    ...plain
      .filter(({ format }) => FORMATS.get(format).container === "jsonl")
      .map(({ format }) => ({ format, container: "parquet" })),
    { format: "trl", arguments: "string" },
    { format: "axolotl", loss: "until-error" },
    { format: "ms-swift", loss: "until-error" },
    ...["trl", "llamafactory", "ms-swift"].map((format) => ({ format, pairs: "kto" })),
    ...["trl", "llamafactory", "ms-swift", "openai"].map((format) => ({ format, pairs: "preference" })),
  ];
  const made = [];
  for (const [index, job] of jobs.entries()) {
    const out = join(temporary, "exports", `${index}-${job.format}`);
    const options = { ...job, inputs, out, includeScripted: true, license: "unknown" };
    const { files, counts } = await exportDataset(options);
    made.push({ name: Object.values(job).join(" "), ...job, file: files[0], folder: out, rows: counts.out });
  }
  return made;
}

/** A scripted run with failures in it, and dialogues that are odd in every way a loader might stumble over. */
async function makeInputs() {
  const run = join(temporary, "run");
  await runRollouts({
    config: { datasets: ["StudentHealthServices"], agent_model: "scripted/agent?skill=0.5" },
    outputDir: run,
    bundled: true,
  });
  const odd = join(temporary, "odd.jsonl");
  writeFileSync(
    odd,
    oddRecords()
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(""),
  );
  return [run, odd];
}

function oddRecords() {
  const texts = [
    "plain",
    "",
    "\u0000",
    "\u2028\u2029\u0085",
    "half \ud800 character",
    "👩‍👩‍👧 العربية",
    '"quotes" \\ \\n',
    "x".repeat(100_000),
  ];
  const values = [1, "one", 1.5, true, null, [1, "a"], { deep: { deeper: [] } }, "y".repeat(50_000), 12345678901];
  const tools = ["alpha", "beta"].map((name, n) => ({
    type: "function",
    function: {
      name,
      description: name,
      parameters: { type: "object", properties: { [`p${n}`]: { type: n ? "string" : ["integer", "null"] } } },
    },
  }));
  return texts.flatMap((text, n) =>
    [0, 1].map((rollout) => {
      const call = (id, name, given) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(given) },
      });
      return {
        id: rollout ? `odd-${n}#1` : `odd-${n}`,
        query_id: `odd-${n}`,
        rollout,
        dataset: "Odd",
        domains: [],
        success: true,
        score: rollout,
        tools: n % 2 ? tools : tools.slice(0, 1),
        messages: [
          { role: "system", content: "Odd things happen." },
          { role: "user", content: `Hello ${text}` },
          {
            role: "assistant",
            content: "",
            reasoning_content: n % 3 ? `I think ${text}` : undefined,
            tool_calls: [
              call(`a${n}`, "alpha", { p0: values[n], [`key ${n}`]: values[n + 1] }),
              call(`b${n}`, "alpha", {}),
            ],
          },
          { role: "tool", tool_call_id: `a${n}`, content: text },
          { role: "tool", tool_call_id: `b${n}`, content: JSON.stringify({ value: values[n] }) },
          { role: "assistant", content: rollout ? `Well done. ${text}` : `I cannot. ${text}` },
          ...(n % 2 ? [{ role: "user", content: "Thanks." }] : []),
        ],
        metadata: { stop_reason: "user_stop", models: { agent: "lab/agent" } },
      };
    }),
  );
}
