import { expect, test } from "vitest";
import { call, calls, openDesk, play, STOP, scripted } from "../../test/support/play.ts";
import {
  type Environment,
  RolloutError,
  systemClock,
  type ToolCall,
  type ToolResult,
  type ToolResultEntry,
} from "../core/index.ts";
import { toMessages } from "./messages.ts";
import { createStopPolicy } from "./stop-conditions/index.ts";

/** Tools that take a while and tell when they begin and end; the first call takes longest. */
function slowTools(log: string[]): Environment {
  let ticks = 10;
  return {
    tools: [],
    isReadOnly: (name) => name.startsWith("read"),
    call: async ({ name }) => {
      log.push(`${name} begins`);
      for (let tick = ticks--; tick > 0; tick--) await new Promise(setImmediate);
      log.push(`${name} ends`);
      return { content: name, isError: false };
    },
    state: async () => ({}),
    close: async () => {},
  };
}

async function answered(...names: string[]) {
  const log: string[] = [];
  const agent = scripted(calls(...names.map((name) => call(name))), "Done.");
  const { entries } = await play({ agent, user: scripted("Go.", STOP), environment: slowTools(log) });
  const results = entries.flatMap((entry) => (entry.type === "tool-result" ? [entry.content] : []));
  return { log, results };
}

test("read-only calls of one reply run concurrently, and their results stand in call order", async () => {
  const { log, results } = await answered("read_a", "read_b", "read_c");
  expect(log.slice(0, 3)).toEqual(["read_a begins", "read_b begins", "read_c begins"]);
  expect(log.slice(3)).toEqual(["read_c ends", "read_b ends", "read_a ends"]);
  expect(results).toEqual(["read_a", "read_b", "read_c"]);
});

test("writes run one after the other", async () => {
  const { log, results } = await answered("write_a", "write_b");
  expect(log).toEqual(["write_a begins", "write_a ends", "write_b begins", "write_b ends"]);
  expect(results).toEqual(["write_a", "write_b"]);
});

test("a read waits for the write before it, and a write for the reads before it", async () => {
  const { log, results } = await answered("read_a", "read_b", "write_c", "read_d");
  expect(log.slice(0, 2)).toEqual(["read_a begins", "read_b begins"]);
  expect(log.slice(4)).toEqual(["write_c begins", "write_c ends", "read_d begins", "read_d ends"]);
  expect(results).toEqual(["read_a", "read_b", "write_c", "read_d"]);
});

test("a read in the same reply sees the write that stands before it", async () => {
  const agent = scripted(
    calls(call("renew_loan", { id: 7 }), call("find_loan", { id: 7 }), call("renew_loan", { id: 7 })),
    "Renewed twice.",
  );
  const { entries } = await play({ agent, user: scripted("Renew it twice.", STOP) });
  const renewals = entries.flatMap((entry) =>
    entry.type === "tool-result" ? [JSON.parse(entry.content).renewals] : [],
  );
  expect(renewals).toEqual([1, 1, 2]);
});

test("a failed tool call goes back to the agent, and the dialogue goes on", async () => {
  const { entries, outcome } = await play({
    user: scripted("Please renew my loan.", `Thanks! ${STOP}`),
    agent: scripted(call("renew_laon", { id: 7 }), call("renew_loan", { id: 7 }), "Renewed."),
  });
  expect(entries.filter((entry) => entry.type === "tool-result")).toMatchObject([
    { isError: true, content: expect.stringContaining("renew_loan") },
    { isError: false },
  ]);
  expect(outcome).toEqual({ success: true, stopReason: "user_stop" });
});

test("unknown tools, malformed arguments and schema violations are answered with help, raw arguments kept", async () => {
  const agent = scripted(
    calls(
      call("renew_laon", { id: 7 }),
      call("renew_loan", '{"id": 7'),
      call("renew_loan", "[7]"),
      call("renew_loan", { id: "seven" }),
      call("renew_loan", {}),
      call("renew_loan", { id: 8 }),
    ),
    "Sorry.",
  );
  const { entries, query } = await play({ agent, user: scripted("Renew it.", STOP) });
  expect(entries.filter((entry) => entry.type === "tool-result")).toMatchObject([
    { fault: "unknown_tool", content: expect.stringMatching(/did you mean \\"renew_loan\\".*find_loan, renew_loan/) },
    { fault: "malformed_arguments", content: expect.stringMatching(/not valid JSON.*id \(integer, required\)/) },
    { fault: "malformed_arguments", content: expect.stringContaining("must be a JSON object") },
    { fault: "invalid_arguments", content: expect.stringMatching(/\\"id\\" must be (an )?integer/) },
    { fault: "invalid_arguments", content: expect.stringContaining('\\"id\\" is missing') },
    { fault: "tool_error", content: '{"error":"There is no loan 8"}' },
  ]);
  const [, asked] = toMessages(query.messages, entries);
  expect(asked).toMatchObject({ role: "assistant" });
  const raw = asked?.role === "assistant" ? asked.tool_calls?.map((made) => made.function.arguments) : [];
  expect(raw).toEqual(['{"id":7}', '{"id": 7', "[7]", '{"id":"seven"}', "{}", '{"id":8}']);
});

test("repeated and missing call ids are made unique within the dialogue, originals kept", async () => {
  const agent = scripted(
    calls(call("find_loan", { id: 7 }, "a"), call("find_loan", { id: 7 }, "a"), call("find_loan", { id: 7 }, "")),
    call("find_loan", { id: 7 }, "a"),
    "Found.",
  );
  const { entries } = await play({ agent, user: scripted("Find it.", STOP) });
  const made = entries.flatMap((entry): ToolCall[] => (entry.type === "reply" ? entry.toolCalls : []));
  const answers = entries.flatMap((entry) => (entry.type === "tool-result" ? [entry.callId] : []));
  expect(new Set(answers).size).toBe(4);
  expect(answers).toEqual(made.map(({ id }) => id));
  expect(made.map(({ originalId }) => originalId)).toEqual([undefined, "a", "", "a"]);
});

test("tools that are out of reach end the rollout, not as an answer to the agent", async () => {
  const lost = new RolloutError("infrastructure", "the server is gone");
  const environment = { ...openDesk(), tools: [], isReadOnly: () => true, call: () => Promise.reject(lost) };
  const playing = play({ agent: scripted(call("find_loan")), user: scripted("Find it."), environment });
  await expect(playing).rejects.toBe(lost);
});

/** One call of a tool that gives this result, as the record has it. */
async function recorded(result: ToolResult) {
  const environment = { ...slowTools([]), call: async () => result };
  const agent = scripted(calls(call("write_a")), "Done.");
  const { entries } = await play({ agent, user: scripted("Go.", STOP), environment });
  return entries.find((entry) => entry.type === "tool-result") as ToolResultEntry;
}

test("a long result of any kind of tool is cut for the model and kept whole; one that is far too long is an error", async () => {
  for (const isError of [false, true]) {
    const { content, raw } = await recorded({ content: "z".repeat(5_000_000), isError });
    expect(content).toMatch(/^z+\n\[… \d+ of 5000000 characters left out …\]\nz+$/);
    expect(content.length).toBeLessThan(66_000);
    expect(raw).toHaveLength(5_000_000);
  }
  for (const far of [{ content: "z".repeat(34e6) }, { content: "short", raw: "z".repeat(34e6) }]) {
    const { content, isError, raw } = await recorded({ ...far, isError: false });
    expect([content, isError, raw]).toEqual([expect.stringMatching(/34000000 characters, more than/), true, undefined]);
  }
  const { trace } = await recorded({ content: "{}", isError: true, trace: "t".repeat(1e6) });
  expect(trace).toHaveLength(16_384);
});

test.each([
  ["never answers", () => new Promise<never>(() => {})],
  [
    "heeds the signal",
    (signal: AbortSignal) =>
      new Promise<never>((_, fail) => signal.addEventListener("abort", () => fail(signal.reason))),
  ],
])("max_rollout_seconds holds while a tool %s: what was answered stays, the rest is given up", async (_, hang) => {
  const environment: Environment = {
    ...slowTools([]),
    call: ({ name }, signal) =>
      name === "write_b" ? hang(signal) : Promise.resolve({ content: name, isError: false }),
  };
  const agent = scripted(calls(call("write_a"), call("write_b"), call("write_c")), "Done.");
  const stopPolicy = createStopPolicy({ max_rollout_seconds: 1 });
  const { entries, outcome } = await play({
    agent,
    user: scripted("Go.", STOP),
    environment,
    stopPolicy,
    clock: systemClock,
  });
  expect(outcome).toMatchObject({ success: false, stopReason: "time_limit" });
  expect(entries.map((entry) => entry.type)).toEqual(["reply", "reply", "tool-result"]);
});

test("a rollout's own abort still ends it while a time limit runs", async () => {
  const environment: Environment = {
    ...slowTools([]),
    call: (_call, signal) => new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason))),
  };
  const abort = new AbortController();
  setTimeout(() => abort.abort(new Error("leave")), 20);
  const stopPolicy = createStopPolicy({ max_rollout_seconds: 60 });
  const scene = { agent: scripted(calls(call("write_a"))), user: scripted("Go."), environment, stopPolicy };
  await expect(play({ ...scene, clock: systemClock, signal: abort.signal })).rejects.toThrow("leave");
});
