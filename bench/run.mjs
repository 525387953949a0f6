// `npm run bench -- [--quiet-check] [name…]`: measured work. Prints a table and writes bench/results/<name>.json. Numbers come
// from one run on one machine, next to a floor measured in the same run: compare ratios, not seconds. A busy machine is told;
// with --quiet-check nothing is measured on one, and what others disturbed meanwhile is not judged: exit code 75.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, lookAround, wasBusy, watchOthers } from "./support/quiet.mjs";

const TRY_LATER = 75;
const TAKES_OPTIONS = ["peers"];

const here = dirname(fileURLToPath(import.meta.url));
if (!existsSync(join(here, "..", "dist", "index.js"))) refuse("Nothing is built yet: run `npm run build` first.");
const { names, quietCheck, options } = readArguments(process.argv.slice(2));

console.log(
  `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GB\n`,
);
const results = process.env.ROLLOUT_BENCH_RESULTS ?? join(here, "results");
mkdirSync(results, { recursive: true });
let disturbed = false;
for (const name of names) {
  const before = await lookAround({ ownMinute: name !== names[0] });
  if (before.busy && quietCheck) {
    refuse(`Nothing was measured: ${describe(before)}; wait, or leave out --quiet-check.`, TRY_LATER);
  }
  if (before.busy) console.log(`BUSY MACHINE: ${describe(before)}. Only ratios mean something.\n`);
  const meanwhile = measure(name);
  if (!wasBusy(meanwhile)) continue;
  disturbed = true;
  console.log(
    `BUSY MACHINE: while ${name} ran, other processes used ${meanwhile.others} of ${meanwhile.cores} cores.\n`,
  );
}
if (disturbed && quietCheck) refuse("Not to be judged: other processes were busy meanwhile.", TRY_LATER);

/** What others used while the suite ran. Both are in its results too. */
function measure(name) {
  const result = join(results, `${name}.json`);
  const tell = watchOthers();
  const child = spawnSync(process.execPath, ["--expose-gc", join(here, "suites", `${name}.mjs`), result, ...options], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (child.status !== 0) process.exit(child.status ?? 1);
  const seen = tell();
  const machine = { ...seen, busy: wasBusy(seen) };
  const tables = JSON.parse(readFileSync(result, "utf8"));
  for (const { title, rows } of tables) {
    console.log(title);
    console.table(rows);
  }
  writeFileSync(
    result,
    `${JSON.stringify(
      tables.map((table) => ({ ...table, machine })),
      null,
      2,
    )}\n`,
  );
  return seen;
}

/** Options come after the name of the one bench that takes them. */
function readArguments(given) {
  const available = readdirSync(join(here, "suites")).map((file) => file.replace(/\.mjs$/, ""));
  const rest = given.filter((word) => word !== "--quiet-check");
  const first = rest.findIndex((word) => word.startsWith("-"));
  const [names, options] = first === -1 ? [rest, []] : [rest.slice(0, first), rest.slice(first)];
  const unknown = names.find((name) => !available.includes(name));
  if (unknown) refuse(`There is no bench "${unknown}"; there are: ${available.join(", ")}`);
  if (options.length > 0 && !(names.length === 1 && TAKES_OPTIONS.includes(names[0])))
    refuse(`${options[0]} belongs to one of: ${TAKES_OPTIONS.join(", ")}; name just that, and then its options.`);
  // the comparison with others installs them, so it runs only where it is named
  const all = available.filter((name) => name !== "peers");
  return { names: names.length > 0 ? names : all, quietCheck: rest.length < given.length, options };
}

function refuse(sentence, status = 2) {
  console.error(sentence);
  process.exit(status);
}
