// Whole runs against real servers with a real, very small model: llama.cpp's server with SmolLM2-135M, both from Python
// packages. Nothing is said about how good the dialogues are, only about what must hold for each record.
//   npm run build && npx tsx scripts/verify-servers.mjs [--litellm] [--queries 8] [folder for the Python environments]
// --litellm puts LiteLLM in front, for its /v1/responses, its chat completions and its fallbacks. The folder is kept;
// without one a temporary folder is used. Needs the network and 127 MB (LiteLLM: 750 MB more), so it is not part of
// `npm test`.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { problemsOf, sumUp } from "./verify-servers/judge.mjs";
import { CALL_SCHEMA, TEXT_GRAMMARS, writeLibrary } from "./verify-servers/library.mjs";
import { MODEL, startLiteLlm, startLlama } from "./verify-servers/servers.mjs";

const PROGRAM = fileURLToPath(new URL("../bin/rollout.js", import.meta.url));
const ROLLOUTS = 2;
const KEY = `sk-${randomBytes(24).toString("hex")}`;

const words = process.argv.slice(2);
const queries = Number(take("--queries") ?? 8);
const hasLiteLlm = words.includes("--litellm");
const temporary = mkdtempSync(join(tmpdir(), "rollout-servers-"));
const environments = words.find((word) => !word.startsWith("--")) ?? join(temporary, "python");
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const failures = [];
const table = {};
writeLibrary(join(temporary, "library"), queries);
const llama = await startLlama(environments);
console.log(`${llama.name}, ${MODEL}, ${queries} queries × ${ROLLOUTS}`);

const chatCalls = { response_format: { type: "json_schema", json_schema: { name: "call", schema: CALL_SCHEMA } } };
await play("as it comes", llama);
await play("text calls", llama, { agent: { extra_params: chatCalls } });
await play("text calls, recovered", llama, { agent: { extra_params: chatCalls, recover_text_calls: true } });
for (const [tool_format, grammar] of Object.entries(TEXT_GRAMMARS)) {
  await play(`${tool_format}, as it comes`, llama, { agent: { tool_format } });
  const made = await play(`${tool_format}, made to call`, llama, {
    agent: { tool_format, max_tokens: 96, extra_params: { grammar } },
  });
  expect(
    made.some(({ metadata }) => metadata.tool_call_count > 0),
    `${tool_format}: no call was read`,
  );
}
await play("both parties", llama, { user_model: `openai/${MODEL}`, limit: 2 });
await play("responses", llama, { agent: { api: "responses" } });
await killAndResume("killed and resumed", llama, { agent: { extra_params: chatCalls, recover_text_calls: true } });
await consult("doctor", llama);
if (hasLiteLlm) {
  const litellm = await startLiteLlm(environments, llama.url, KEY);
  for (const model of ["handed-on", "made-of-chat"]) {
    await play(`LiteLLM chat, ${model}`, litellm, { model, limit: 2 });
    await play(`LiteLLM responses, ${model}`, litellm, { model, limit: 2, agent: { api: "responses" } });
  }
  const fallen = await play("LiteLLM fallback", litellm, { model: "down", limit: 1 });
  for (const { metadata } of fallen)
    expect(metadata.served.agent.headers?.[0]?.["x-litellm-attempted-fallbacks"] === "1", "the fallback is not noted");
  await consult("doctor, LiteLLM", litellm, "handed-on");
}
console.table(table);
for (const failure of failures) console.log(`FAILED  ${failure}`);
console.log(failures.length === 0 ? "All as expected." : `${failures.length} problem(s).`);
process.exit(failures.length === 0 ? 0 : 1);

async function play(title, server, scene = {}) {
  const { config, out } = prepare(title, server, scene);
  const { status, text } = await rollout(["run", "--config", config, "--output-dir", out]);
  expect(status === 0, `${title}: exit code ${status}\n${text}`);
  return judge(title, out, scene);
}

/** The same run, killed as soon as some records are there: none of them is lost, changed or made twice. */
async function killAndResume(title, server, scene) {
  const { config, out } = prepare(title, server, scene);
  const child = spawn(process.execPath, [PROGRAM, "run", "--config", config, "--output-dir", out], { stdio: "ignore" });
  while (linesOf(out).length === 0 && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 50));
  child.kill("SIGKILL");
  await new Promise((resolve) => (child.exitCode === null ? child.on("exit", resolve) : resolve()));
  const before = linesOf(out);
  const { status, text } = await rollout(["resume", out]);
  expect(status === 0, `${title}: exit code ${status}\n${text}`);
  const after = new Set(linesOf(out));
  expect(
    before.every((line) => after.has(line)),
    `${title}: a finished record was lost or changed`,
  );
  return judge(title, out, scene);
}

function prepare(title, server, { model = MODEL, agent = {}, ...more }) {
  const name = title.replace(/\W+/g, "-");
  const party = { max_tokens: 48, temperature: 0.5 };
  const config = {
    base_path: join(temporary, "library"),
    datasets: { Library: { agent: { ...party, ...agent }, user: party } },
    agent_model: `openai/${model}`,
    user_model: "scripted/user",
    rollouts: ROLLOUTS,
    max_turns: 2,
    max_steps_per_turn: 2,
    max_workers: 2,
    models: { [model]: entryOf(server) },
    ...more,
  };
  const file = join(temporary, `${name}.yml`);
  writeFileSync(file, JSON.stringify(config)); // which is YAML too
  return { config: file, out: join(temporary, name) };
}

function entryOf(server) {
  return { provider: "openai", api_base: `${server.url}/v1`, api_key: KEY, max_tokens: 4096 };
}

async function judge(title, out, { limit = queries }) {
  const records = linesOf(out).map((line) => JSON.parse(line));
  const wanted = Math.min(limit, queries) * ROLLOUTS;
  expect(records.length === wanted, `${title}: ${records.length} records of ${wanted}`);
  expect(new Set(records.map(({ id }) => id)).size === records.length, `${title}: a record is there twice`);
  for (const problem of records.flatMap(problemsOf)) failures.push(`${title}: ${problem}`);
  await mustPass(title, ["status", out, "--verify"]);
  // a dialogue without a reply is a record, but rows of it would teach nothing
  const areRows = records.every(({ messages }) => messages.some(({ role }) => role === "assistant"));
  const rows = join(out, "rows.jsonl");
  await mustPass(title, ["export", out, "--format", "jsonl", "--all", "--include-scripted", "--out", rows]);
  if (areRows) await mustPass(title, ["validate", rows, "--format", "jsonl"]);
  table[title] = sumUp(records);
  return records;
}

/** What it finds about so small a model is not judged, only that it comes to an end with a verdict. */
async function consult(title, server, model = MODEL) {
  const registry = join(temporary, "models.yml");
  writeFileSync(registry, JSON.stringify({ models: { [model]: entryOf(server) } }));
  const { status, text } = await rollout(["doctor", "--agent-model", `openai/${model}`, "--models-config", registry]);
  expect([0, 3].includes(status), `${title}: exit code ${status}`);
  console.log(text.trim());
}

async function mustPass(title, command) {
  const { status, text } = await rollout(command);
  expect(status === 0, `${title}: rollout ${command[0]} ends with ${status}\n${text}`);
}

function rollout(command) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [PROGRAM, ...command], { env: { ...process.env, NO_COLOR: "1" } });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part) => {
        text += part;
      });
    child.on("close", (status) => resolve({ status, text }));
  });
}

function linesOf(out) {
  const file = join(out, "trajectories", "Library.jsonl");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

function expect(holds, what) {
  if (!holds) failures.push(what);
}

function take(flag) {
  const at = words.indexOf(flag);
  return at === -1 ? undefined : words.splice(at, 2)[1];
}
