import { expect, test } from "vitest";
import { type Entry, NO_USAGE, type ReplyEntry } from "../../core/index.ts";
import { createStopPolicy, STOP_REASONS } from "./index.ts";
import type { Progress } from "./stop-condition.ts";

let ids = 0;
const at = "2026-01-01T00:00:00.000Z";
const said = (content: string, more: Partial<ReplyEntry> = {}): ReplyEntry => ({
  type: "reply",
  by: "agent",
  content,
  toolCalls: [],
  usage: NO_USAGE,
  finish: "stop",
  at,
  ...more,
});
const asked = (content: string) => said(content, { by: "user" });
const called = (name: string, args: string, content: string, isError = false): Entry[] => {
  const id = `c${ids++}`;
  return [
    said("", { toolCalls: [{ id, name, arguments: args }] }),
    { type: "tool-result", callId: id, name, content, isError, at },
  ];
};
const progress = (entries: Entry[], more: Partial<Progress> = {}): Progress => ({
  entries,
  turns: 1,
  turnEnded: true,
  elapsedMs: 0,
  ...more,
});

test("the first condition that fires decides", () => {
  const both = createStopPolicy({ max_turns: 2, monitor_max_no_tool_turns: 1 });
  expect(both(progress([said("Hi")], { turns: 1 }))?.stopReason).toBe("max_no_tool_turns");
  expect(both(progress([said("Hi")], { turns: 2 }))?.stopReason).toBe("max_turns");
  expect(createStopPolicy({})(progress([said("Goodbye!")], { turns: 99 }))).toBeUndefined();
  expect(createStopPolicy({ monitor_rule_detection: false })(progress([said("Goodbye!")]))).toBeUndefined();
});

test("a regular end carries success, and no other end does", () => {
  const reasons = Object.entries(STOP_REASONS);
  const withSuccess = (wanted: boolean) => reasons.flatMap(([reason, success]) => (success === wanted ? reason : []));
  expect(withSuccess(true).toSorted()).toEqual([
    "agent_done",
    "llm_judge",
    "max_no_tool_turns",
    "max_turns",
    "rule_detected",
    "user_out_of_scope",
    "user_stop",
    "user_transfer",
  ]);
  expect(withSuccess(false).toSorted()).toEqual([
    "content_filter",
    "context_overflow",
    "cost_budget",
    "empty_reply",
    "infrastructure",
    "malformed_reply",
    "max_steps",
    "repeated_calls",
    "text_call",
    "time_limit",
    "token_budget",
    "too_many_tool_errors",
    "truncated_reply",
    "user_fault",
  ]);
});

test("turns are counted when the agent has answered; a limit of one is a regular end", () => {
  expect(createStopPolicy({ max_turns: 3 })(progress([], { turns: 3 }))).toEqual({
    success: true,
    stopReason: "max_turns",
  });
  expect(createStopPolicy({ max_turns: 3 })(progress([], { turns: 2 }))).toBeUndefined();
  expect(createStopPolicy({ max_turns: 3 })(progress([], { turns: 3, turnEnded: false }))).toBeUndefined();
  expect(createStopPolicy({ max_turns: 1 })(progress([]))).toEqual({ success: true, stopReason: "agent_done" });
});

test("turns without a tool call count only in a row, and rejected replies not at all", () => {
  const condition = createStopPolicy({ monitor_max_no_tool_turns: 2 });
  const two = [said("One."), asked("And?"), said("Two.")];
  expect(condition(progress(two))).toEqual({ success: true, stopReason: "max_no_tool_turns" });
  expect(condition(progress(two, { turnEnded: false }))).toBeUndefined();
  const broken = [said("One."), asked("And?"), ...called("find_loan", "{}", "7"), said("Two.")];
  expect(condition(progress(broken))).toBeUndefined();
  expect(condition(progress([said("", { rejected: "empty_reply" }), said("One.")]))).toBeUndefined();
});

test("the answer that closes a turn with a tool call is no turn without one", () => {
  const condition = createStopPolicy({ monitor_max_no_tool_turns: 5 });
  const turn = () => [asked("And?"), said("Well.")];
  const withCall = [asked("Find it."), ...called("find_loan", "{}", "7"), said("Found.")];
  const four = [...withCall, ...turn(), ...turn(), ...turn(), ...turn()];
  expect(condition(progress(four))).toBeUndefined();
  expect(condition(progress([...four, ...turn()]))?.stopReason).toBe("max_no_tool_turns");
  expect(condition(progress([...four, ...withCall]))).toBeUndefined();
  const fromTheStart = Array.from({ length: 5 }, turn).flat();
  expect(condition(progress(fromTheStart.slice(2)))).toBeUndefined();
  expect(condition(progress(fromTheStart))?.stopReason).toBe("max_no_tool_turns");
});

test("the same call with the same result counts, across turns; another call, argument or result breaks the row", () => {
  const condition = createStopPolicy({ monitor_max_repeated_calls: 3 });
  const same = () => called("find_loan", '{"id":7}', "busy");
  const row = [...same(), said("Again?"), asked("Yes."), ...same(), ...same()];
  expect(condition(progress(row, { turnEnded: false }))).toEqual({
    success: false,
    stopReason: "repeated_calls",
    blame: "agent",
  });
  for (const other of [
    called("renew_loan", '{"id":7}', "busy"),
    called("find_loan", '{"id":8}', "busy"),
    called("find_loan", '{"id":7}', "free"),
  ]) {
    expect(condition(progress([...same(), ...same(), ...other]))).toBeUndefined();
    expect(condition(progress([...same(), ...other, ...same(), ...same()]))).toBeUndefined();
  }
});

test("tool errors add up over the whole dialogue", () => {
  const error = () => called("find_loan", "{}", "no", true);
  const fine = called("find_loan", "{}", "7");
  expect(createStopPolicy({ monitor_max_tool_errors: 2 })(progress([...error(), ...fine]))).toBeUndefined();
  expect(createStopPolicy({ monitor_max_tool_errors: 2 })(progress([...error(), ...fine, ...error()]))).toEqual({
    success: false,
    stopReason: "too_many_tool_errors",
    blame: "agent",
    message: "2 tool errors",
  });
});

test("tokens and dollars of all parties count, rejected replies and verdicts included", () => {
  const usage = { ...NO_USAGE, inputTokens: 40, outputTokens: 10, costUsd: 0.5 };
  const entries: Entry[] = [
    said("Hi", { usage }),
    said("", { by: "user", usage, rejected: "user_empty" }),
    { type: "verdict", stop: false, reason: "", usage, at },
  ];
  expect(createStopPolicy({ max_rollout_tokens: 150 })(progress(entries))).toBeUndefined();
  expect(createStopPolicy({ max_rollout_tokens: 149 })(progress(entries))).toMatchObject({
    success: false,
    stopReason: "token_budget",
  });
  expect(createStopPolicy({ max_rollout_cost: 1.5 })(progress(entries))).toBeUndefined();
  expect(createStopPolicy({ max_rollout_cost: 1.4 })(progress(entries))).toMatchObject({
    success: false,
    stopReason: "cost_budget",
  });
});

test("the time limit fires in the middle of a turn too", () => {
  const late = progress([], { turnEnded: false, elapsedMs: 5001 });
  expect(createStopPolicy({ max_rollout_seconds: 5 })(late)).toMatchObject({
    success: false,
    stopReason: "time_limit",
  });
  expect(createStopPolicy({ max_rollout_seconds: 5 })(progress([], { elapsedMs: 5000 }))).toBeUndefined();
});

test("a farewell in the agent's answer is a completion phrase; the user's own, or a plain answer, is not", () => {
  const condition = createStopPolicy({ monitor_rule_detection: true });
  for (const text of [
    "All done. Have a great day!",
    "Goodbye!",
    "Thank you for contacting the library.",
    "Everything is taken care of.",
    "好的，祝您生活愉快！",
  ]) {
    expect(condition(progress([said(text)])), text).toMatchObject({ success: true, stopReason: "rule_detected" });
  }
  expect(condition(progress([said("It is due on February 10. Shall I renew it?")]))).toBeUndefined();
  expect(condition(progress([asked("Goodbye!"), said("One moment.")]))).toBeUndefined();
  expect(condition(progress([said("Goodbye!")], { turnEnded: false }))).toBeUndefined();
});
