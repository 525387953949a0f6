import fc from "fast-check";
import { expect, test } from "vitest";
import type { Environment, ToolCall, ToolResult } from "../core/index.ts";
import { answerGroup, groupCalls } from "../dialogue/index.ts";
import { withToolFaults } from "../tools/index.ts";
import { type RepeatedCall, repeatCalls } from "./replay.ts";
import type { RecordedCall } from "./transcript.ts";

const signal = new AbortController().signal;
const TOOLS = ["read", "peek", "write"];

/** A counter: reads tell it, slowly; writes raise it. */
function openCounter(trusted: string[] = []): Environment {
  let count = 0;
  return {
    tools: TOOLS.map((name) => ({ name, description: "", parameters: { type: "object" }, readOnly: name !== "write" })),
    isReadOnly: (tool) => tool !== "write",
    trust: (call) => trusted.includes(call.name),
    call: async ({ name }) => {
      if (name === "write") return { content: `wrote ${++count}`, isError: false };
      await new Promise(setImmediate);
      return { content: `${name} ${count}`, isError: count === 3 };
    },
    state: async () => ({}),
    close: async () => {},
  };
}

/** Plays replies of calls as the dialogue does, and records them. */
async function record(environment: Environment, replies: string[][]): Promise<RecordedCall[]> {
  const calls: RecordedCall[] = [];
  for (const [at, names] of replies.entries()) {
    const made: ToolCall[] = names.map((name, index) => ({ id: `${at}.${index}`, name, arguments: "{}" }));
    for (const group of groupCalls(environment, made)) {
      const results = await answerGroup({ environment, signal }, group);
      for (const [index, { id, name }] of group.entries()) {
        const { content: result, isError } = results[index] as ToolResult;
        calls.push({ id, name, text: "{}", arguments: {}, result, isError, isTrouble: false, isPreview: false, at });
      }
    }
  }
  return calls;
}

async function repeat(calls: RecordedCall[], environment: Environment): Promise<RepeatedCall[]> {
  const repeated: RepeatedCall[] = [];
  for await (const each of repeatCalls({ calls, userCalls: [] }, environment, { signal })) repeated.push(each);
  return repeated;
}

const REPLIES = fc.array(fc.array(fc.constantFrom(...TOOLS), { minLength: 1, maxLength: 4 }), { maxLength: 6 });
const FAULTS = { rates: { stale: 0.4, error: 0.1, truncated: 0.1 } };

test("recorded calls come out again, in order, with injected faults and with calls that ran side by side", async () => {
  await fc.assert(
    fc.asyncProperty(REPLIES, fc.nat(), async (replies, seed) => {
      const open = () => withToolFaults(openCounter(), { ...FAULTS, seed });
      const calls = await record(open(), replies);
      const repeated = await repeat(calls, open());
      expect(repeated.map(({ number }) => number)).toEqual(calls.map((_, index) => index + 1));
      expect(repeated.map(({ result }) => answerOf(result))).toEqual(
        calls.map(({ result, isError }) => ({ content: result, isError })),
      );
      expect(repeated.some(({ trusted }) => trusted)).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test("calls whose effects are shared are trusted and not made; the others are made", async () => {
  const calls = await record(openCounter(), [["write"], ["read", "write"], ["read"]]);
  const repeated = await repeat(calls, openCounter(["write"]));
  expect(repeated.map(({ result, trusted }) => [result.content, trusted])).toEqual([
    ["wrote 1", true],
    ["read 0", false],
    ["wrote 2", true],
    ["read 0", false],
  ]);
});

function answerOf({ content, isError }: ToolResult) {
  return { content, isError };
}
