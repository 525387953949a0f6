// One peer, measured once: its driver in a process of its own against a model server in another. The dialogues are played in
// two parts, a short and a long one, after a warm-up; what they differ by is what the dialogues cost, without the start of
// the program and of a run.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { belowCpuMs, treeOf, watchSizes } from "../processes.mjs";
import { CALLS, scenario } from "./scenario.mjs";

const LIMIT_MS = 20 * 60_000;
/** While a peer warms up the model is quick, so that much is played in little time. */
const WARM_LATENCY = 5;
const support = (file) => fileURLToPath(new URL(file, import.meta.url));

/**
 * `program` and `args` start the driver, `file` is the peer's, `folder` an empty one for what it writes, `level` says how
 * many dialogues, how many at once, how many and how long at least to warm up, and how long the model takes.
 */
export async function drive({ program, args, file, folder, env, level }) {
  mkdirSync(folder, { recursive: true });
  const server = await startServer(WARM_LATENCY);
  const parts = [1, level.dialogues];
  const { at, warm, warmMs } = level;
  const options = { file, url: server.url, scenario, folder, at, warm, warmMs, parts };
  const driver = startDriver({ program, args: [...args, JSON.stringify(options)], folder, env });
  const size = watchSizes(() => treeOf(driver.pid));
  const limit = setTimeout(() => driver.kill(), LIMIT_MS);
  try {
    await driver.warmed();
    server.take(level.latency);
    const [short, long] = [await driver.playPart(server), await driver.playPart(server)];
    for (const [part, dialogues] of [short, long].map((part, n) => [part, parts[n]])) expectWhole(part, dialogues);
    return { ...between(short, long, level), peakMb: mostOf(long.peakMb, size().mb) };
  } catch (error) {
    throw new Error(`${error.message}${driver.lastWords()}`);
  } finally {
    clearTimeout(limit);
    size();
    driver.kill();
    server.kill();
    await Promise.all([driver.gone, server.gone]);
  }
}

function between(short, long, { at, latency, dialogues }) {
  const calls = long.calls - short.calls;
  const idealMs = (Math.ceil(dialogues / at) * latency * long.calls) / dialogues;
  return {
    calls: long.calls,
    cpuMs: (long.cpuMs - short.cpuMs) / calls,
    wallRatio: long.wallMs / idealMs,
    medianKb: long.medianKb,
  };
}

/** Where the tree's size cannot be seen, the driver's own is what there is. */
function mostOf(own, tree) {
  return Number.isNaN(tree) ? own : Math.max(own, tree);
}

function expectWhole({ calls, answers }, dialogues) {
  if (answers !== dialogues || calls < CALLS * dialogues)
    throw new Error(`The model was called ${calls} times and gave ${answers} answers in ${dialogues} dialogues.`);
}

async function startServer(latency) {
  const child = fork(support("model-server.mjs"), [String(latency)], { execArgv: [] });
  const gone = once(child, "exit");
  const [{ url }] = await once(child, "message");
  const ask = async () => {
    child.send("what was there?");
    return (await once(child, "message"))[0];
  };
  return { url, ask, gone, take: (milliseconds) => child.send(milliseconds), kill: () => child.kill() };
}

function startDriver({ program, args, folder, env }) {
  const log = join(folder, "driver.log");
  const stdio = ["pipe", "pipe", "pipe", "pipe"];
  const child = spawn(program, args, { cwd: folder, env: { ...plainEnvironment(), ...env }, stdio, detached: true });
  const gone = once(child, "close").catch(() => {});
  const kill = () => killGroup(child.pid);
  process.once("exit", kill);
  gone.then(() => process.off("exit", kill));
  const written = createWriteStream(log);
  for (const stream of [child.stdout, child.stderr]) stream.pipe(written, { end: false });
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdio[3] })[Symbol.asyncIterator]();

  async function next() {
    const { value, done } = await Promise.race([lines.next(), gone.then(() => ({ done: true }))]);
    if (done) throw new Error("The driver ended before its dialogues did.");
    return JSON.parse(value);
  }
  return {
    pid: child.pid,
    gone,
    warmed: next,
    async playPart(server) {
      await next();
      await server.ask();
      const before = belowCpuMs(child.pid);
      child.stdin.write("go\n");
      const part = await next();
      const below = belowCpuMs(child.pid) - before;
      return { ...part, ...(await server.ask()), cpuMs: part.cpuMs + (below || 0) };
    },
    lastWords: () => lastLines(log),
    kill,
  };
}

/** No keys, and nothing that would make a peer report to somebody. */
function plainEnvironment() {
  const names = ["PATH", "HOME", "LANG", "TMPDIR", "TZ"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** All that it started ends with it. */
function killGroup(pid) {
  try {
    if (pid) process.kill(-pid, "SIGKILL");
  } catch {} // gone already
}

function lastLines(file) {
  try {
    const lines = readFileSync(file, "utf8").trim().split("\n").slice(-8).join("\n    ");
    return lines && `\n    ${lines}`;
  } catch {
    return "";
  }
}
