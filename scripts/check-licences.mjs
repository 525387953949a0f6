// What users install with this package: `node scripts/check-licences.mjs [FOLDER]` fails, and names the package, if a
// production dependency (however deep) has a licence that is not in licences.json, or none; if NOTICE leaves out one that
// is under Apache 2.0 and brings a NOTICE of its own; or if it leaves out a source of the model catalogue, or a library
// that is part of the page's files.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = resolve(process.argv[2] ?? join(here, ".."));
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

const allowed = new Set(readJson(join(here, "licences.json")));
const notice = existsSync(join(root, "NOTICE")) ? readFileSync(join(root, "NOTICE"), "utf8") : "";

const { packages } = readJson(join(root, "package-lock.json"));
const installed = Object.entries(packages).filter(([path, { dev, link }]) => path !== "" && !dev && !link);
const inPage = librariesOfPage();
const problems = [
  ...installed.flatMap(problemsOf),
  ...inPage.filter(({ licence }) => !isAllowed(licence)).map(({ name, licence }) => `${name} is under ${licence}`),
  ...[...sources(), ...inPage.map(({ name }) => name)].filter(isLeftOut).map(saysNothingOf),
];

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${installed.length + inPage.length} packages, all under a licence of scripts/licences.json`);

function problemsOf([path, { optional }]) {
  const folder = join(root, path);
  if (!existsSync(join(folder, "package.json"))) return optional ? [] : [`${path} is not installed: run npm ci`];
  const manifest = readJson(join(folder, "package.json"));
  const name = `${manifest.name}@${manifest.version} (${path})`;
  const licence = licenceOf(manifest);
  if (licence === undefined) return [`${name} names no licence`];
  if (!isAllowed(licence)) return [`${name} is under ${licence}, which is not in scripts/licences.json`];
  const bringsNotice = readdirSync(folder).some((file) => /^notice(\.\w+)?$/i.test(file));
  return licence.includes("Apache-2.0") && bringsNotice && isLeftOut(manifest.name)
    ? [saysNothingOf(manifest.name)]
    : [];
}

/** The field, or one of its older forms. */
function licenceOf({ license, licenses }) {
  const [first] = [license, ...(Array.isArray(licenses) ? licenses : [licenses])].flat().filter(Boolean);
  const text = typeof first === "object" ? first.type : first;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
}

/** An SPDX expression: one side of an OR is enough, both of an AND are needed; exceptions (WITH) are not known. */
function isAllowed(expression) {
  const either = splitAtTop(expression, " OR ");
  if (either.length > 1) return either.some(isAllowed);
  const both = splitAtTop(expression, " AND ");
  if (both.length > 1) return both.every(isAllowed);
  const inner = /^\((.*)\)$/.exec(expression.trim());
  return inner ? isAllowed(inner[1]) : allowed.has(expression.trim());
}

function splitAtTop(expression, word) {
  const parts = [""];
  let depth = 0;
  for (let at = 0; at < expression.length; at++) {
    const character = expression[at];
    depth += character === "(" ? 1 : character === ")" ? -1 : 0;
    if (depth === 0 && expression.startsWith(word, at)) {
      parts.push("");
      at += word.length - 1;
    } else parts[parts.length - 1] += character;
  }
  return parts;
}

function sources() {
  const catalogue = join(root, "src", "models", "catalogue", "providers.json");
  return existsSync(catalogue) ? readJson(catalogue).made.sources.map((source) => source.package) : [];
}

/** Those that the build put into the page, which writes down their licences. */
function librariesOfPage() {
  const file = join(root, "dist", "viewer", "page", "licences.md");
  if (!existsSync(file)) return [];
  const titles = readFileSync(file, "utf8").matchAll(/^## (\S+) - \S+ \((.+)\)$/gm);
  return [...titles].map(([, name, licence]) => ({ name, licence }));
}

function isLeftOut(name) {
  return !notice.split(/[\s,;()]+/).includes(name);
}

function saysNothingOf(name) {
  return `NOTICE does not name ${name}`;
}
