import { expect, test } from "vitest";
import { prepare } from "../../test/support/prepared.ts";
import { describeDrift } from "../runs/index.ts";

async function partsOf(patch: object) {
  return (await prepare({ patch })).dataset.parts;
}

const SHAPES: object[] = [
  { seed: 1 },
  { max_turns: 3 },
  { mode: "no_tool" },
  { agent_model: "scripted/agent?skill=0.5" },
  { user_temperature: 0.5 },
  { enable_thinking: false },
  { monitor_max_no_tool_turns: 2 },
  { enable_monitor: false },
  { max_rollout_seconds: 5 },
  { monitor_use_llm_judge: true, monitor_judge_model: "scripted/judge" },
  { tool_names: "dotted" },
  { faults: { rates: { error: 0.5 } } },
];

test("what shapes a dialogue is part of its fingerprint, and each change is told in words", async () => {
  const before = await partsOf({});
  for (const patch of SHAPES) {
    const drift = describeDrift(before, await partsOf(patch));
    expect([patch, drift.length > 0]).toEqual([patch, true]);
  }
  expect(describeDrift(before, await partsOf({ max_turns: 3 }))).toEqual(["max_turns: 20 → 3"]);
});

test("a negative mode changes the agent's prompt, and the fingerprint sees it", async () => {
  const drift = describeDrift(await partsOf({}), await partsOf({ mode: "no_tool" }));
  expect(drift).toEqual(["agent prompt changed", "mode: positive → no_tool"]);
});

test("workers, limits of the run, budgets, logging and retries shape nothing", async () => {
  const before = await partsOf({});
  const patch = {
    max_workers: 64,
    limit: 3,
    max_cost: 5,
    log_file: "x.log",
    verbose: true,
    sync: "always",
    rollouts: 4,
  };
  expect(await partsOf(patch)).toEqual(before);
});

test("without a user, the user's settings shape nothing", async () => {
  const before = await partsOf({ max_turns: 1 });
  expect(await partsOf({ max_turns: 1, user_temperature: 0.9 })).toEqual(before);
});
