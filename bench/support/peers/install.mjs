// Makes a peer ready to be started: its packages, by the exact versions in its folder, go into a cache folder that stays, a
// folder or a virtual environment for each. A peer that cannot be had is told with the reason.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE = "24.21.0";
const WITHIN_MS = 15 * 60_000;
const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/** How to start it (`program`, `args`, `file`, `env`) and its `version`, or the `reason` why it cannot be. */
export function prepare(peer, { node, env = process.env }) {
  try {
    if (peer.language === "node") return prepareNode(peer, node, env);
    return peer.folder ? prepareCheckout(peer, env) : preparePython(peer, env);
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** One Node for all: this one where it is new enough for every peer, else one from the package registry. */
export function chooseNode(peers, env = process.env) {
  const needed = Math.max(0, ...peers.map(({ needs = 0 }) => needs));
  const own = { path: process.execPath, version: process.versions.node };
  if (major(own.version) >= needed) return own;
  const platform = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${platform}-${process.arch}`;
  try {
    const folder = install(join(cacheFolder(env), `node-${NODE}`), (into) => {
      writeFileSync(join(into, "package.json"), JSON.stringify({ private: true, dependencies: { [name]: NODE } }));
      npmInstall(into);
    });
    return { path: join(folder, "node_modules", name, "bin", "node"), version: NODE };
  } catch (error) {
    console.error(`Node ${NODE} could not be installed (${reasonOf(error)}): this is Node ${own.version}.`);
    return own;
  }
}

function prepareNode(peer, node, env) {
  if (peer.needs > major(node.version)) return { reason: `it needs Node ${peer.needs}, and this is ${node.version}` };
  const start = { program: node.path, args: [here("driver.mjs")] };
  const own = here(`${peer.name}/peer.mjs`);
  const packages = here(`${peer.name}/package.json`);
  if (!existsSync(packages)) return { ...start, file: own, version: ownVersion(peer) };
  const folder = install(join(cacheFolder(env), keyOf(peer, packages)), (into) => {
    copyFileSync(packages, join(into, "package.json"));
    npmInstall(into);
  });
  // beside its packages, where its imports find them
  const file = join(folder, "peer.mjs");
  copyFileSync(own, file);
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules", peer.package, "package.json"), "utf8"));
  return { ...start, file, version };
}

function preparePython(peer, env) {
  const wanted = here(`${peer.name}/requirements.txt`);
  const folder = install(join(cacheFolder(env), keyOf(peer, wanted)), (into) => {
    run(env.ROLLOUT_BENCH_PYTHON ?? "python3", ["-m", "venv", into]);
    run(join(into, "bin", "python"), ["-m", "pip", "install", "--quiet", "--requirement", wanted]);
  });
  const version = new RegExp(`^${peer.package}(?:\\[.*\\])?==(.+)$`, "m").exec(readFileSync(wanted, "utf8"))[1];
  return startPython(peer, join(folder, "bin", "python"), version);
}

/** What is in no registry: the folder where its user has installed it. */
function prepareCheckout(peer, env) {
  const folder = env[peer.folder];
  if (!folder || !existsSync(join(folder, "pyproject.toml")))
    return { reason: `${peer.folder} does not name the folder where it is installed` };
  const version = /^version = "(.+)"$/m.exec(readFileSync(join(folder, "pyproject.toml"), "utf8"))?.[1];
  const started = startPython(peer, join(folder, ".venv", "bin", "python"), version);
  // its model client would fetch a price list at every start
  return { ...started, env: { PYTHONPATH: join(folder, "src"), LITELLM_LOCAL_MODEL_COST_MAP: "True" } };
}

function startPython(peer, program, version) {
  const python = run(program, ["-c", "import platform; print(platform.python_version())"]).trim();
  return { program, args: [here("driver.py")], file: here(`${peer.name}/peer.py`), version, python };
}

function cacheFolder(env) {
  return env.ROLLOUT_BENCH_CACHE ?? join(homedir(), ".cache", "rollout-bench");
}

/** Other versions, another folder. */
function keyOf(peer, file) {
  return `${peer.name}-${createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 8)}`;
}

/** A folder counts once it is whole; what a broken installation left is removed first. */
function install(folder, fill) {
  const whole = join(folder, "installed");
  if (existsSync(whole)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  console.log(`Installing into ${folder}`);
  fill(folder);
  writeFileSync(whole, "");
  return folder;
}

function npmInstall(folder) {
  run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], folder);
}

function run(program, args, cwd) {
  return execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: WITHIN_MS });
}

function ownVersion({ name }) {
  const packageOf = (path) => JSON.parse(readFileSync(here(path), "utf8")).version;
  return packageOf(name === "floor" ? "../../../node_modules/undici/package.json" : "../../../package.json");
}

function reasonOf({ stderr, message }) {
  const said = (stderr || message).trim().split("\n");
  return said.find((line) => /error/i.test(line)) ?? said.at(-1);
}

const major = (version) => Number.parseInt(version, 10);
