// Whole rollouts, from a config to the records in a run folder.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../src/config/index.ts";
import {
  canonicalJson,
  contentHash,
  END_TOKENS,
  type ModelClient,
  type ModelRequest,
  NO_USAGE,
  type PlayedCall,
  type Query,
  RolloutError,
  type RunEvent,
  type StateChanges,
  type Trajectory,
} from "../src/core/index.ts";
import { bundledFolder, type Domain, expectedState, loadDomain, openQueryFiles } from "../src/domains/index.ts";
import { withoutVolatile } from "../src/domains/play-plan.ts";
import { FAILURES, perform } from "../src/models/scripted/performance.ts";
import {
  always,
  call,
  calls,
  createTickingClock,
  readRecords,
  run,
  type ScriptedModel,
  STOP,
  scripted,
  temporaryFolder,
} from "./support/play.ts";

const PORTAL = "StudentAcademicPortal";
const search = call("search_courses", { term: "2026SP" });

/** One query of the portal with the models given here. */
async function playOne(config: Config, agent: ModelClient, user?: ModelClient, judge?: ModelClient) {
  const models = { "test/agent": agent, ...(user && { "test/user": user }), ...(judge && { "test/judge": judge }) };
  const { records, result, events } = await run({
    config: { datasets: [PORTAL], agent_model: "test/agent", user_model: "test/user", ...config },
    models,
    patch: { ids: ["sap-001"] },
    options: { clock: createTickingClock() },
  });
  return { record: records[0] as Trajectory, records, result, events };
}

describe("every stop condition is switched on by its key", () => {
  const priced = { content: "Yes?", usage: { ...NO_USAGE, inputTokens: 90, outputTokens: 10, costUsd: 0.01 } };
  const verdict = scripted('{"stop": true, "reason": "nothing is left"}');
  const cases: [string, Config, ScriptedModel, string, boolean, number][] = [
    ["max_turns", { max_turns: 3 }, always("Yes?"), "max_turns", true, 3],
    ["max_steps_per_turn", { max_steps_per_turn: 2 }, always(search), "max_steps", false, 1],
    ["monitor_max_no_tool_turns", { monitor_max_no_tool_turns: 2 }, always("Yes?"), "max_no_tool_turns", true, 2],
    ["its default of 5 turns without a tool call", {}, always("Yes?"), "max_no_tool_turns", true, 5],
    [
      "only turns without a tool call",
      { monitor_max_no_tool_turns: 2 },
      scripted(search, "Found.", "Yes?", "Yes?"),
      "max_no_tool_turns",
      true,
      3,
    ],
    ["monitor_max_repeated_calls", { monitor_max_repeated_calls: 3 }, always(search), "repeated_calls", false, 1],
    ["its default of 5 repeated calls", {}, always(search), "repeated_calls", false, 1],
    [
      "monitor_max_tool_errors",
      { monitor_max_tool_errors: 2 },
      scripted(call("a"), call("b")),
      "too_many_tool_errors",
      false,
      1,
    ],
    ["monitor_rule_detection", { monitor_rule_detection: true }, always("Goodbye!"), "rule_detected", true, 1],
    [
      "monitor_use_llm_judge",
      { monitor_use_llm_judge: true, monitor_judge_model: "test/judge" },
      always("Yes?"),
      "llm_judge",
      true,
      1,
    ],
    ["max_rollout_tokens", { max_rollout_tokens: 250 }, always(priced), "token_budget", false, 3],
    ["max_rollout_cost", { max_rollout_cost: 0.015 }, always(priced), "cost_budget", false, 2],
    ["max_rollout_seconds", { max_rollout_seconds: 5 }, always(search), "time_limit", false, 1],
  ];
  test.each(cases)("%s", async (_key, config, agent, stopReason, success, turns) => {
    const { record } = await playOne(config, agent, always("Go on."), verdict);
    expect(record).toMatchObject({ success, metadata: { stop_reason: stopReason, total_turns: turns } });
  });
});

test("the monitor's conditions are off with enable_monitor: false", async () => {
  const user = always("Go on.");
  const silent = await playOne({ enable_monitor: false, max_turns: 8 }, always("Yes?"), user);
  expect(silent.record.metadata).toMatchObject({ stop_reason: "max_turns", total_turns: 8 });
  const calling = await playOne({ enable_monitor: false }, always(search), user);
  expect(calling.record.metadata).toMatchObject({ stop_reason: "max_steps", tool_call_count: 11 });
});

test("farewells and tool errors end nothing unless a key asks for it", async () => {
  const agent = scripted(calls(call("a"), call("b"), call("c"), call("d")), "Goodbye!", "Yes?");
  const { record } = await playOne({}, agent, scripted("One more thing.", STOP));
  expect(record.metadata).toMatchObject({ stop_reason: "user_stop", tool_error_count: 4, total_turns: 2 });
});

test("a single turn needs no user model, and its record names none", async () => {
  const { record } = await playOne({ max_turns: 1 }, scripted(search, "Two sections are open."));
  expect(record).toMatchObject({ success: true, metadata: { stop_reason: "agent_done", total_turns: 1 } });
  expect(record.metadata.models).toEqual({ agent: "test/scripted" });
});

test("turns count what the agent is asked to answer: not text next to a token, not what was rejected or filtered", async () => {
  const beside = await playOne({}, always("Yes?"), scripted("", "Linear Algebra.", `Thanks! ${STOP}`));
  expect(beside.record.metadata.total_turns).toBe(2);
  expect(beside.record.messages.at(-1)).toEqual({ role: "user", content: "Thanks!" });
  const filtered = await playOne({}, always("Yes?"), scripted({ content: "…", finish: "content-filter" }));
  expect(filtered.record).toMatchObject({
    success: false,
    metadata: { stop_reason: "content_filter", blame: "user", total_turns: 1 },
  });
});

test("tool calls count as emitted: unknown, malformed, invalid, cut and with tools off", async () => {
  const bad = calls(search, call("serach_courses"), call("search_courses", "{"), call("search_courses", {}));
  const agent = scripted(bad, call("search_courses", { term: "2026FA" }));
  const { record } = await playOne({ max_steps_per_turn: 1 }, agent, scripted());
  expect(record.metadata).toMatchObject({
    stop_reason: "max_steps",
    blame: "agent",
    tool_call_count: 5,
    tool_error_count: 3,
  });
  expect(record.metadata.faults.map(({ type }) => type)).toEqual([
    "unknown_tool",
    "malformed_arguments",
    "invalid_arguments",
    "calls_with_tools_off",
  ]);
  const cut = await playOne({}, scripted({ ...search, finish: "length" }), scripted());
  expect(cut.record.metadata).toMatchObject({ stop_reason: "truncated_reply", tool_call_count: 1 });
});

test("a user that fails three times is on the record with all it said", async () => {
  const { record } = await playOne({}, always("Yes?"), scripted("", "Assistant: done.", "How can I help you?"));
  expect(record).toMatchObject({ success: false, metadata: { stop_reason: "user_fault", blame: "user" } });
  expect(record.metadata.faults).toMatchObject([
    { type: "user_empty", content: "" },
    { type: "user_speaks_as_assistant", content: "Assistant: done." },
    { type: "user_speaks_as_assistant", content: "How can I help you?" },
  ]);
});

test("a full context ends the rollout as data; infrastructure ends only in failures.jsonl", async () => {
  const full = new RolloutError("agent", "too long", { stopReason: "context_overflow" });
  const overflow = await playOne({}, scripted(search, full), scripted());
  expect(overflow.record).toMatchObject({
    success: false,
    metadata: { stop_reason: "context_overflow", blame: "agent", tool_call_count: 1 },
  });
  const down = await playOne({}, scripted(search, new RolloutError("infrastructure", "down")), scripted());
  expect(down.records).toEqual([]);
  expect(down.result).toMatchObject({ finished: 0, failed: 1 });
  const failures = readRecords<{ error: string; entries: number }>(join(down.result.folder, "failures.jsonl"));
  expect(failures).toMatchObject([{ error: "down", entries: 2 }]);
});

test("what was really sent, prompt and tools, is kept by content hash and named on the record", async () => {
  const agent = scripted("Two sections are open.");
  const { record, result } = await playOne({ max_turns: 1 }, agent);
  const kept = readRecords<{ hash: string; content: unknown }>(join(result.folder, "prompts.jsonl"));
  const content = (hash: string) => kept.find((prompt) => prompt.hash === hash)?.content;
  expect(content(record.metadata.system_hash)).toBe(agent.requests[0]?.system);
  const tools = content(record.metadata.tools_hash) as { function: { name: string } }[];
  expect(tools.map((tool) => tool.function.name)).toEqual(agent.requests[0]?.tools.map((tool) => tool.name));
});

test.each(["wrong_tool", "no_tool"] as const)("in %s the agent's own tools are not there", async (mode) => {
  const agent = scripted(search, "I can't help with that.");
  const { record } = await playOne({ mode }, agent, scripted("Too bad. ###OUT-OF-SCOPE###"));
  const offered = agent.requests[0]?.tools.map((tool) => tool.name) ?? [];
  expect(offered.length > 0).toBe(mode === "wrong_tool");
  expect(offered).not.toContain("search_courses");
  expect(record.metadata).toMatchObject({ mode, stop_reason: "user_out_of_scope", tool_error_count: 1 });
  expect(record.metadata.final_state_hash).toBe(contentHash({}));
});

test.each(["wrong_tool", "no_tool"] as const)(
  "in %s the prompt that is sent and kept has no parts for tools",
  async (mode) => {
    const sent = async (config: Config) => {
      const agent = scripted("I can't do that here.");
      const { record, result } = await playOne({ max_turns: 1, ...config }, agent);
      const kept = readRecords<{ hash: string; content: unknown }>(join(result.folder, "prompts.jsonl"));
      const { system } = agent.requests[0] as ModelRequest;
      expect(kept.find(({ hash }) => hash === record.metadata.system_hash)?.content).toBe(system);
      return system;
    };
    const own = { datasets: { [PORTAL]: { agent: { system_prompt: "Rules: {policy}" } } } };
    const [positive, negative, replaced] = [await sent({}), await sent({ mode }), await sent({ mode, ...own })];
    expect(positive).toContain("## Tools\n\n### authorize_student");
    expect(negative).not.toContain("by calling tools");
    expect(negative.slice(negative.indexOf("# Policy"))).not.toMatch(/## Tools|### /);
    const policy = negative.split("# Policy\n\n")[1] as string;
    expect(policy).toContain("## Identity");
    expect(replaced).toBe(`Rules: ${policy}`);
  },
);

test("wrong_tool with nothing to offer shows before anything is written; a query may bring its own tools", async () => {
  const offices = `${PORTAL}_StudentFinancialServices_StudentHealthServices`;
  const path = join(temporaryFolder(), "own.jsonl");
  const tools = [{ type: "function", function: { name: "order_pizza", parameters: {} } }];
  const queries = [
    { id: "own", query: "Hi", tools },
    { id: "bare", query: "Hi" },
  ];
  writeFileSync(path, queries.map((query) => JSON.stringify(query)).join("\n"));
  const datasets = { Offices: { mcp_domain: offices, path, mode: "wrong_tool" } } as const;
  const agent = scripted("I can't do that here.");
  const playing = (limit: number, folder: string) =>
    run({
      config: { datasets, agent_model: "test/agent", max_turns: 1, limit },
      models: { "test/agent": agent },
      folder,
    });
  const unwritten = join(temporaryFolder(), "run");
  const refused = expect(playing(2, unwritten)).rejects;
  await refused.toMatchObject({ name: "UsageError", location: { file: path, line: 2 } });
  expect(existsSync(unwritten)).toBe(false);
  const { records } = await playing(1, join(temporaryFolder(), "run"));
  expect(records.map(({ id }) => id)).toEqual(["own"]);
  expect(agent.requests[0]?.tools.map(({ name }) => name)).toEqual(["order_pizza"]);
});

describe("scripted models in negative modes", () => {
  const playAll = (mode: "wrong_tool" | "no_tool", agent: string) =>
    run({ config: { datasets: [PORTAL], mode, agent_model: agent, user_model: "scripted/user", max_workers: 8 } });

  test.each(["wrong_tool", "no_tool"] as const)(
    "in %s a flawless agent refuses in words, and the user ends it",
    async (mode) => {
      const { records } = await playAll(mode, "scripted/agent");
      expect(records.every(({ success, metadata }) => success && metadata.tool_call_count === 0)).toBe(true);
      const lasts = records.map(({ messages }) => messages.findLast(({ role }) => role === "assistant")?.content);
      expect(new Set(lasts).size).toBeGreaterThanOrEqual(8);
      expect(new Set(records.map(({ metadata }) => metadata.total_turns))).toEqual(new Set([1, 2]));
      const reasons = new Set(records.map(({ metadata }) => metadata.stop_reason));
      expect(reasons).toEqual(new Set(Object.values(END_TOKENS)));
    },
  );

  test("below skill 1 some call a tool of the other domain, which answers with an error", async () => {
    const { records } = await playAll("wrong_tool", "scripted/agent?skill=0");
    const called = records.filter(({ metadata }) => metadata.tool_call_count > 0);
    expect(called.length).toBeGreaterThan(0);
    expect(called.length).toBeLessThan(records.length);
    for (const { metadata } of called) expect(metadata).toMatchObject({ tool_call_count: 1, tool_error_count: 1 });
  });
});

const REGISTER = [
  call("authorize_student", { student_id: "S1007", date_of_birth: "2004-04-09" }),
  call("register_for_course", { section_id: "MATH-230-26SP-1", confirm: true }),
  call("list_enrollments", { term: "2026SP" }),
  "You are registered.",
];
const portal = { datasets: [PORTAL], agent_model: "test/agent", user_model: "test/user" };

test("rollouts of one query, played at once, never see each other's writes", async () => {
  const models = { "test/agent": scripted(...REGISTER), "test/user": scripted(STOP) };
  const { records } = await run({
    config: { ...portal, max_workers: 4 },
    models,
    patch: { ids: ["sap-001"], rollouts: 4 },
  });
  expect(records.map(({ id }) => id).sort()).toEqual(["sap-001", "sap-001#1", "sap-001#2", "sap-001#3"]);
  const results = records.map((record) => record.messages.flatMap((m) => (m.role === "tool" ? [m.content] : [])));
  const created = results.map(([, registered]) => JSON.parse(registered as string).enrollment_id as string);
  expect(new Set(created).size).toBe(4);
  for (const [index, [, , listed]] of results.entries()) {
    const seen = created.filter((id) => listed?.includes(id));
    expect(seen).toEqual([created[index]]);
  }
});

test("no model is asked before the journal has everything that was said and returned so far", async () => {
  const folder = temporaryFolder();
  const inner = scripted(...REGISTER);
  const found: number[] = [];
  const agent: ModelClient = {
    id: inner.id,
    complete: (request, signal) => {
      const events = readRecords<RunEvent>(join(folder, "journal.jsonl"));
      found.push(events.filter(({ type }) => type === "entry-end").length);
      return inner.complete(request, signal);
    },
  };
  const models = { "test/agent": agent, "test/user": scripted(STOP) };
  await run({ config: portal, models, folder, patch: { ids: ["sap-001"] } });
  expect(found).toEqual([0, 2, 4, 6]);
});

/** A run of sap-001 that was parked, with this many entries in its journal; returns its folder. */
async function parkedAfter(entries: number) {
  const folder = temporaryFolder();
  const park = new AbortController();
  const models = { "test/agent": scripted(...REGISTER), "test/user": scripted(STOP) };
  const { records, result } = await run({
    config: portal,
    models,
    folder,
    patch: { ids: ["sap-001"] },
    options: {
      park: park.signal,
      onEvent: (event) => event.type === "entry-end" && event.index + 1 === entries && park.abort(),
    },
  });
  expect(records).toEqual([]);
  expect(result).toMatchObject({ left: 1, stoppedBy: "interrupt" });
  cutJournal(join(folder, "journal.jsonl"), entries);
  return folder;
}

/** As after a kill: a reply and what its tools returned are written together where tools are quick. */
function cutJournal(journal: string, entries: number): void {
  const isKept = (event: RunEvent) => event.type !== "entry-end" || event.index < entries;
  const kept = readRecords<RunEvent>(journal).filter(isKept);
  writeFileSync(journal, kept.map((event) => `${JSON.stringify(event)}\n`).join(""));
}

async function resumed(folder: string) {
  const agent = scripted(...REGISTER);
  const models = { "test/agent": agent, "test/user": scripted(STOP) };
  return { agent, ...(await run({ config: portal, models, folder, patch: { ids: ["sap-001"] } })) };
}

// four agent replies with three tool results between them, and the user's last word
test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "the first %i entries on record are not asked for again, and their state is as it was",
  async (entries) => {
    const whole = await resumed(temporaryFolder());
    const { agent, records, events } = await resumed(await parkedAfter(entries));
    expect(agent.requests.map(({ origin }) => origin.position)).toEqual([0, 1, 2, 3].slice(Math.ceil(entries / 2)));
    expect(canonical(records)).toEqual(canonical(whole.records));
    expect(events).toContainEqual(expect.objectContaining({ type: "rollout-start", continued: entries }));
  },
);

test("where a tool now answers otherwise than on record, the rollout starts over and says so", async () => {
  const folder = await parkedAfter(5);
  changeResult(join(folder, "journal.jsonl"));
  const { agent, records, events } = await resumed(folder);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "run-note", message: expect.stringContaining("starts over") }),
  );
  expect(agent.requests.map(({ origin }) => origin.position)).toEqual([0, 1, 2, 3]);
  const whole = await resumed(temporaryFolder());
  expect(canonical(records)).toEqual(canonical(whole.records));
});

/** As if the second tool call had been answered differently. */
function changeResult(journal: string): void {
  const events = readRecords<RunEvent>(journal).map((event) => {
    if (event.type !== "entry-end" || event.index !== 3) return event;
    return { ...event, entry: { ...event.entry, content: '{"error":"The section is full"}' } };
  });
  writeFileSync(journal, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
}

const folder = bundledFolder();
const datasets = [...folder.list("single"), ...folder.list("cross")].filter((files) => files.queryFiles.length > 0);
const everything: Config = { datasets: datasets.map((files) => files.name), max_workers: 64 };

test("at skill 1 every bundled query reaches its expected state and ends with its own token", async () => {
  const { records, result } = await run({ config: everything });
  expect(result).toMatchObject({ failed: 0, left: 0 });
  const played = await replayed(records);
  expect(played.length).toBeGreaterThanOrEqual(75);
  for (const { record, query, state, expected } of played) {
    expect(state, record.id).toEqual(expected);
    const token = Object.keys(END_TOKENS).find((known) => query.taskInfo.plan?.at(-1)?.user?.includes(known));
    expect(record, record.id).toMatchObject({
      success: true,
      metadata: { scripted: true, faults: [], stop_reason: END_TOKENS[token as keyof typeof END_TOKENS] },
    });
    expect(JSON.stringify(record.messages), record.id).not.toContain("{{");
  }
});

test("at skill 0.7 the agent errs in all its ways, and only a failure for good misses the expected state", async () => {
  const { records, result } = await run({ config: { ...everything, agent_model: "scripted/agent?skill=0.7" } });
  expect(result).toMatchObject({ failed: 0, left: 0 });
  const failures = new Set<string>();
  const faults = new Set<string>();
  for (const { record, query, domain, state, expected } of await replayed(records)) {
    const { failure, slips } = perform(query.taskInfo.plan ?? [], {
      skill: 0.7,
      seed: record.metadata.seed,
      tools: domain.toolbox.tools,
      wireName: (name) => domain.toolbox.resolve(name)?.spec.name ?? name,
    });
    expect(JSON.stringify(record.messages), record.id).not.toContain("{{");
    expect(record.metadata.tool_error_count, record.id).toBeGreaterThanOrEqual(slips);
    for (const fault of record.metadata.faults) faults.add(fault.type);
    if (!failure) expect(state, record.id).toEqual(expected);
    else failures.add(failure);
    if (failure === "stops_early" || failure === "malformed_json") {
      if (canonicalJson(expected) !== "{}") expect(state, record.id).not.toEqual(expected);
    }
  }
  expect(failures).toEqual(new Set(FAILURES));
  expect(faults).toEqual(new Set(["unknown_tool", "malformed_arguments", "invalid_arguments"]));
});

test("two runs of one plan are equal in canonical form, with 1 worker and with 64; another seed differs", async () => {
  const config = { ...everything, agent_model: "scripted/agent?skill=0.7" };
  const one = await run({ config: { ...config, max_workers: 1 } });
  const many = await run({ config });
  expect(canonical(many.records)).toEqual(canonical(one.records));
  const other = await run({ config: { ...config, seed: 1 } });
  expect(canonical(other.records)).not.toEqual(canonical(one.records));
});

/** Sorted by key, without timings. */
function canonical(records: Trajectory[]): string[] {
  return records
    .map(({ metadata: { timings: _, ...metadata }, ...record }) => canonicalJson({ ...record, metadata }))
    .sort();
}

type Replayed = { record: Trajectory; query: Query; domain: Domain; state: StateChanges; expected: StateChanges };

/** Executes each record's own calls again: what they leave behind, next to what its query expects. */
async function replayed(records: Trajectory[]): Promise<Replayed[]> {
  const all: Replayed[] = [];
  for (const files of datasets) {
    const domain = await loadDomain(files);
    const queries = openQueryFiles(files.queryFiles);
    for (const [index, id] of queries.ids.entries()) {
      const record = records.find((one) => one.dataset === files.name && one.query_id === id) as Trajectory;
      const { state, played } = await playAgain(domain, record);
      expect(contentHash(state), record.id).toBe(record.metadata.final_state_hash);
      const query = queries.load(index);
      const expected = expectedState(query, played) as StateChanges;
      all.push({ record, query, domain, state: withoutVolatile(state, domain.volatile), expected });
    }
  }
  return all;
}

async function playAgain(domain: Domain, record: Trajectory): Promise<{ state: StateChanges; played: PlayedCall[] }> {
  const environment = await domain.openEnvironment({ seed: record.metadata.seed });
  const played: PlayedCall[] = [];
  for (const message of record.messages) {
    for (const made of message.role === "assistant" ? (message.tool_calls ?? []) : []) {
      const { content } = await environment.call({ id: made.id, ...made.function }, new AbortController().signal);
      const named = domain.toolbox.resolve(made.function.name);
      // a slip is not a source for references, as in the scripted models
      if (named && !made.id.endsWith("x")) played.push({ name: `${named.server}.${named.tool}`, content });
    }
  }
  return { state: await environment.state(), played };
}
