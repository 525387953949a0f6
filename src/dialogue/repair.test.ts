import { expect, test } from "vitest";
import { call, play, STOP, scripted } from "../../test/support/play.ts";
import type { Entry, Environment } from "../core/index.ts";
import { faultsOf, toMessages } from "./messages.ts";
import { repairReply, repairResult } from "./repair.ts";

const tools = (received: string[]): Environment => ({
  tools: [],
  isReadOnly: () => false,
  call: async (made) => {
    received.push(made.arguments);
    return { content: "cut \ud83d", isError: false, raw: "whole \udc00" };
  },
  state: async () => ({}),
  close: async () => {},
});

test("what models say and tools return enters without halves of characters, and is counted once", async () => {
  const received: string[] = [];
  const { entries } = await play({
    agent: scripted({ ...call("pay", '{"to":"\\ud83d"}'), reasoning: "hm \ud800" }, "Paid \ud83d."),
    user: scripted("Pay \udc00.", `Fine \ud83d\ude00 ${STOP}`),
    environment: tools(received),
  });
  expect(received).toEqual(['{"to":"\ufffd"}']);
  expect(entries).toMatchObject([
    { content: "Pay \ufffd.", repairedTexts: 1 },
    { reasoning: "hm \ufffd", toolCalls: [{ arguments: '{"to":"\ufffd"}' }], repairedTexts: 2 },
    { content: "cut \ufffd", raw: "whole \ufffd", isError: false, repairedTexts: 2 },
    { content: "Paid \ufffd.", repairedTexts: 1 },
    { content: `Fine 😀 ${STOP}` },
  ]);
  expect(faultsOf(entries, { repairedTexts: 1 })).toEqual([
    { type: "repaired_text", texts: "query 1, user 1, agent 3, tool 2" },
  ]);
  expect(JSON.stringify(toMessages([], entries))).not.toMatch(/\\ud/);
});

test("a record is played again as it is", async () => {
  const played = await play({
    agent: scripted(call("pay", '{"to":"\\ud83d"}'), "Paid \ud83d."),
    user: scripted("Pay \udc00.", STOP),
    environment: tools([]),
  });
  const journal = JSON.parse(JSON.stringify(played.entries)) as Entry[];
  expect(journal).toEqual(played.entries.map((entry) => JSON.parse(JSON.stringify(entry))));
  for (const entry of journal) {
    if (entry.type === "reply") expect(repairReply(entry)).toBe(entry);
    if (entry.type === "tool-result") expect(repairResult(entry)).toBe(entry);
  }
});

test("without halves nothing is counted", async () => {
  const { entries } = await play({ agent: scripted("Paid 😀."), user: scripted("Pay.", STOP) });
  expect(faultsOf(entries, {})).toEqual([]);
});
