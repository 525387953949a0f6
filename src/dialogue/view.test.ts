import fc from "fast-check";
import { expect, test } from "vitest";
import { call, play, STOP, scripted } from "../../test/support/play.ts";
import type { Entry, ReasoningSpan } from "../core/index.ts";
import { toMessages } from "./messages.ts";
import { NEUTRAL_OPENER, viewFor } from "./view.ts";

/** Two turns with reasoning, a tool call and a text next to it. */
async function twoTurns() {
  const agent = scripted(
    { ...call("find_loan", { id: 7 }), content: "Let me look.", reasoning: "I need the loan." },
    { content: "It is due on February 10.", reasoning: "That answers it." },
    { ...call("renew_loan", { id: 7 }), reasoning: "They agreed." },
    { content: "Renewed.", reasoning: "Done." },
  );
  const user = scripted(
    { content: "When is my book due?", reasoning: "I play a reader." },
    "Then renew it.",
    `Thanks! ${STOP}`,
  );
  return { agent, user, ...(await play({ agent, user })) };
}

test("the user sees what was said, roles flipped, and nothing of tools or reasoning", async () => {
  const { user } = await twoTurns();
  expect(user.requests[2]?.messages).toEqual([
    { role: "user", content: NEUTRAL_OPENER },
    { role: "assistant", content: "When is my book due?" },
    { role: "user", content: "It is due on February 10." },
    { role: "assistant", content: "Then renew it." },
    { role: "user", content: "Renewed." },
  ]);
  expect(user.requests[2]).toMatchObject({ tools: [], toolChoice: "none", system: "You owe books." });
});

test("the user's view starts with a neutral opener, unless the query itself opens with the assistant", () => {
  expect(viewFor("user", [{ role: "user", content: "Hi" }], [])).toEqual([
    { role: "user", content: NEUTRAL_OPENER },
    { role: "assistant", content: "Hi" },
  ]);
  const greeted = [
    { role: "assistant" as const, content: "Welcome." },
    { role: "user" as const, content: "Hi" },
  ];
  expect(viewFor("user", greeted, [])).toEqual([
    { role: "user", content: "Welcome." },
    { role: "assistant", content: "Hi" },
  ]);
});

test("a new turn starts without earlier turns' reasoning; contents, calls and results stay", async () => {
  const { agent } = await twoTurns();
  expect(agent.requests[2]?.messages).toEqual([
    { role: "user", content: "When is my book due?" },
    {
      role: "assistant",
      content: "Let me look.",
      toolCalls: [{ id: "c1_0", name: "find_loan", arguments: '{"id":7}' }],
    },
    expect.objectContaining({ role: "tool", callId: "c1_0", content: expect.stringContaining("Middlemarch") }),
    { role: "assistant", content: "It is due on February 10." },
    { role: "user", content: "Then renew it." },
  ]);
});

test("what a turn does not change stays the same message, for agent and user: it is written once", async () => {
  const agent = scripted(call("find_loan", { id: 7 }), "It is due on February 10.", "You are welcome.");
  const user = scripted("When is it due?", "Thank you.", STOP);
  await play({ agent, user });
  for (const [before, after] of [
    [agent.requests[1], agent.requests[2]],
    [user.requests[1], user.requests[2]],
  ]) {
    expect(before?.messages.length).toBeGreaterThan(1);
    for (const [at, message] of before?.messages.entries() ?? []) expect(after?.messages[at]).toBe(message);
  }
});

test("within a turn the agent sees its own reasoning, and what its provider wants back", async () => {
  const agent = scripted(
    { ...call("find_loan", { id: 7 }), reasoning: "I need the loan.", opaque: { signature: "s1" } },
    "It is due on February 10.",
    "You are welcome.",
  );
  await play({ agent, user: scripted("When is it due?", "Thank you.", STOP) });
  expect(agent.requests[1]?.messages[1]).toMatchObject({ reasoning: "I need the loan.", opaque: { signature: "s1" } });
  expect(JSON.stringify(agent.requests[2]?.messages[1])).not.toMatch(/reasoning|opaque/);
});

test("the trajectory keeps the reasoning of every turn", async () => {
  const { entries, query } = await twoTurns();
  const kept = toMessages(query.messages, entries).flatMap((message) =>
    message.role === "assistant" ? [message.reasoning_content] : [],
  );
  expect(kept).toEqual(["I need the loan.", "That answers it.", "They agreed.", "Done."]);
});

test("a rejected reply is in nobody's view", async () => {
  const agent = scripted({ content: "" }, "It is due on February 10.");
  const user = scripted("When is it due?", "Agent: it is due soon.", STOP);
  const { entries } = await play({ agent, user });
  expect(agent.requests[1]?.messages).toEqual(agent.requests[0]?.messages);
  expect(user.requests[2]?.messages).toEqual(user.requests[1]?.messages);
  expect(JSON.stringify(viewFor("agent", [], entries))).not.toContain("due soon");
});

test("where a provider refuses the dialogue otherwise, earlier replies that called tools keep their reasoning", async () => {
  const { entries } = await twoTurns();
  const reasonings = viewFor("agent", [], entries, "dialogue").map((message) =>
    message.role === "assistant" ? message.reasoning : undefined,
  );
  expect(reasonings.filter((reasoning) => reasoning !== undefined)).toContain("I need the loan.");
  expect(reasonings).not.toContain("That answers it.");
  expect(
    viewFor("agent", [], entries).some((message) => "reasoning" in message && message.reasoning === "I need the loan."),
  ).toBe(false);
});

test("a view that grows with its dialogue is the one that is built from all of it", () => {
  const kind = fc.constantFrom("reply", "called", "user", "aside", "rejected", "result", "summary", "verdict");
  const usage = { inputTokens: 1, outputTokens: 1 };
  const make = (what: string, n: number): Entry => {
    const said = { content: `${what} ${n}`, toolCalls: [], usage, finish: "stop", at: "" };
    const calls = { ...said, toolCalls: [{ id: `c${n}`, name: "find", arguments: "{}" }], reasoning: `why ${n}` };
    const entries: { [kind: string]: unknown } = {
      reply: { type: "reply", by: "agent", reasoning: `why ${n}`, ...said },
      called: { type: "reply", by: "agent", ...calls },
      user: { type: "reply", by: "user", ...said },
      aside: { type: "reply", by: "user", ...calls },
      rejected: { type: "reply", by: "agent", ...said, rejected: "empty_reply" },
      result: { type: "tool-result", callId: `c${n}`, name: "find", content: `{"n": ${n}}`, isError: false, at: "" },
      summary: { type: "summary", ...said, ...(n % 2 === 0 && { rejected: "empty_reply" }) },
      verdict: { type: "verdict", stop: false, reason: "", usage, at: "" },
    };
    return entries[what] as Entry;
  };
  const opening = [{ role: "user" as const, content: "Hi" }];
  fc.assert(
    fc.property(fc.array(kind, { maxLength: 25 }), fc.constantFrom("turn", "dialogue"), (kinds, span) => {
      const entries: Entry[] = [];
      for (const [n, what] of kinds.entries()) {
        entries.push(make(what, n));
        if (n % 3 === 1) continue; // not asked after every entry
        const grown = viewFor("agent", opening, entries, span as ReasoningSpan);
        expect(grown).toEqual(viewFor("agent", opening, [...entries], span as ReasoningSpan));
        expect(viewFor("agent", opening, entries, span as ReasoningSpan)).toEqual(grown);
      }
    }),
  );
});
