import { expect, onTestFinished, test } from "vitest";
import { serveAnthropic } from "../../test/support/anthropic-server.ts";
import { completion, modelAt, requestOf, serveModel } from "../../test/support/model-server.ts";
import { networkRun, notes, play, serveScripted } from "../../test/support/network-run.ts";
import { createRandom, systemClock } from "../core/index.ts";
import { createModels } from "./connect.ts";
import { acceptedSettings, refusalsOf } from "./refusals.ts";
import type { CallSettings } from "./resolved.ts";

const SAMPLING = ["temperature", "top_p"];

test.each<[string, unknown]>([
  ["o3-mini", { never: SAMPLING }],
  ["openai/o4-mini-high", { never: SAMPLING }],
  ["gpt-5", { never: SAMPLING }],
  ["gpt-5-codex", { never: SAMPLING }],
  ["gpt-5-2025-08-07", { never: SAMPLING }],
  ["gpt-5.2", { never: SAMPLING, unlessOff: true }],
  ["openai/gpt-5.4-mini", { never: SAMPLING, unlessOff: true }],
  ["gpt-5.2-chat-latest", { never: SAMPLING }],
  ["gpt-6-sol", { never: SAMPLING }],
  ["gpt-5-chat-latest", undefined],
  ["gpt-4o", undefined],
  ["gpt-4.1-mini", undefined],
  ["gpt-oss-120b", undefined],
  ["qwen3-o1-like", undefined],
  ["claude-opus-4-7", { never: SAMPLING }],
  ["us.anthropic.claude-opus-4-8-v1:0", { never: SAMPLING }],
  ["anthropic/claude-opus-4.7", { never: SAMPLING }],
  ["claude-sonnet-5", { never: SAMPLING }],
  ["claude-haiku-5-5-20261001", { never: SAMPLING }],
  ["claude-sonnet-4-5-20250929", { never: [], oneSampler: true }],
  ["claude-opus-4-1", { never: [], oneSampler: true }],
  ["claude-sonnet-4-20250514", undefined],
  ["claude-3-5-sonnet-20241022", undefined],
  ["deepseek-chat", undefined],
])("%s is known by its name", (name, expected) => {
  expect(refusalsOf("openai", name)).toEqual(expected);
});

const accepted = (settings: CallSettings, name: string, style: "effort" | "anthropic" | "none" = "none") => {
  const reasoning = { style, sendBack: false, field: "" };
  return acceptedSettings(modelAt("http://x", { refuses: refusalsOf("openai", name), reasoning }), settings);
};

test("what is refused is left out and told, unless it would change nothing", () => {
  const { settings, leftOut } = accepted({ temperature: 0.2, topP: 1, maxTokens: 9 }, "gpt-5");
  expect(settings).toEqual({ maxTokens: 9 });
  expect(leftOut).toEqual(["test/model takes no temperature: temperature 0.2 is not sent"]);
});

test("with its reasoning off, a model that refuses only then takes its temperature", () => {
  expect(accepted({ temperature: 0, thinkingOptions: { effort: "none" } }, "gpt-5.2").leftOut).toEqual([]);
  expect(accepted({ temperature: 0 }, "gpt-5.2").leftOut).toEqual([expect.stringContaining("{effort: none}")]);
  expect(accepted({ temperature: 0, thinkingOptions: { effort: "none" } }, "gpt-5").leftOut).toHaveLength(1);
});

test("of two that exclude each other the temperature stays; with thinking on, neither", () => {
  expect(accepted({ temperature: 0.5, topP: 0.9 }, "claude-opus-4-5").settings).toEqual({ temperature: 0.5 });
  expect(accepted({ topP: 0.9 }, "claude-opus-4-5").settings).toEqual({ topP: 0.9 });
  const { settings, leftOut } = accepted({ temperature: 0.5, topP: 0.9, thinking: true }, "claude-opus-4", "anthropic");
  expect(settings).toEqual({ thinking: true });
  expect(leftOut).toHaveLength(2);
  expect(accepted({ temperature: 0.5, thinking: false }, "claude-opus-4", "anthropic").leftOut).toEqual([]);
});

const { signal } = new AbortController();

test("what the registry says stands above the name; extra_params go as they are written", async () => {
  const server = await serveModel(completion({ content: "Hi" }));
  const notes: string[] = [];
  const entry = { provider: "openai", api_base: server.baseUrl };
  const models = createModels({
    env: {},
    clock: systemClock,
    random: createRandom("test", 0),
    registry: {
      "gpt-5": { ...entry, api: "chat" },
      sure: { ...entry, model: "gpt-5", api: "chat", refuses: [] },
      mine: { ...entry, refuses: ["temperature", "seed"] },
    },
    onNote: (text) => notes.push(text),
  });
  onTestFinished(async () => {
    await models.close();
    await server.close();
  });
  const ask = (name: string, settings: CallSettings) => models.client(name, settings).complete(requestOf(), signal);
  await ask("openai/gpt-5", { temperature: 0.3, maxTokens: 50, extraParams: { top_p: 0.5 } });
  await ask("openai/sure", { temperature: 0.3 });
  await ask("openai/mine", { temperature: 0.3, sendSeed: true });
  const [refused, sure, mine] = server.received.map(({ body: { messages: _, ...body } }) => body);
  expect(refused).toEqual({ model: "gpt-5", max_completion_tokens: 50, top_p: 0.5 });
  expect(sure).toEqual({ model: "gpt-5", temperature: 0.3 });
  expect(mine).toEqual({ model: "mine" });
  expect(notes).toEqual([
    "openai/gpt-5 takes no temperature: temperature 0.3 is not sent",
    "openai/mine takes no temperature: temperature 0.3 is not sent",
    "openai/mine takes no seed: seed of the rollout is not sent",
  ]);
});

test("a run says once what it leaves out, however many rollouts and datasets there are", async () => {
  const server = await serveScripted();
  const datasets = ["StudentAcademicPortal", "StudentHealthServices"];
  const config = { datasets, agent_temperature: 0.3, user_temperature: 0.3, limit: 2 };
  const { events, result } = await play(networkRun(server.url, { config, entry: { refuses: ["temperature"] } }));
  expect(result.finished).toBe(4);
  expect(
    notes(events)
      .filter((text) => text.includes("temperature"))
      .sort(),
  ).toEqual([
    "openai/scripted-agent takes no temperature: temperature 0.3 is not sent",
    "openai/scripted-user takes no temperature: temperature 0.3 is not sent",
  ]);
});

test("what a provider's package changes by itself is told too", async () => {
  const text = { content: [{ type: "text", text: "Hi" }] };
  const server = await serveAnthropic(text);
  const told: string[] = [];
  const registry = { mine: { provider: "anthropic", api_base: server.baseUrl, api_key: "k" } };
  const models = createModels({
    env: {},
    clock: systemClock,
    random: createRandom("test", 0),
    registry,
    onNote: (note) => told.push(note),
  });
  onTestFinished(async () => {
    await models.close();
    await server.close();
  });
  await models.client("anthropic/mine", { temperature: 1.4, sendSeed: true }).complete(requestOf(), signal);
  expect(server.received[0]?.body.temperature).toBe(1);
  expect(told).toEqual([
    expect.stringMatching(/^anthropic\/mine: seed is not sent/),
    expect.stringMatching(/^anthropic\/mine: 1\.4 exceeds .* clamped/),
  ]);
});
