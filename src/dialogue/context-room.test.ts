import { expect, test } from "vitest";
import { call, type Line, openDesk, play, type ScriptedModel, STOP, scripted } from "../../test/support/play.ts";
import {
  ANSWER_REQUEST,
  type Entry,
  joinSummary,
  NO_USAGE,
  RESULTS_READ,
  RolloutError,
  SUMMARY_REQUEST,
} from "../core/index.ts";
import { estimateTokens } from "../models/index.ts";
import { passOn } from "../runner/replay.ts";
import type { ContextPolicy } from "./context-room.ts";
import { faultsOf, toMessages, toSummaries } from "./messages.ts";
import { createStopPolicy } from "./stop-conditions/index.ts";

const QUESTION = "When is Middlemarch due?";
const opening = [{ role: "user" as const, content: QUESTION }];
/** A call next to so many thousand characters. */
const step = (thousands: number): Line => ({ ...call("find_loan", { id: 7 }), content: "x".repeat(thousands * 1000) });
const OVERFLOW = new RolloutError("agent", "too long", { stopReason: "context_overflow" });

/** Says its lines; its server counts one token for so many bytes. */
function counting(bytesPerToken: number, ...lines: Line[]): ScriptedModel {
  const { complete, ...model } = scripted(...lines);
  return {
    ...model,
    complete: async (request, signal) => {
      const inputTokens = Math.ceil((estimateTokens(request) * 4) / bytesPerToken);
      return { ...(await complete(request, signal)), usage: { ...NO_USAGE, inputTokens } };
    },
  };
}

/** One turn of an agent whose context holds so many tokens. */
async function answer(
  policy: Omit<ContextPolicy, "summariser">,
  agent: ScriptedModel,
  summariser: ScriptedModel = scripted(),
  more = {},
) {
  const stopPolicy = createStopPolicy({ max_turns: 1 });
  const played = await play({ agent, opening, stopPolicy, context: { ...policy, summariser }, ...more });
  return { ...played, agent, summariser, summaries: toSummaries(opening, played.entries) };
}

const SUMMARISE = { limit: 2000, onFull: "summarise" } as const;

test("near the limit a summary takes the place of everything before it, and the dialogue goes on", async () => {
  const agent = counting(4, step(3), step(5), step(1), "On February 10.");
  const { entries, outcome, summariser, summaries } = await answer(SUMMARISE, agent, scripted("Loan 7 was looked up."));
  expect(outcome).toEqual({ success: true, stopReason: "agent_done" });
  expect(entries.map(({ type }) => type)).toEqual([
    ...["reply", "tool-result", "reply", "tool-result", "summary"],
    ...["reply", "tool-result", "reply"],
  ]);
  expect(summaries).toEqual([{ after: 5, content: "Loan 7 was looked up." }]);
  const asked = summariser.requests[0];
  expect(asked).toMatchObject({
    toolChoice: "none",
    system: "You lend books.",
    origin: { party: "summary", position: 0 },
  });
  expect(asked?.messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
  expect(asked?.messages.slice(-2)).toEqual([
    { role: "assistant", content: RESULTS_READ },
    { role: "user", content: SUMMARY_REQUEST },
  ]);
  const resumed = { role: "user", content: joinSummary(QUESTION, "Loan 7 was looked up.") };
  expect(agent.requests[2]?.messages).toEqual([resumed]);
  expect(agent.requests[3]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(toMessages(opening, entries).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "tool",
    "assistant",
    "tool",
    "assistant",
  ]);
});

test("what the server counts decides, not how many characters there are", async () => {
  const few = await answer(SUMMARISE, counting(20, step(8), step(8), step(8), "Done."));
  expect(few.entries.some(({ type }) => type === "summary")).toBe(false);
  const many = await answer(SUMMARISE, counting(1, step(2), "Done."), scripted("Short."));
  expect(many.summaries).toHaveLength(1);
});

test("a second summary replaces the first", async () => {
  const agent = counting(4, step(8), step(8), "Done.");
  const { summaries } = await answer(SUMMARISE, agent, scripted("First.", "Second."));
  expect(summaries.map(({ after, content }) => [after, content])).toEqual([
    [3, "First."],
    [5, "Second."],
  ]);
  expect(agent.requests[2]?.messages).toEqual([{ role: "user", content: joinSummary(QUESTION, "Second.") }]);
});

test.each<[string, Line, string]>([
  ["is empty", "  ", "empty_summary"],
  ["is a tool call", call("find_loan", { id: 7 }), "empty_summary"],
  ["breaks off", { content: "Loan", finish: "length" }, "broken_summary"],
  ["is longer than what it replaces", "s".repeat(40_000), "long_summary"],
])("a summary that %s is asked for once more, and then the rollout ends", async (_, bad, fault) => {
  const mended = await answer(SUMMARISE, counting(4, step(8), "Done."), scripted(bad, "Good."));
  expect(mended.outcome.stopReason).toBe("agent_done");
  expect(mended.summaries).toEqual([{ after: 3, content: "Good." }]);
  expect(faultsOf(mended.entries)).toMatchObject([{ type: fault, by: "summary" }]);
  const given = await answer(SUMMARISE, counting(4, step(8), "Done."), scripted(bad, bad, "Good."));
  expect(given.outcome).toMatchObject({ success: false, stopReason: "context_overflow", blame: "agent" });
  expect(given.summariser.requests).toHaveLength(2);
  expect(given.agent.requests).toHaveLength(1);
});

test("a summary that the provider refuses ends the rollout as content_filter", async () => {
  const refused = { content: "", finish: "content-filter" as const };
  const { outcome } = await answer(SUMMARISE, counting(4, step(8)), scripted(refused));
  expect(outcome).toMatchObject({ stopReason: "content_filter", blame: "agent" });
});

test("with `answer` the agent is asked once for its answer, with tools off", async () => {
  const agent = counting(4, step(8), "On February 10.");
  const { entries, outcome } = await answer({ limit: 2000, onFull: "answer" }, agent);
  expect(outcome).toEqual({ success: true, stopReason: "agent_done" });
  expect(agent.requests[1]).toMatchObject({ toolChoice: "none" });
  expect(agent.requests[1]?.messages.at(-1)).toEqual({ role: "user", content: ANSWER_REQUEST });
  expect(faultsOf(entries)).toEqual([{ type: "context_full", by: "agent" }]);
  expect(toMessages(opening, entries).at(-1)).toMatchObject({ role: "assistant", content: "On February 10." });
});

test("an agent that then gives no answer has overflowed its context", async () => {
  const agent = counting(4, step(8), call("find_loan", { id: 7 }));
  expect((await answer({ limit: 2000, onFull: "answer" }, agent)).outcome).toMatchObject({
    success: false,
    stopReason: "context_overflow",
  });
});

test("a dialogue whose last answer was asked for has no further turns", async () => {
  const agent = counting(4, step(8), "On February 10.");
  const user = scripted(STOP);
  const context = { limit: 2000, onFull: "answer", summariser: scripted() } as const;
  const { outcome } = await play({ agent, user, opening, context });
  expect(outcome).toMatchObject({ stopReason: "context_overflow" });
  expect(user.requests).toHaveLength(0);
});

test("with `end` nothing more is paid for", async () => {
  const agent = counting(4, step(8), "On February 10.");
  const { outcome } = await answer({ limit: 2000, onFull: "end" }, agent);
  expect(outcome).toMatchObject({ stopReason: "context_overflow", message: expect.stringContaining("2000 fit") });
  expect(agent.requests).toHaveLength(1);
});

test("one result that is larger than the context is cut for the summary, and only there", async () => {
  const huge = "名".repeat(30_000);
  const environment = passOn(openDesk(), async () => ({ content: huge, isError: false }));
  const { entries, summariser } = await answer(
    { limit: 5000, onFull: "summarise" },
    counting(4, step(1), "Done."),
    scripted("Names, many of them."),
    { environment },
  );
  const sent = summariser.requests[0]?.messages.find(({ role }) => role === "tool")?.content ?? "";
  expect(sent.length).toBeLessThan(20_000);
  expect(sent).toMatch(/characters left out/);
  expect(entries.find(({ type }) => type === "tool-result")).toMatchObject({ content: huge });
});

test.each(["summarise", "answer"] as const)(
  "a server that finds the context too long earlier is believed (%s)",
  async (onFull) => {
    const agent = counting(4, step(1), OVERFLOW, "On February 10.");
    const { entries, outcome } = await answer({ limit: 100_000, onFull }, agent, scripted("Loan 7 was looked up."));
    expect(outcome).toEqual({ success: true, stopReason: "agent_done" });
    expect(entries[2]).toMatchObject({ type: "reply", rejected: "context_overflow" });
  },
);

test("a server that still finds it too long after that is right", async () => {
  const twice = counting(4, step(1), OVERFLOW, OVERFLOW);
  await expect(answer({ limit: 100_000, onFull: "summarise" }, twice, scripted("Short."))).rejects.toThrow("too long");
  const answered = await answer({ limit: 100_000, onFull: "answer" }, counting(4, step(1), OVERFLOW, OVERFLOW));
  expect(answered.outcome).toMatchObject({ success: false, stopReason: "context_overflow" });
});

test("a first request that is too long is nobody's to shorten", async () => {
  await expect(answer({ limit: 100, onFull: "summarise" }, scripted(OVERFLOW))).rejects.toThrow("too long");
});

test("the record says the same when it is played again", async () => {
  const lines = [step(3), step(5), step(1), "On February 10."];
  const [first, second] = await Promise.all(
    [0, 1].map(() => answer(SUMMARISE, counting(4, ...lines), scripted("Loan 7 was looked up."))),
  );
  const untimed = (entries: Entry[] = []) => entries.map(({ at: _, ...entry }) => entry);
  expect(untimed(first?.entries)).toEqual(untimed(second?.entries));
});
