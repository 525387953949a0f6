// `npm run bench [name…]`: measured work. Prints a table and writes bench/results/<name>.json. Numbers come from one run on
// one machine, next to a floor measured in the same run: compare ratios, not seconds.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
if (!existsSync(join(here, "..", "dist", "index.js"))) {
  console.error("Nothing is built yet: run `npm run build` first.");
  process.exit(2);
}
const available = readdirSync(join(here, "suites")).map((file) => file.replace(/\.mjs$/, ""));
const asked = process.argv.slice(2);
const unknown = asked.find((name) => !available.includes(name));
if (unknown) {
  console.error(`There is no bench "${unknown}"; there are: ${available.join(", ")}`);
  process.exit(2);
}

console.log(
  `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GB\n`,
);
mkdirSync(join(here, "results"), { recursive: true });
for (const name of asked.length > 0 ? asked : available) {
  const result = join(here, "results", `${name}.json`);
  const child = spawnSync(process.execPath, ["--expose-gc", join(here, "suites", `${name}.mjs`), result], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (child.status !== 0) process.exit(child.status ?? 1);
  for (const { title, rows } of JSON.parse(readFileSync(result, "utf8"))) {
    console.log(title);
    console.table(rows);
  }
}
