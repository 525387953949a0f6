// One way of calling a model, measured in a process of its own: CPU for each call, the most memory it took, and for whole
// rollouts whether memory grows and workers stay busy. Prints one JSON line.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messages, rolloutSystem, system, tools, wireBody } from "./model-request.mjs";

const {
  way,
  url,
  concurrency,
  calls,
  latency,
  peers,
  steps = 5,
  turns = 1,
  warmMs = 0,
  heap,
} = JSON.parse(process.argv[2]);
const fromPeers = async (name) => import(pathToFileURL(createRequire(join(peers, "x.js")).resolve(name)).href);

/** The agent's and, between turns, the user's. */
const DIALOGUE_CALLS = turns * (steps + 1) + turns - 1;
const WAYS = { undici, loop, dialect, generateText, openai, rollouts };
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

/** Dialogues and nothing else: lists of messages that grow, and are sent again. Reasoning is not sent back. */
async function loop() {
  const { Pool } = await import("undici");
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 });
  const headers = { "content-type": "application/json" };
  const path = `${pathname}/chat/completions`;
  const ask = async (request) => {
    const body = JSON.stringify({ model: "bench", ...request });
    const answer = await pool.request({ path, method: "POST", headers, body });
    const { reasoning_content: _, ...message } = JSON.parse(await answer.body.text()).choices[0].message;
    return message;
  };
  const play = async () => {
    const said = [
      { role: "system", content: rolloutSystem },
      { role: "user", content: "What is open?" },
    ];
    const heard = [
      { role: "system", content: "You play a student." },
      { role: "user", content: "Hello!" },
      { role: "assistant", content: "What is open?" },
    ];
    for (let turn = 1; ; ) {
      const message = await ask({ messages: said, tools: wireBody.tools });
      said.push(message);
      if (message.tool_calls) {
        for (const { id } of message.tool_calls)
          said.push({ role: "tool", tool_call_id: id, content: '{"courses":[]}' });
        continue;
      }
      if (turn++ === turns) return;
      heard.push({ role: "user", content: message.content });
      const next = await ask({ messages: heard });
      heard.push(next);
      said.push({ role: "user", content: next.content });
    }
  };
  const { cpuMs, wallMs, calls: dialogues } = await measure(play, Math.ceil(calls / DIALOGUE_CALLS));
  return { calls: dialogues * DIALOGUE_CALLS, cpuMs: cpuMs / DIALOGUE_CALLS, wallMs };
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

async function measure(call, times = calls) {
  await warmUp(() => many(Math.min(times / 4, 500), call));
  const cpu = process.cpuUsage();
  const start = performance.now();
  await many(times, call);
  const { user, system: kernel } = process.cpuUsage(cpu);
  return { calls: times, cpuMs: (user + kernel) / 1000 / times, wallMs: performance.now() - start };
}

/** V8 compiles what it runs often: the first seconds are not like the others. */
async function warmUp(play) {
  const warmed = performance.now() + warmMs;
  do await play();
  while (performance.now() < warmed);
}

async function many(total, call) {
  let left = total;
  const work = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, total) }, work));
}

/** Rollouts of a bundled domain: six calls each or more, real tools, journal and records included. */
async function rollouts() {
  const { resolveConfig } = await import("../../dist/config/index.js");
  const { makeRollouts } = await import("../../dist/runner/index.js");
  const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
  process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
  const config = {
    datasets: { StudentAcademicPortal: { agent: { model: "openai/bench", system_prompt: rolloutSystem } } },
    models: { bench: { provider: "openai", api_base: url } },
    user_model: "openai/bench",
    max_turns: turns,
    max_steps_per_turn: steps + 5,
  };
  const play = async (name, wanted, onEvent) => {
    const share = wanted === 1 ? { limit: 1 } : { rollouts: Math.ceil(wanted / 27) };
    const run = resolveConfig(
      { ...config, bundled: true, max_workers: concurrency, ...share },
      { folder: join(temporary, name) },
    );
    return makeRollouts(run, { env: {}, onEvent });
  };
  let warm = 0;
  await warmUp(() => play(`warm-up-${warm++}`, Math.min(100, calls / 4 / DIALOGUE_CALLS), () => {}));
  const before = process.cpuUsage();
  await play("one", 1, () => {}); // the start of a run is not what is measured
  const begin = process.cpuUsage(before);
  const wanted = Math.ceil(calls / DIALOGUE_CALLS / 27) * 27;
  const sizes = [];
  let [replies, started, ended, drainAt, repliesAtDrain] = [0, 0, 0, 0, 0];
  const cpu = process.cpuUsage();
  const start = performance.now();
  const { finished, failed } = await play("measured", wanted, (event) => {
    if (event.type === "entry-end" && event.entry.type === "reply") replies++;
    else if (event.type === "rollout-start" && ++started === wanted)
      [drainAt, repliesAtDrain] = [performance.now(), replies];
    else if (event.type === "rollout-end" && heap && ++ended % Math.ceil(wanted / 4) === 0) {
      globalThis.gc?.();
      sizes.push(Math.round(process.memoryUsage().heapUsed / 2 ** 20));
    }
  });
  const { user, system: kernel } = process.cpuUsage(cpu);
  if (failed > 0 || finished !== wanted)
    throw new Error(`${failed} rollouts failed, ${finished} of ${wanted} finished`);
  return {
    calls: replies,
    rollouts: finished,
    cpuMs: (user + kernel - begin.user - begin.system) / 1000 / (replies - DIALOGUE_CALLS),
    wallMs: performance.now() - start,
    heapMB: sizes,
    busy: (repliesAtDrain * latency) / (concurrency * (drainAt - start)),
  };
}
