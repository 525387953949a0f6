import { expect, test } from "vitest";
import { always, call, calls, createTickingClock, play, STOP, scripted } from "../../test/support/play.ts";
import type { Entry } from "../core/index.ts";
import { faultsOf, toMessages } from "./messages.ts";
import { createStopPolicy } from "./stop-conditions/index.ts";

const opening = [{ role: "user" as const, content: "When is my book due?" }];
const results = (entries: Entry[]) => entries.filter((entry) => entry.type === "tool-result");
const talk = (entries: Entry[]) => toMessages([], entries).map((message) => `${message.role}: ${message.content}`);

test("agent and user alternate until the user ends the dialogue", async () => {
  const agent = scripted("On February 10.", "Renewed.");
  const { entries, outcome } = await play({ agent, user: scripted("When is it due?", "Renew it.", `Thanks! ${STOP}`) });
  expect(talk(entries)).toEqual([
    "user: When is it due?",
    "assistant: On February 10.",
    "user: Renew it.",
    "assistant: Renewed.",
    "user: Thanks!",
  ]);
  expect(outcome).toEqual({ success: true, stopReason: "user_stop" });
});

test("the query's messages open the dialogue, and the agent answers the last of them", async () => {
  const agent = scripted("On February 10.");
  const { entries } = await play({ agent, user: scripted(STOP), opening });
  expect(agent.requests[0]?.messages).toEqual(opening);
  expect(entries[0]).toMatchObject({ type: "reply", by: "agent" });
});

test("where the opening ends with the assistant, the user is next, and may not repeat it", async () => {
  const greeting = [{ role: "assistant" as const, content: "Welcome to the library. What can we do for you?" }];
  const user = scripted("Welcome to the library. What can we do for you?", "Renew my loan.", STOP);
  const { entries } = await play({ agent: scripted("Renewed."), user, opening: greeting });
  expect(user.requests[0]?.messages).toEqual([{ role: "user", content: greeting[0]?.content }]);
  expect(faultsOf(entries)).toMatchObject([{ type: "user_repeats_agent" }]);
});

test("text next to a token is kept as a last user message; a token alone leaves none", async () => {
  const beside = await play({ agent: scripted("Done."), user: scripted(`${STOP} Thank you!`), opening });
  expect(talk(beside.entries)).toEqual(["assistant: Done.", "user: Thank you!"]);
  const alone = await play({ agent: scripted("Done."), user: scripted(STOP), opening });
  expect(talk(alone.entries)).toEqual(["assistant: Done."]);
});

test.each([
  ["###STOP###", "user_stop"],
  ["###TRANSFER###", "user_transfer"],
  ["###OUT-OF-SCOPE###", "user_out_of_scope"],
])("the token %s ends the dialogue as %s", async (token, stopReason) => {
  const { outcome } = await play({ agent: scripted("Well."), user: scripted(`All right. ${token}`), opening });
  expect(outcome).toEqual({ success: true, stopReason });
});

test("a token in what the agent says ends nothing", async () => {
  const { outcome } = await play({ agent: scripted(`${STOP} said.`, "Yes?"), user: scripted("What?", STOP), opening });
  expect(outcome.stopReason).toBe("user_stop");
});

test("a user's reply that may not be shown is generated again, and the second one counts", async () => {
  const user = scripted("", call("renew_loan"), "Renew it, please.", STOP);
  const agent = scripted("On February 10.", "Renewed.");
  const { entries, outcome } = await play({ agent, user, opening });
  expect(talk(entries)).toEqual(["assistant: On February 10.", "user: Renew it, please.", "assistant: Renewed."]);
  expect(faultsOf(entries)).toEqual([
    { type: "user_empty", by: "user", content: "" },
    { type: "user_calls_tool", by: "user", content: "", calls: '[{"name":"renew_loan","arguments":"{}"}]' },
  ]);
  expect(outcome.stopReason).toBe("user_stop");
});

test("after three such replies the rollout ends as user_fault, with all versions noted", async () => {
  const user = scripted("", "How can I help you?", "On February 10, dear reader.");
  const { entries, outcome } = await play({ agent: scripted("On February 10, dear reader."), user, opening });
  expect(user.requests).toHaveLength(3);
  expect(outcome).toMatchObject({ success: false, stopReason: "user_fault", blame: "user" });
  expect(faultsOf(entries).map(({ type, content }) => [type, content])).toEqual([
    ["user_empty", ""],
    ["user_speaks_as_assistant", "How can I help you?"],
    ["user_repeats_agent", "On February 10, dear reader."],
  ]);
});

test("each turn has its own three tries", async () => {
  const user = scripted("", "", "And now?", "", "", STOP);
  const { outcome } = await play({ agent: scripted("One.", "Two."), user, opening });
  expect(outcome.stopReason).toBe("user_stop");
});

test("an empty agent reply is asked for once more with the same context, and noted", async () => {
  const agent = scripted({ content: " ", reasoning: "Hm." }, "On February 10.");
  const { entries, outcome } = await play({ agent, user: scripted(STOP), opening });
  expect(agent.requests[1]?.messages).toEqual(opening);
  expect(faultsOf(entries)).toEqual([{ type: "empty_reply", by: "agent", content: " " }]);
  expect(talk(entries)).toEqual(["assistant: On February 10."]);
  expect(outcome.stopReason).toBe("user_stop");
});

test("two empty agent replies end the rollout as empty_reply", async () => {
  const { entries, outcome } = await play({ agent: scripted("", ""), user: scripted(), opening });
  expect(outcome).toEqual({ success: false, stopReason: "empty_reply", blame: "agent" });
  expect(faultsOf(entries)).toHaveLength(2);
});

test("a call that the token limit cut is never executed", async () => {
  const agent = scripted({ ...call("renew_loan", '{"id": 7'), finish: "length" });
  const { entries, outcome } = await play({ agent, user: scripted(), opening });
  expect(outcome).toMatchObject({ success: false, stopReason: "truncated_reply", blame: "agent" });
  expect(results(entries)).toEqual([]);
});

test("a content filter ends the rollout, whoever it struck", async () => {
  const filtered = { content: "I c", finish: "content-filter" as const };
  const agent = await play({ agent: scripted({ ...filtered, ...call("renew_loan") }), user: scripted(), opening });
  expect(agent.outcome).toEqual({ success: false, stopReason: "content_filter", blame: "agent" });
  expect(results(agent.entries)).toEqual([]);
  const user = await play({ agent: scripted("Yes?"), user: scripted(filtered), opening });
  expect(user.outcome).toEqual({ success: false, stopReason: "content_filter", blame: "user" });
  expect(talk(user.entries)).toEqual(["assistant: Yes?"]);
  expect(faultsOf(user.entries)).toEqual([{ type: "content_filter", by: "user", content: "I c" }]);
});

test("at the step limit the agent is asked once more with tools off, so that the user is answered", async () => {
  const agent = scripted(call("find_loan", { id: 7 }), call("find_loan", { id: 7 }), "On February 10.");
  const { outcome } = await play({ agent, user: scripted(STOP), opening, maxStepsPerTurn: 2 });
  expect(agent.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "auto", "none"]);
  expect(outcome.stopReason).toBe("user_stop");
});

test("the step limit starts anew with every turn", async () => {
  const agent = scripted(call("find_loan", { id: 7 }), "Found.", call("renew_loan", { id: 7 }), "Renewed.");
  const { outcome } = await play({ agent, user: scripted("Renew it.", STOP), opening, maxStepsPerTurn: 1 });
  expect(agent.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "none", "auto", "none"]);
  expect(outcome.stopReason).toBe("user_stop");
});

test("an agent that says nothing with tools off ends as max_steps", async () => {
  const steps = { user: scripted(), opening, maxStepsPerTurn: 1 };
  const silent = await play({ agent: scripted(call("find_loan", { id: 7 }), "", ""), ...steps });
  expect(silent.outcome).toEqual({ success: false, stopReason: "max_steps", blame: "agent" });
  const calling = await play({ agent: always(call("find_loan", { id: 7 })), ...steps });
  expect(calling.outcome).toEqual({ success: false, stopReason: "max_steps", blame: "agent" });
  expect(results(calling.entries)).toHaveLength(1);
  expect(faultsOf(calling.entries)).toMatchObject([
    { type: "calls_with_tools_off", calls: '[{"name":"find_loan","arguments":"{\\"id\\":7}"}]' },
  ]);
});

test("a call next to the last words with tools off is not executed", async () => {
  const agent = scripted(call("find_loan", { id: 7 }), { ...call("renew_loan", { id: 7 }), content: "On the 10th." });
  const { entries, outcome } = await play({ agent, user: scripted(STOP), opening, maxStepsPerTurn: 1 });
  expect(outcome.stopReason).toBe("user_stop");
  expect(results(entries)).toHaveLength(1);
});

test("stop conditions are asked after every step, in the middle of a turn too", async () => {
  const agent = always(calls(call("find_loan", { id: 7 }), call("find_loan", { id: 8 })));
  const stopPolicy = createStopPolicy({ max_rollout_seconds: 10 });
  const { outcome, entries } = await play({ agent, user: scripted(), opening, stopPolicy });
  expect(outcome.stopReason).toBe("time_limit");
  expect(results(entries).length % 2).toBe(0);
});

test("a single turn needs no user model and ends when the agent has answered", async () => {
  const agent = scripted(call("find_loan", { id: 7 }), "On February 10.");
  const { outcome, entries } = await play({ agent, opening, stopPolicy: createStopPolicy({ max_turns: 1 }) });
  expect(outcome).toEqual({ success: true, stopReason: "agent_done" });
  expect(talk(entries).at(-1)).toBe("assistant: On February 10.");
});

test("a query without a user message cannot be played without a user model: one rollout ends, no more", async () => {
  await expect(play({ agent: scripted("Hm?"), stopPolicy: createStopPolicy({ max_turns: 1 }) })).rejects.toMatchObject({
    name: "RolloutError",
    boundary: "infrastructure",
  });
});

test("the judge reads what was said after each turn and ends the dialogue with its reason", async () => {
  const judge = scripted('{"stop": false, "reason": "a question"}', 'Well: {"stop": true, "reason": "all done"}');
  const agent = scripted(call("find_loan", { id: 7 }), "Shall I renew it?", "Renewed.");
  const { entries, outcome } = await play({ agent, user: scripted("Yes."), judge, opening });
  expect(outcome).toEqual({ success: true, stopReason: "llm_judge", message: "all done" });
  expect(entries.filter((entry) => entry.type === "verdict")).toMatchObject([{ stop: false }, { stop: true }]);
  const transcript = judge.requests[1]?.messages[0]?.content ?? "";
  expect(transcript).toContain(
    "User: When is my book due?\n\nAgent: Shall I renew it?\n\nUser: Yes.\n\nAgent: Renewed.",
  );
  expect(transcript).not.toContain("find_loan");
});

test("a verdict that cannot be read ends nothing", async () => {
  const judge = scripted("I would say it is over.", '{"stop": "yes"}');
  const { entries, outcome } = await play({ agent: always("Yes?"), user: scripted("Go on.", STOP), judge, opening });
  expect(outcome.stopReason).toBe("user_stop");
  expect(entries.filter((entry) => entry.type === "verdict")).toMatchObject([
    { stop: false, reason: "unreadable verdict: I would say it is over." },
    { stop: false, reason: expect.stringContaining("unreadable") },
  ]);
});

test("every request says which call of which party it is, and entries carry the injected clock's time", async () => {
  const agent = scripted("One.", "Two.");
  const user = scripted("", "Go on.", STOP);
  const { entries } = await play({ agent, user, opening, clock: createTickingClock() });
  expect(agent.requests.map(({ origin }) => origin.position)).toEqual([0, 1]);
  expect(user.requests.map(({ origin }) => origin.position)).toEqual([0, 1, 2]);
  expect(user.requests[0]?.origin).toMatchObject({ dataset: "Desk", queryId: "q1", rollout: 0, party: "user" });
  const times = entries.map(({ at }) => at);
  expect(times).toEqual([...times].sort());
  expect(times[0]).toMatch(/^2026-01-01T00:00:/);
});

const WRITTEN = '{"name": "renew_loan", "arguments": {"loan_id": "L1"}}';

test("a call written as text is asked for once more, with advice for that one call, and never said", async () => {
  const agent = scripted(WRITTEN, "On February 10.", "Renewed.");
  const { entries, outcome } = await play({ agent, user: scripted("Renew it.", STOP), opening });
  expect(talk(entries)).toEqual(["assistant: On February 10.", "user: Renew it.", "assistant: Renewed."]);
  expect(outcome.stopReason).toBe("user_stop");
  const [first, again, later] = agent.requests.map(({ system }) => system);
  expect(again).toContain("a tool call written as text");
  expect([later, again?.startsWith(first ?? "?")]).toEqual([first, true]);
  expect(agent.requests[1]?.messages).toEqual(agent.requests[0]?.messages);
});

test("written as text twice, with tools on or off, it ends the rollout as text_call", async () => {
  const twice = await play({ agent: always(WRITTEN), user: scripted(STOP), opening });
  expect(twice.outcome).toMatchObject({ success: false, stopReason: "text_call", blame: "agent" });
  expect(talk(twice.entries)).toEqual([]);
  const agent = scripted(call("get_loan", { loan_id: "L1" }), WRITTEN, WRITTEN);
  const off = await play({ agent, user: scripted(STOP), opening, maxStepsPerTurn: 1 });
  expect(agent.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "none", "none"]);
  expect(off.outcome.stopReason).toBe("text_call");
});

test("a call written as text that fills the token limit is cut like any reply, and is no speech either", async () => {
  const { entries, outcome } = await play({
    agent: scripted({ content: WRITTEN, finish: "length" }),
    user: scripted(STOP),
    opening,
  });
  expect(outcome).toMatchObject({ success: false, stopReason: "truncated_reply", blame: "agent" });
  expect(talk(entries)).toEqual([]);
  expect(faultsOf(entries)).toMatchObject([{ type: "text_call", by: "agent", content: WRITTEN }]);
});

test("the user's call written as text is no speech either, and the next try is told so", async () => {
  const user = scripted(`<tool_call>${WRITTEN}</tool_call>`, "Renew it.", STOP);
  const { entries } = await play({ agent: scripted("On February 10.", "Renewed."), user, opening });
  expect(talk(entries)).toEqual(["assistant: On February 10.", "user: Renew it.", "assistant: Renewed."]);
  expect(user.requests[1]?.system).toContain("You are the user");
  expect(faultsOf(entries)).toMatchObject([{ type: "user_calls_tool" }]);
});

test("what the server could not parse is the model's mistake: kept, asked for once more, then the end", async () => {
  const garbled = { content: "<tool_call>{", finish: "other", malformed: true } as const;
  const once = await play({ agent: scripted(garbled, "On February 10."), user: scripted(STOP), opening });
  expect(talk(once.entries)).toEqual(["assistant: On February 10."]);
  expect(faultsOf(once.entries)).toMatchObject([{ type: "malformed_reply", by: "agent", content: "<tool_call>{" }]);
  const twice = await play({ agent: always(garbled), user: scripted(STOP), opening });
  expect(twice.outcome).toMatchObject({ success: false, stopReason: "malformed_reply", blame: "agent" });
  expect(talk(twice.entries)).toEqual([]);
});

test("a reply that the end of the context cut is no reply, and ends the rollout as context_overflow", async () => {
  const cut = { content: "Your book is due on Feb", finish: "context-length" } as const;
  const agent = await play({ agent: scripted(cut), user: scripted(STOP), opening });
  expect(agent.outcome).toMatchObject({ success: false, stopReason: "context_overflow", blame: "agent" });
  expect(talk(agent.entries)).toEqual([]);
  const user = await play({ agent: scripted("On February 10."), user: scripted(cut), opening });
  expect(user.outcome).toMatchObject({ stopReason: "context_overflow", blame: "user" });
});

test("another model than the one asked for is noted once for each party", async () => {
  const other = (content: string) => ({ content, served: { model: "b", insteadOf: "a" } });
  const user = scripted(other("Renew it."), STOP);
  const { entries } = await play({ agent: scripted(other("Yes?"), other("Renewed.")), user, opening });
  expect(faultsOf(entries)).toEqual([
    { type: "other_model", by: "agent", asked: "a", answered: "b" },
    { type: "other_model", by: "user", asked: "a", answered: "b" },
  ]);
});
