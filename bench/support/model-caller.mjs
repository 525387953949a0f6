// One way of calling a model, measured in a process of its own: CPU for each call, the most memory it took, and for whole
// rollouts whether memory grows and workers stay busy. Prints one JSON line.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messages, rolloutSystem, system, tools, wireBody } from "./model-request.mjs";

const { way, url, concurrency, calls, latency, peers } = JSON.parse(process.argv[2]);
const fromPeers = async (name) => import(pathToFileURL(createRequire(join(peers, "x.js")).resolve(name)).href);

const WAYS = { undici, dialect, generateText, openai, rollouts };
const result = await WAYS[way]();
console.log(JSON.stringify({ ...result, peakMB: process.resourceUsage().maxRSS / 1024 }));
process.exit(0);

async function undici() {
  const { Pool } = await import("undici");
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 });
  const headers = { "content-type": "application/json" };
  return measure(async () => {
    const path = `${pathname}/chat/completions`;
    const { body } = await pool.request({ path, method: "POST", headers, body: JSON.stringify(wireBody) });
    JSON.parse(await body.text());
  });
}

async function dialect() {
  const { createModels } = await import("../../dist/models/connect.js");
  const { createRandom, systemClock } = await import("../../dist/core/index.js");
  const registry = { bench: { provider: "openai", api_base: url } };
  const models = createModels({ env: {}, registry, clock: systemClock, random: createRandom("bench") });
  const client = models.client("openai/bench", {});
  const { signal } = new AbortController();
  let rollout = 0;
  return measure(async () => {
    const origin = {
      dataset: "d",
      queryId: "q",
      rollout: rollout++,
      seed: 1,
      mode: "positive",
      party: "agent",
      position: 0,
    };
    await client.complete({ system, messages, tools, toolChoice: "auto", origin }, signal);
  });
}

async function generateText() {
  const { generateText: generate, jsonSchema, tool } = await fromPeers("ai");
  const { createOpenAICompatible } = await fromPeers("@ai-sdk/openai-compatible");
  const model = createOpenAICompatible({ name: "bench", baseURL: url })("bench");
  const offered = Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters) }),
    ]),
  );
  const said = messages.map((message) => {
    if (message.role === "user") return message;
    if (message.role === "tool") {
      const { callId: toolCallId, name: toolName, content } = message;
      return {
        role: "tool",
        content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value: content } }],
      };
    }
    const parts = message.toolCalls.map(({ id, name, arguments: text }) => ({
      ...{ type: "tool-call", toolCallId: id, toolName: name, input: JSON.parse(text) },
    }));
    return { role: "assistant", content: parts };
  });
  return measure(() => generate({ model, system, messages: said, tools: offered, maxRetries: 0 }));
}

async function openai() {
  const { OpenAI } = await fromPeers("openai");
  const client = new OpenAI({ baseURL: url, apiKey: "bench", maxRetries: 0 });
  return measure(() => client.chat.completions.create(wireBody));
}

async function measure(call) {
  await many(Math.min(calls / 4, 500), call);
  const cpu = process.cpuUsage();
  const start = performance.now();
  await many(calls, call);
  const { user, system: kernel } = process.cpuUsage(cpu);
  return { calls, cpuMs: (user + kernel) / 1000 / calls, wallMs: performance.now() - start };
}

async function many(total, call) {
  let left = total;
  const work = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, total) }, work));
}

/** Single-turn rollouts of a bundled domain: six calls each, real tools, journal and records included. */
async function rollouts() {
  const { resolveConfig } = await import("../../dist/config/index.js");
  const { makeRollouts } = await import("../../dist/runner/index.js");
  const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
  process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
  const config = {
    datasets: { StudentAcademicPortal: { agent: { model: "openai/bench", system_prompt: rolloutSystem } } },
    models: { bench: { provider: "openai", api_base: url } },
    user_model: "openai/bench",
    max_turns: 1,
  };
  const play = async (name, wanted, onEvent) => {
    const settings = { bundled: true, max_workers: concurrency, rollouts: Math.ceil(wanted / 27) };
    const run = resolveConfig({ ...config, ...settings }, { folder: join(temporary, name) });
    return makeRollouts(run, { env: {}, onEvent });
  };
  await play("warm-up", 100, () => {});
  const wanted = Math.ceil(calls / 6 / 27) * 27;
  const heap = [];
  let [replies, started, ended, drainAt, repliesAtDrain] = [0, 0, 0, 0, 0];
  const cpu = process.cpuUsage();
  const start = performance.now();
  const { finished, failed } = await play("measured", wanted, (event) => {
    if (event.type === "entry-end" && event.entry.type === "reply") replies++;
    else if (event.type === "rollout-start" && ++started === wanted)
      [drainAt, repliesAtDrain] = [performance.now(), replies];
    else if (event.type === "rollout-end" && ++ended % Math.ceil(wanted / 4) === 0) {
      globalThis.gc?.();
      heap.push(Math.round(process.memoryUsage().heapUsed / 2 ** 20));
    }
  });
  const { user, system: kernel } = process.cpuUsage(cpu);
  if (failed > 0 || finished !== wanted)
    throw new Error(`${failed} rollouts failed, ${finished} of ${wanted} finished`);
  return {
    calls: replies,
    rollouts: finished,
    cpuMs: (user + kernel) / 1000 / replies,
    wallMs: performance.now() - start,
    heapMB: heap,
    busy: (repliesAtDrain * latency) / (concurrency * (drainAt - start)),
  };
}
