// Every model row of the fault table, injected by the rehearsal server into whole runs. Infrastructure faults leave
// no trace in the dataset; a model's own mistakes are kept, labelled, and never silently asked for again.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isObject, parseJson, type Trajectory } from "../src/core/index.ts";
import { createScriptFinder } from "../src/domains/index.ts";
import { startMockServer } from "../src/models/index.ts";
import { canonical } from "./support/network-run.ts";
import { temporaryFolder } from "./support/play.ts";
import { callsIn, type Rehearsed, rehearse } from "./support/rehearse.ts";

const THREE = ["sfs-001", "sfs-002", "sfs-003"];
let clean: Rehearsed;
let cleanThree: Rehearsed;
const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  clean = await rehearse({ folder: join(folder, "one") });
  cleanThree = await rehearse({ ids: THREE, folder: join(folder, "three") });
  expect(only(clean).metadata).toMatchObject({ stop_reason: "user_stop", tool_error_count: 0, faults: [] });
});

/** Nothing in the dataset shows that there was trouble, and nothing failed. */
function expectUntouched(run: Rehearsed, retries: number): void {
  expect(canonical(run.records)).toEqual(canonical(clean.records));
  expect(run.failures).toEqual([]);
  expect(run.counts.asked).toBe(clean.counts.asked + retries);
}

/** One record, with as many replies as were asked of the server: nothing was silently generated again. */
function only(run: Rehearsed): Trajectory {
  expect(run.failures).toEqual([]);
  expect(run.records).toHaveLength(1);
  expect(callsIn(run.records)).toBe(run.counts.replied);
  return run.records[0] as Trajectory;
}

function texts(record: Trajectory, role: string): string[] {
  return record.messages.filter((message) => message.role === role).map((message) => message.content);
}

function callsOf(record: Trajectory): { id: string; name: string; arguments: string }[] {
  return record.messages.flatMap((message) =>
    message.role === "assistant" ? (message.tool_calls ?? []).map(({ id, function: f }) => ({ id, ...f })) : [],
  );
}

function answersOf(record: Trajectory): string[] {
  return record.messages.flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : []));
}

describe("infrastructure faults never enter the dataset", () => {
  test("a 429 is waited out for as many seconds as the server asks, and people see it", async () => {
    const run = await rehearse({ faults: "429:7@2" });
    expectUntouched(run, 1);
    expect(Math.max(...run.slept)).toBeGreaterThanOrEqual(7000);
    expect(run.events).toContainEqual(expect.objectContaining({ type: "endpoint-wait", seconds: 7 }));
  });

  test("a 429 that names a date is waited out until then", async () => {
    const run = await rehearse({ faults: "429:date@1" });
    expectUntouched(run, 1);
    expect(Math.max(...run.slept)).toBeGreaterThan(500);
    expect(Math.max(...run.slept)).toBeLessThanOrEqual(2000);
  });

  test("while one endpoint is waited for, its waiting is for all rollouts, and none is lost", async () => {
    const run = await rehearse({ faults: "429:3@1-4", ids: THREE, config: { max_workers: 3 } });
    expect(canonical(run.records)).toEqual(canonical(cleanThree.records));
    expect(run.counts.faults).toEqual({ "429": 4 });
  });

  test("a 500, a burst of 503, a reset connection and a body cut mid-JSON are tried again", async () => {
    const run = await rehearse({ faults: "500@2,503@4-6,reset@9,truncated@11" });
    expectUntouched(run, 6);
    expect(run.counts.faults).toEqual({ "500": 1, "503": 3, reset: 1, truncated: 1 });
  });

  test("a server that does not answer is given up after the whole-call limit, and asked again", async () => {
    const run = await rehearse({ faults: "hang@2", party: { timeout: 2 } });
    expectUntouched(run, 1);
  });

  test("a reply that drips is waited for within the limit, and asked for again beyond it", async () => {
    expectUntouched(await rehearse({ faults: "slow:200@2" }), 0);
    expectUntouched(await rehearse({ faults: "slow:8000@2", party: { timeout: 2 } }), 1);
  });

  test("a host without an address and a port without a server stop the run at the first call", async () => {
    for (const api_base of [`http://${"a".repeat(64)}.invalid/v1`, await closedUrl()]) {
      const run = rehearse({ entry: { api_base }, party: { max_retries: 2 } });
      await expect(run).rejects.toThrow(/openai\/scripted-user|openai\/scripted-agent cannot be used: no answer from/);
    }
  });

  test("a server that goes away later fails the rollouts, which have used up no attempt", async () => {
    const folder = temporaryFolder();
    const gone: { close?: () => Promise<void> } = {};
    const server = await startMockServer({
      findScript: createScriptFinder().find,
      onRequest: () => void (++asked === 3 && gone.close?.()),
    });
    let asked = 0;
    gone.close = () => server.close();
    const run = await rehearse({ entry: { api_base: server.url }, party: { max_retries: 1 }, folder });
    expect(run.failures).toMatchObject([{ id: "sfs-001", own: false, attempt: 1 }]);
    const resumed = await rehearse({ folder });
    expect(resumed.records).toMatchObject([{ metadata: { attempt: 1, stop_reason: "user_stop" } }]);
  });

  test("an endpoint that fails the same way for everyone trips the breaker: one line, and few requests", async () => {
    const run = await rehearse({
      faults: "500=1",
      ids: ["sfs-001", "sfs-002", "sfs-003", "sfs-004", "sfs-005", "sfs-006"],
      config: { max_workers: 6 },
      party: { max_retries: 20 },
    });
    expect(run.records).toEqual([]);
    expect(run.failures).toHaveLength(6);
    const first = run.events.find((event) => event.type === "endpoint-wait");
    expect(first).toMatchObject({ seconds: 30, reason: expect.stringContaining("failed (500)") });
    expect(run.counts.asked).toBeLessThan(40);
  });

  test("a 5xx that always comes back for one request fails that rollout only, and a resume tries it again", async () => {
    const folder = temporaryFolder();
    const run = await rehearse({ faults: "always500@2", ids: THREE, party: { max_retries: 3 }, folder });
    expect(run.failures).toMatchObject([{ id: "sfs-001", boundary: "infrastructure", attempt: 1 }]);
    expect(run.counts.faults).toEqual({ always500: 4 });
    const siblings = cleanThree.records.filter(({ id }) => id !== "sfs-001");
    expect(canonical(run.records)).toEqual(canonical(siblings));

    const resumed = await rehearse({ ids: THREE, party: { max_retries: 3 }, folder });
    expect(resumed.result).toMatchObject({ finished: 1, failed: 0 });
    const again = resumed.records.find(({ id }) => id === "sfs-001");
    expect(again?.metadata).toMatchObject({ attempt: 2, stop_reason: "user_stop" });
    expect(again?.messages).toEqual(clean.records[0]?.messages);
    // the reply before the fault was not paid for twice
    expect(resumed.counts.asked).toBe(clean.counts.asked - 1);
  });

  test("a run under seeded faults of all kinds gives the same records again, whatever the number of workers", async () => {
    const faults = "429=0.1,500=0.05,reset=0.05,malformed=0.1,schema=0.1,empty=0.05,user_empty=0.1,think=0.1";
    const one = await rehearse({ faults, ids: THREE, server: { seed: 3 } });
    const three = await rehearse({ faults, ids: THREE, server: { seed: 3 }, config: { max_workers: 3 } });
    expect(canonical(three.records)).toEqual(canonical(one.records));
    expect(three.counts).toEqual(one.counts);
    expect(Object.keys(one.counts.faults).length).toBeGreaterThan(4);
  });
});

describe("a model's mistakes are kept, labelled, and not rolled again", () => {
  test("a reply cut inside a tool call ends the rollout, and the cut call is not executed", async () => {
    const record = only(await rehearse({ faults: "cut@1" }));
    expect(record).toMatchObject({ success: false, metadata: { stop_reason: "truncated_reply", blame: "agent" } });
    expect(callsOf(record)).toHaveLength(1);
    expect(parseJson(callsOf(record)[0]?.arguments ?? "")).toBeUndefined();
    expect(answersOf(record)).toEqual([]);
  });

  test("malformed arguments are answered with an error; the record keeps them raw, the server gets valid JSON", async () => {
    const run = await rehearse({ faults: "malformed@2" });
    const record = only(run);
    const broken = callsOf(record).filter((call) => parseJson(call.arguments) === undefined);
    expect(broken).toHaveLength(1);
    expect(record.metadata).toMatchObject({ stop_reason: "user_stop", tool_error_count: 1 });
    expect(record.metadata.faults).toEqual([{ type: "malformed_arguments", call_id: broken[0]?.id }]);
    const sentBack = run.seen.flatMap(({ body }) => historyArguments(body));
    expect(sentBack.length).toBeGreaterThan(0);
    expect(sentBack.every((text) => isObject(parseJson(text)))).toBe(true);
  });

  test("an unknown tool is answered with the tools that exist, and a broken schema with the field", async () => {
    const unknown = only(await rehearse({ faults: "unknown_tool@1" }));
    expect(unknown.metadata).toMatchObject({ stop_reason: "user_stop", faults: [{ type: "unknown_tool" }] });
    expect(texts(unknown, "tool")[0]).toContain("verify_identity");
    const broken = only(await rehearse({ faults: "schema@1" }));
    expect(broken.metadata).toMatchObject({ stop_reason: "user_stop", faults: [{ type: "invalid_arguments" }] });
    expect(texts(broken, "tool")[0]).toContain("student_id");
    for (const { metadata } of [unknown, broken])
      expect(metadata.tool_call_count).toBe((clean.records[0]?.metadata.tool_call_count ?? 0) + 1);
  });

  test("an empty reply is asked for once more with the same context, and noted", async () => {
    const run = await rehearse({ faults: "empty@2" });
    const record = only(run);
    expect(record.metadata).toMatchObject({ stop_reason: "user_stop", faults: [{ type: "empty_reply", by: "agent" }] });
    expect(record.messages).toEqual(clean.records[0]?.messages);
    const asked = run.seen.filter(({ party }) => party === "agent");
    expect(asked[1]?.fault).toBe("empty");
    expect(asked[2]?.body).toBe(asked[1]?.body);
  });

  test("an agent that stays silent ends the rollout as empty_reply", async () => {
    const record = only(await rehearse({ faults: "empty@2-3" }));
    expect(record).toMatchObject({ success: false, metadata: { stop_reason: "empty_reply", blame: "agent" } });
  });

  test("a full context ends the rollout with its own label and is not tried again; its siblings go on", async () => {
    const run = await rehearse({ faults: "overflow@3", ids: THREE });
    expect(run.failures).toEqual([]);
    const record = run.records.find(({ id }) => id === "sfs-001");
    expect(record).toMatchObject({ success: false, metadata: { stop_reason: "context_overflow", blame: "agent" } });
    expect(run.counts.asked).toBe(3 + cleanThree.counts.asked - clean.counts.asked);
    const siblings = (records: Trajectory[]) => canonical(records.filter(({ id }) => id !== "sfs-001"));
    expect(siblings(run.records)).toEqual(siblings(cleanThree.records));
  });

  test("a refusal and a filtered reply end the rollout as content_filter, whoever spoke", async () => {
    for (const [faults, blame] of [
      ["refusal@3", "agent"],
      ["content_filter@1", "agent"],
      ["content_filter@2", "user"],
    ]) {
      const record = only(await rehearse({ faults }));
      expect(record).toMatchObject({ success: false, metadata: { stop_reason: "content_filter", blame } });
    }
  });

  test("a call written as text is never said to anybody: it is asked for once more, with a plain instruction", async () => {
    const record = only(await rehearse({ faults: "text_call@1" }));
    expect(JSON.stringify(record.messages)).not.toContain("<tool_call>");
    expect(record.metadata).toMatchObject({ stop_reason: "user_stop", tool_call_count: callsOf(only(clean)).length });
    expect(record.metadata.faults).toMatchObject([{ type: "text_call", by: "agent" }]);
    expect(record.metadata.faults[0]?.content).toContain("<tool_call>");
  });

  test("written as text twice, it ends the rollout with its own reason, and the run says what to do once", async () => {
    const run = await rehearse({ faults: "text_call=1", ids: THREE, config: { max_workers: 1 } });
    for (const { success, messages, metadata } of run.records) {
      expect({ success, metadata }).toMatchObject({
        success: false,
        metadata: { stop_reason: "text_call", blame: "agent" },
      });
      expect(JSON.stringify(messages)).not.toContain("<tool_call>");
    }
    const told = run.events.flatMap((event) => (event.type === "run-note" ? [event.message] : []));
    expect(told.filter((line) => line.includes("writes tool calls as text"))).toHaveLength(1);
    expect(told.join()).toContain("recover_text_calls: true");
  });

  test("a call written as text is taken for one where that was asked for", async () => {
    const record = only(await rehearse({ faults: "text_call@1", party: { recover_text_calls: true } }));
    expect(texts(record, "assistant").join("")).not.toContain("<tool_call>");
    expect(record.metadata.tool_call_count).toBe(clean.records[0]?.metadata.tool_call_count);
    expect(record.metadata.faults).toContainEqual(expect.objectContaining({ type: "recovered", by: "agent" }));
  });

  test.each(["duplicate_ids", "missing_ids"])(
    "%s: every call is answered, in call order, under an id of its own",
    async (kind) => {
      const record = only(await rehearse({ faults: `${kind}=1` }));
      const ids = callsOf(record).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(answersOf(record)).toEqual(ids);
      expect(callsOf(record).map(({ name }) => name)).toEqual(callsOf(only(clean)).map(({ name }) => name));
      expect(record.metadata.faults.every(({ type }) => type === "call_id_replaced")).toBe(true);
      expect(record.metadata.faults.length).toBeGreaterThan(1);
      expect(texts(record, "tool")).toEqual(texts(only(clean), "tool"));
    },
  );

  test("thinking inside the text is split off, for agent and user alike", async () => {
    const run = await rehearse({ faults: "think=1" });
    const record = only(run);
    expect(texts(record, "assistant")).toEqual(texts(only(clean), "assistant"));
    expect(texts(record, "user")).toEqual(texts(only(clean), "user"));
    const replies = record.messages.filter((message) => message.role === "assistant");
    expect(replies.every((message) => (message.reasoning_content ?? "") !== "")).toBe(true);
    expect(run.seen.every(({ body }) => !body.includes("<think>"))).toBe(true);
  });

  test("reasoning goes back within a turn where the model wants it, and nowhere else", async () => {
    const wanted = await rehearse({ entry: { reasoning: { send_back: true, field: "reasoning_content" } } });
    const back = wanted.seen.map(({ body }) => messagesOf(body));
    expect(back.flat().some((message) => typeof message.reasoning_content === "string")).toBe(true);
    for (const messages of back) {
      const turnStart = messages.findLastIndex(({ role }) => role === "user");
      expect(messages.slice(0, turnStart).every(({ reasoning_content }) => reasoning_content === undefined)).toBe(true);
    }
    const refused = await rehearse({ entry: { reasoning: { send_back: false } } });
    expect(refused.seen.every(({ body }) => !body.includes("reasoning_content"))).toBe(true);
    expect(only(refused).messages).toEqual(only(wanted).messages);
  });

  test("an empty and a role-swapped user turn are generated again before the agent sees them, and noted", async () => {
    const run = await rehearse({ faults: "user_empty@1,user_role_swap@2" });
    const record = only(run);
    expect(record.messages).toEqual(clean.records[0]?.messages);
    expect(record.metadata.faults).toMatchObject([
      { type: "user_empty", by: "user" },
      { type: "user_speaks_as_assistant", by: "user", content: expect.stringContaining("How can I help") },
    ]);
    const agentSaw = run.seen.filter(({ party }) => party === "agent").map(({ body }) => body);
    expect(agentSaw.every((body) => !body.includes("Of course! How can I help"))).toBe(true);
  });

  test("a user who never finds back into the role ends the rollout as user_fault", async () => {
    const record = only(await rehearse({ faults: "user_role_swap@1-3" }));
    expect(record).toMatchObject({ success: false, metadata: { stop_reason: "user_fault", blame: "user" } });
    expect(record.metadata.faults).toHaveLength(3);
  });
});

/** An address where a server used to be. */
async function closedUrl(): Promise<string> {
  const server = await startMockServer({ findScript: () => undefined });
  await server.close();
  return server.url;
}

function messagesOf(body: string): Record<string, unknown>[] {
  return (JSON.parse(body) as { messages: Record<string, unknown>[] }).messages;
}

function historyArguments(body: string): string[] {
  return messagesOf(body).flatMap(({ tool_calls }) =>
    ((tool_calls ?? []) as { function: { arguments: string } }[]).map((call) => call.function.arguments),
  );
}
