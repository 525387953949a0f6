import { expect, test } from "vitest";
import type { Environment, ToolCall, ToolResult } from "../core/index.ts";
import { type ToolFaults, toolFaultsSchema, withToolFaults } from "./faults.ts";

test("a fault that answers for the tool keeps the call from being executed, and tags the result", async () => {
  for (const trouble of ["error", "rate_limit", "timeout"] as const) {
    const { environment, executed } = counterEnvironment();
    const faulty = withToolFaults(environment, { seed: 1, rates: { [trouble]: 1 } });
    expect(await call(faulty, "add")).toMatchObject({ isError: true, fault: "tool_error", injected: trouble });
    expect(executed).toEqual([]);
  }
});

test("a stale result is the same tool's earlier one; the first call goes through", async () => {
  const { environment, executed } = counterEnvironment();
  const faulty = withToolFaults(environment, { seed: 1, rates: { stale: 1 } });
  const first = await call(faulty, "read");
  await call(faulty, "add");
  expect(first).toEqual({ content: "the counter is at 0", isError: false });
  expect(await call(faulty, "read")).toEqual({ ...first, injected: "stale" });
  expect(executed).toEqual(["read", "add"]);
});

test("a write is never answered with a stale result", async () => {
  const { environment } = counterEnvironment();
  const faulty = withToolFaults(environment, { seed: 1, rates: { stale: 1 } });
  await call(faulty, "add");
  expect(await call(faulty, "add")).toEqual({ content: "the counter is at 2", isError: false });
});

test("a truncated result is executed, cut, and kept whole as raw", async () => {
  const { environment, executed } = counterEnvironment();
  const faulty = withToolFaults(environment, { seed: 1, rates: { truncated: 1 } });
  const result = await call(faulty, "add");
  expect(executed).toEqual(["add"]);
  expect(result).toMatchObject({ isError: false, raw: "the counter is at 1", injected: "truncated" });
  expect("the counter is at 1".startsWith(result.content)).toBe(true);
  expect(result.content.length).toBeLessThan("the counter is at 1".length);
});

test("the same seed injects the same faults at the same calls, another seed other ones", async () => {
  const play = async (seed: number) => {
    const faulty = withToolFaults(counterEnvironment().environment, { seed, rates: EVEN });
    const tags: (string | undefined)[] = [];
    for (let n = 0; n < 60; n++) tags.push((await call(faulty, n % 2 ? "read" : "add")).injected);
    return tags;
  };
  const tags = await play(7);
  expect(await play(7)).toEqual(tags);
  expect(await play(8)).not.toEqual(tags);
  expect(new Set(tags)).toEqual(new Set([undefined, "timeout", "error", "stale", "truncated", "rate_limit"]));
});

test("a call that was trusted on replay counts, so that later calls meet the faults they met before", async () => {
  const rates = { error: 0.5 };
  const recorded: ToolResult[] = [];
  const first = withToolFaults(counterEnvironment().environment, { seed: 3, rates });
  for (let n = 0; n < 20; n++) recorded.push(await call(first, "read"));
  const second = withToolFaults({ ...counterEnvironment().environment, trust: () => true }, { seed: 3, rates });
  for (const result of recorded.slice(0, 10)) expect(second.trust?.(toCall("read"), result)).toBe(true);
  for (const result of recorded.slice(10)) expect(await call(second, "read")).toEqual(result);
});

test("only the chosen tools are troubled, by bare name or wire name", async () => {
  const { environment } = counterEnvironment("sap__");
  const faulty = withToolFaults(environment, { seed: 1, rates: { error: 1 }, tools: ["read"] });
  expect((await call(faulty, "sap__read")).injected).toBe("error");
  expect((await call(faulty, "sap__add")).injected).toBeUndefined();
});

test("the model's own mistakes keep their labels", async () => {
  const { environment, executed } = counterEnvironment();
  const faulty = withToolFaults(environment, { seed: 1, rates: { error: 1 } });
  expect((await call(faulty, "unknown")).injected).toBeUndefined();
  expect((await call(faulty, "read", '{"wrong": 1')).injected).toBeUndefined();
  expect(executed).toEqual(["unknown", "read"]);
});

test("rates that add up to more than one are refused, and so are unknown keys", () => {
  const { environment } = counterEnvironment();
  expect(() => withToolFaults(environment, { seed: 1, rates: { error: 0.7, stale: 0.7 } })).toThrow("at most 1");
  expect(toolFaultsSchema.safeParse({ rates: { eror: 1 } }).success).toBe(false);
  expect(toolFaultsSchema.safeParse({ rates: { error: 2 } }).success).toBe(false);
});

const EVEN: ToolFaults["rates"] = { timeout: 0.15, error: 0.15, stale: 0.15, truncated: 0.15, rate_limit: 0.15 };

function toCall(name: string, args = "{}"): ToolCall {
  return { id: "1", name, arguments: args };
}

function call(environment: Environment, name: string, args?: string): Promise<ToolResult> {
  return environment.call(toCall(name, args), new AbortController().signal);
}

function counterEnvironment(prefix = ""): { environment: Environment; executed: string[] } {
  const executed: string[] = [];
  let counter = 0;
  const spec = (name: string, readOnly: boolean) => ({
    name: prefix + name,
    description: "",
    parameters: { type: "object" },
    readOnly,
  });
  const tools = [spec("add", false), spec("read", true)];
  const environment: Environment = {
    tools,
    isReadOnly: (name) => tools.find((tool) => tool.name === name)?.readOnly ?? true,
    call: async ({ name }) => {
      executed.push(name);
      if (name.endsWith("add")) counter++;
      return { content: `the counter is at ${counter}`, isError: false };
    },
    state: async () => ({}),
    close: async () => {},
  };
  return { environment, executed };
}
