import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { networkRun, serveScripted } from "../../test/support/network-run.ts";
import { dryRun } from "./dry-run.ts";
import { runPilot, scale, spreadOf } from "./pilot.ts";

const PRICES = { input_cost_per_token: 1e-6, output_cost_per_token: 4e-6 };
const options = { env: {} };

test("a dry run estimates calls, tokens, money and time without a call or a file", async () => {
  const server = await serveScripted();
  const resolved = networkRun(server.url, { entry: PRICES });
  const [dataset] = await dryRun(resolved, options);
  const estimate = dataset?.estimate;
  expect(estimate?.calls).toBeGreaterThan(4);
  expect(estimate?.costUsd).toBeCloseTo((estimate?.inputTokens ?? 0) * 1e-6 + (estimate?.outputTokens ?? 0) * 4e-6, 9);
  expect(estimate?.seconds).toBeGreaterThan(0);
  expect(estimate?.agentContext.full).toBeGreaterThan(estimate?.agentContext.fixed ?? 0);
  expect(server.requests().asked).toBe(0);
  expect(existsSync(resolved.folder)).toBe(false);
});

test("without prices there is no sum, and thinking takes more", async () => {
  const server = await serveScripted();
  const [plain] = await dryRun(networkRun(server.url), options);
  const [thinking] = await dryRun(networkRun(server.url, { config: { enable_thinking: true } }), options);
  expect(plain?.estimate).toMatchObject({ costUsd: null, costKnownUsd: 0 });
  expect(plain?.estimate.costUnknownOf).toEqual(["openai/scripted-agent", "openai/scripted-user"]);
  expect(thinking?.estimate.outputTokens).toBeGreaterThan(plain?.estimate.outputTokens ?? 0);
});

test("a pilot makes some rollouts next to the run and measures them", async () => {
  const server = await serveScripted();
  const resolved = networkRun(server.url, { entry: PRICES, config: { limit: 20 } });
  const pilot = await runPilot(resolved, 3, options);
  expect(pilot).toMatchObject({ failed: 0, left: 0, folder: `${resolved.folder}.pilot` });
  const [dataset] = pilot.datasets;
  expect(dataset?.rollouts).toBe(3);
  expect(server.requests().asked).toBe(Math.round((dataset?.calls.mean ?? 0) * 3));
  expect(dataset?.costUsd?.low).toBeLessThan(dataset?.costUsd?.high ?? 0);
  expect(existsSync(resolved.folder)).toBe(false);
});

test("the range around a mean is as wide as so few values demand", () => {
  expect(spreadOf([])).toEqual({ mean: 0 });
  expect(spreadOf([5])).toEqual({ mean: 5 });
  expect(spreadOf([4, 4, 4])).toEqual({ mean: 4, low: 4, high: 4 });
  const { mean, low = 0, high = 0 } = spreadOf([1, 2, 3]);
  expect([mean, low, high].map((value) => Number(value.toFixed(2)))).toEqual([2, 0, 4.48]);
  // eleven degrees of freedom: 2.201, as any table of Student's t says
  const twelve = spreadOf([0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2].map((value) => value + 10));
  expect(((twelve.high ?? 0) - 11) / Math.sqrt(12 / 11 / 12)).toBeCloseTo(2.201, 3);
  expect(scale({ mean: 2, low: 1, high: 3 }, 10)).toEqual({ mean: 20, low: 10, high: 30 });
  expect(scale({ mean: 2 }, 10)).toEqual({ mean: 20 });
});
