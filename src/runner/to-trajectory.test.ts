import { expect, test } from "vitest";
import { always, call, run, STOP, scripted } from "../../test/support/play.ts";

const config = { datasets: ["StudentAcademicPortal"], agent_model: "test/agent", user_model: "test/user" };

async function recordOf(agent = scripted("Hello."), user = scripted(STOP)) {
  const models = { "test/agent": agent, "test/user": user };
  const { records } = await run({ config, models, patch: { ids: ["sap-001"] } });
  const [record] = records;
  if (!record) throw new Error("no record");
  return record;
}

test("a record counts turns, calls and errors, and names the calls whose results were errors", async () => {
  const agent = scripted(call("no_such_tool", {}, "a"), call("list_enrollments", {}, "b"), "I cannot.", "Goodbye.");
  const { metadata } = await recordOf(agent, scripted("Why not?", `Bye. ${STOP}`));
  expect(metadata).toMatchObject({ total_turns: 2, tool_call_count: 2, tool_error_count: 2, tool_errors: ["a", "b"] });
});

test("usage and costs are told for each party, and add up", async () => {
  const usage = { inputTokens: 10, outputTokens: 2, cachedTokens: 1, reasoningTokens: 0, costUsd: 0.25 };
  const { metadata } = await recordOf(always({ content: "Hm.", usage }), scripted("Well?", STOP));
  expect(metadata.usage.agent).toMatchObject({ calls: 2, input_tokens: 20, output_tokens: 4, cost_usd: 0.5 });
  expect(metadata.usage.user).toMatchObject({ calls: 2, input_tokens: 0 });
  expect(metadata.cost_usd).toBe(0.5);
});

test("what is absent leaves no member in the line", async () => {
  const record = await recordOf();
  const text = JSON.stringify(record);
  expect(text).not.toMatch(/"(drift|blame|message|judge)":/);
  expect(record.metadata.models).toEqual({ agent: "test/scripted", user: "test/scripted" });
});
