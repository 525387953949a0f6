import { expect, test } from "vitest";
import { requestOf } from "../../test/support/model-server.ts";
import { call, openDesk, play, STOP, scripted } from "../../test/support/play.ts";
import type { Entry, Environment } from "../core/index.ts";
import { differsFromRecord, trustRecord, withRecord } from "./replay.ts";

const signal = new AbortController().signal;

async function record(): Promise<Entry[]> {
  const agent = scripted(call("renew_loan", { id: 7 }), "Renewed.");
  return (await play({ agent, user: scripted("Renew loan 7.", STOP) })).entries;
}

test("a model answers from the record by position, and only then is asked", async () => {
  const entries = await record();
  const model = scripted("never", "never", "new");
  const client = withRecord(model, entries, "agent");
  const at = (position: number) => {
    const request = requestOf();
    return client.complete({ ...request, origin: { ...request.origin, party: "agent", position } }, signal);
  };
  expect((await at(0)).toolCalls).toMatchObject([{ name: "renew_loan" }]);
  expect((await at(1)).content).toBe("Renewed.");
  expect(model.requests).toHaveLength(0);
  expect((await at(2)).content).toBe("new");
});

test("a tool's result that is not the recorded one is found, whatever differs in it", async () => {
  const result = (await record()).find((entry) => entry.type === "tool-result") as Extract<
    Entry,
    { type: "tool-result" }
  >;
  expect(differsFromRecord(result, { ...result, at: "later" })).toBe(false);
  for (const change of [{ content: "{}" }, { isError: true }, { callId: "other" }])
    expect(differsFromRecord({ ...result, ...change }, result)).toBe(true);
});

test("calls whose effects others share are taken from the record, and not made again", async () => {
  const entries = await record();
  const desk = openDesk();
  let made = 0;
  const shared: Environment = {
    ...desk,
    tools: desk.tools,
    isReadOnly: (name) => desk.isReadOnly(name),
    state: () => desk.state(),
    close: () => desk.close(),
    trust: () => true,
    call: async (toolCall, at) => {
      made++;
      return desk.call(toolCall, at);
    },
  };
  const recorded = entries.find((entry) => entry.type === "tool-result") as Extract<Entry, { type: "tool-result" }>;
  const trusting = trustRecord(shared, entries);
  const again = await trusting.call({ id: recorded.callId, name: recorded.name, arguments: '{"id":7}' }, signal);
  expect(again).toMatchObject({ content: recorded.content, isError: false });
  expect(made).toBe(0);
  await trusting.call({ id: "new", name: "find_loan", arguments: '{"id":7}' }, signal);
  expect(made).toBe(1);
});
