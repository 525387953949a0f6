// `npm run bench -- peers`: the same dialogues against the same model server, played by a bare loop, by Rollout and by its
// peers, each in a process of its own: CPU of all its processes per model call, wall time over the ideal, most memory.
// docs/speed.md says how it is measured. --docs puts the table into the documents.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { report, round } from "../support/measure.mjs";
import { drive } from "../support/peers/drive.mjs";
import { chooseNode, prepare } from "../support/peers/install.mjs";
import { PEERS } from "../support/peers/list.mjs";
import { describeMachine, toMarkdown, toTables, writeInto } from "../support/peers/table.mjs";
import { wasBusy, watchOthers } from "../support/quiet.mjs";

// 64 and 256 at once ask for the same 256 calls a second, if nothing but the model takes time
const LEVELS = [
  { at: 1, latency: 50, dialogues: 16, warm: 4 },
  { at: 64, latency: 250, dialogues: 256, warm: 64 },
  { at: 256, latency: 1000, dialogues: 256, warm: 64 },
].map((level) => ({ ...level, warmMs: 20_000 })); // V8 compiles what it runs often: the first seconds are not like the others
const QUICK = { dialogues: [2, 64, 256], warm: 2, warmMs: 0 };

const { peers, levels, runs, quick, docs } = readOptions();
const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

const tell = watchOthers();
const node = chooseNode(peers);
const prepared = peers.map((peer) => ({ peer, ...prepare(peer, { node }) }));
const samples = new Map(peers.map(({ name }) => [name, new Map()]));
for (let run = 1; run <= runs; run++)
  for (const level of levels) for (const one of prepared) if (!one.reason) await measure(one, level, run);

const result = summarise();
report(toTables(result));
for (const [language, name] of [
  ["en", "peers.md"],
  ["zh", "peers.zh.md"],
])
  writeFileSync(join(dirname(process.argv[2]), name), `${toMarkdown(result, { language })}\n`);
if (docs) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  writeInto(
    ["docs/speed.md", "docs/zh/speed.md", "README.md", "README_zh.md"].map((file) => join(root, file)),
    result,
  );
}
console.log(`\n${toMarkdown(result, { language: "en" })}\n`);

/** A peer that fails once is left out from then on, and the others go on. */
async function measure(one, level, run) {
  const { name } = one.peer;
  console.error(`… run ${run}, ${level.at} at once, ${name}: ${level.warmMs / 1000} s to warm up, then it is measured`);
  const folder = mkdtempSync(join(temporary, `${name}-`));
  try {
    const seen = await drive({ ...one, folder, level });
    const all = samples.get(name);
    all.set(level.at, [...(all.get(level.at) ?? []), seen]);
    console.log(
      `run ${run}, ${level.at} at once, ${name}: ${round(seen.cpuMs)} ms, ${round(seen.wallRatio)} x ideal, ${round(seen.peakMb, 0)} MB`,
    );
  } catch (error) {
    one.reason = `at ${level.at} at once: ${error.message.split("\n")[0]}`;
    console.error(`${name} ${level.at} at once: ${error.message}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function summarise() {
  const seen = tell();
  const measured = prepared.flatMap(({ peer, version }) => {
    const results = new Map([...samples.get(peer.name)].map(([at, all]) => [at, medians(all)]));
    return results.size > 0 ? [{ peer, version, results }] : [];
  });
  const missing = prepared.flatMap(({ peer, reason }) => (reason ? [{ peer, reason }] : []));
  const python = prepared.find((one) => one.python)?.python;
  const date = new Date().toISOString().slice(0, 10);
  const programs = { node: node.version, python };
  const about = { date, machine: describeMachine(), ...programs, runs, quick, ...seen, busy: wasBusy(seen) };
  return { levels, measured, missing, about };
}

function medians(all) {
  const middle = (pick) => {
    const sorted = all.map(pick).sort((a, b) => a - b);
    return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  };
  const numbers = ["cpuMs", "wallRatio", "peakMb", "medianKb"];
  const entries = numbers.map((name) => [name, middle((seen) => seen[name])]);
  return { ...Object.fromEntries(entries), runs: all.length };
}

function readOptions() {
  const text = { type: "string" };
  const known = {
    only: text,
    at: text,
    runs: { ...text, default: "3" },
    quick: { type: "boolean" },
    docs: { type: "boolean" },
  };
  let values;
  try {
    ({ values } = parseArgs({ args: process.argv.slice(3), options: known }));
  } catch (error) {
    refuse(error.message);
  }
  const quick = values.quick || process.env.BENCH_QUICK === "1";
  const all = quick ? LEVELS.map((level, n) => ({ ...level, ...QUICK, dialogues: QUICK.dialogues[n] })) : LEVELS;
  const runs = quick ? 1 : Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) refuse(`--runs ${values.runs} is not a whole number above 0.`);
  return {
    peers: choose("only", values.only, PEERS, ({ name }) => name),
    levels: choose("at", values.at, all, ({ at }) => String(at)),
    runs,
    quick,
    docs: values.docs,
  };
}

function choose(flag, asked, all, nameOf) {
  if (asked === undefined) return all;
  const names = asked.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !all.some((one) => nameOf(one) === name));
  if (unknown !== undefined) refuse(`--${flag} ${unknown}: there are ${all.map(nameOf).join(", ")}.`);
  return all.filter((one) => names.includes(nameOf(one)));
}

function refuse(sentence) {
  console.error(sentence);
  process.exit(2);
}
