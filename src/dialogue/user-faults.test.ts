import { expect, test } from "vitest";
import { findUserFault } from "./user-faults.ts";

const reply = (content: string, finish: "stop" | "length" = "stop") => ({ content, toolCalls: [], finish });

test("ordinary user messages pass, greetings, short echoes and questions among them", () => {
  const last = "Your loan is due on February 10. Shall I renew it?";
  for (const text of [
    "Yes.",
    "Hello, can you help me with my loan?",
    "Renew it, please. Is there anything else you need from me?",
    "I was told: how soon can it be renewed?",
    "My agent: a friend of mine who does this for me.",
    '{"title": "Middlemarch"} is what the app shows.',
    "Thanks! ###STOP###",
    "###STOP###",
  ]) {
    expect(findUserFault(reply(text), last), text).toBeUndefined();
  }
  expect(findUserFault(reply("OK"), "OK")).toBeUndefined();
});

test("an empty message is a fault, and so is one of blanks", () => {
  expect(findUserFault(reply(""), undefined)).toBe("user_empty");
  expect(findUserFault(reply(" \n "), undefined)).toBe("user_empty");
});

test("the agent's last message said back is a fault, whatever its case and spacing, with a token or without", () => {
  const last = "Your loan is due on\nFebruary 10.";
  expect(findUserFault(reply("your loan is  due on February 10."), last)).toBe("user_repeats_agent");
  expect(findUserFault(reply("Your loan is due on February 10. ###STOP###"), last)).toBe("user_repeats_agent");
});

test("speaking as the assistant is a fault", () => {
  for (const text of [
    "Assistant: your loan has been renewed.",
    "Sure! How can I help you today?",
    "It is renewed. Is there anything else I can help you with?",
    "I'd be happy to assist you with that.",
    "As an AI, I have no library card.",
  ]) {
    expect(findUserFault(reply(text), undefined), text).toBe("user_speaks_as_assistant");
  }
});

test("a tool call is a fault, made as one or written as text", () => {
  expect(findUserFault({ content: "", toolCalls: [{}], finish: "tool-calls" }, undefined)).toBe("user_calls_tool");
  for (const text of [
    '<tool_call>{"name": "renew_loan"}</tool_call>',
    '{"name": "renew_loan", "arguments": {"id": 7}}',
    '```json\n{"function": "renew_loan", "parameters": {}}\n```',
    '<function=renew_loan>{"id": 7}</function>',
  ]) {
    expect(findUserFault(reply(text), undefined), text).toBe("user_calls_tool");
  }
});

test("a message that the token limit cut is a fault, unless it ends the dialogue", () => {
  expect(findUserFault(reply("I would like to ren", "length"), undefined)).toBe("user_truncated");
  expect(findUserFault(reply("", "length"), undefined)).toBe("user_truncated");
  expect(findUserFault(reply("Thanks ###STOP### and by the w", "length"), undefined)).toBeUndefined();
});
