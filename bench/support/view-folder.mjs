// A run folder of whole dialogues, as large as wanted: manifest, records, journal, scores. Words differ from record to record.
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const DATASETS = ["Desk", "Loans", "Rooms", "Fees"];
const PER_QUERY = 4;
const TURNS = 8;
const START = Date.parse("2026-03-01T00:00:00Z");

/** The whole run: every rollout has ended; `turns`: so many at most, for a run of a million. */
export function writeRun(run, rollouts, turns) {
  const writer = openRun(run, rollouts, turns);
  for (let n = 0; n < rollouts; n++) writer.add(n);
  writer.end();
}

/** A run that goes on as rollouts are added to it; `flush` writes what was added. */
export function openRun(run, rollouts, turns) {
  mkdirSync(join(run, "trajectories"), { recursive: true });
  const outputs = Object.fromEntries(DATASETS.map((name) => [name, join(run, "trajectories", `${name}.jsonl`)]));
  const manifest = {
    ...{ format_version: 2, program_version: "0.1.0", node_version: process.version, seed: 0 },
    ...{ created_at: timeOf(0), updated_at: timeOf(0), config: {} },
    datasets: Object.fromEntries(
      DATASETS.map((name) => [name, { output: outputs[name], parts: { "agent model": "bench/agent" }, base: "b" }]),
    ),
  };
  writeFileSync(join(run, "manifest.json"), JSON.stringify(manifest));
  writeFileSync(join(run, "prompts.jsonl"), "");
  writeFileSync(join(run, "failures.jsonl"), "");
  const files = Object.fromEntries(DATASETS.map((name) => [name, createWriter(outputs[name])]));
  const scores = createWriter(join(run, "scores.jsonl"));
  const events = createWriter(join(run, "journal.jsonl"));
  events.add({
    ...{ type: "run-start", version: 2, at: timeOf(0), folder: run, programVersion: "0.1.0" },
    datasets: DATASETS.map((name, at) => ({
      ...{ name, planned: Math.ceil((rollouts - at) / DATASETS.length), kept: 0, continuing: 0 },
      ...{ retrying: 0, givenUp: 0, later: 0 },
    })),
  });
  const all = [...Object.values(files), scores, events];
  return {
    /** How many entries it has. */
    add(n) {
      const record = recordOf(n, turns);
      files[record.dataset].add(record);
      for (const score of scoresOf(record, n)) scores.add(score);
      for (const event of eventsOf(record, n)) events.add(event);
      return record.messages.length;
    },
    flush() {
      for (const writer of all) writer.flush();
    },
    end() {
      events.add({ type: "run-end", at: timeOf(rollouts), finished: rollouts, failed: 0, left: 0 });
      for (const writer of all) writer.close();
    },
  };
}

function timeOf(n) {
  return new Date(START + n * 50).toISOString();
}

function keyOf(n) {
  const query = Math.floor(n / DATASETS.length / PER_QUERY);
  return {
    dataset: DATASETS[n % DATASETS.length],
    queryId: `${DATASETS[n % DATASETS.length].toLowerCase()}-${String(query).padStart(6, "0")}`,
    rollout: Math.floor(n / DATASETS.length) % PER_QUERY,
  };
}

/** One in a hundred holds the word that the search looks for. */
const WORDS = ["window seat", "aisle seat", "reading room", "late fee", "card payment", "library pass", "door code"];

function recordOf(n, most) {
  const { dataset, queryId, rollout } = keyOf(n);
  const turns = most ? 1 + (n % most) : 4 + ((n * 7) % (TURNS * 2 - 7));
  const messages = Array.from({ length: turns }, (_, turn) => [
    {
      role: "user",
      content: `Please look at booking ${n}-${turn} for member M${n}: ${WORDS[(n + turn) % 7]}, please.`,
    },
    {
      ...{ role: "assistant", content: "" },
      reasoning_content: `The user wants booking ${n}-${turn} moved. The member must be looked up first, then the slot. ${"I check the rules again. ".repeat(8)}`,
      tool_calls: [
        {
          ...{ id: `call_${turn}_0`, type: "function" },
          function: { name: `desk_tool_${(n + turn) % 12}`, arguments: JSON.stringify({ member_id: `M${n}`, turn }) },
        },
      ],
    },
    {
      role: "tool",
      content: JSON.stringify({
        booking: {
          booking_id: `B${n}-${turn}`,
          member_id: `M${n}`,
          slot: `2026-03-${10 + turn}T10:00`,
          status: "open",
        },
        notes: `Seat ${(n * 7 + turn) % 97}, “window”, ${"paid by card; ".repeat(14)}`,
      }),
      tool_call_id: `call_${turn}_0`,
    },
    {
      role: "assistant",
      content: `Booking ${n}-${turn} is now on the ${10 + turn}th at ten. ${"Is there more? ".repeat(6)}`,
    },
  ]).flat();
  if (n % 100 === 7) messages.push({ role: "user", content: "Thanks. My Zanzibar trip is saved!" });
  const isEnded = n % 9 !== 0;
  return {
    ...{
      id: rollout === 0 ? queryId : `${queryId}#${rollout}`,
      query_id: queryId,
      rollout,
      dataset,
      domains: [dataset],
    },
    ...{ success: isEnded, messages },
    metadata: {
      ...{
        total_turns: turns,
        stop_reason: isEnded ? "user_stop" : "repeated_calls",
        blame: isEnded ? undefined : "agent",
      },
      ...{ tool_call_count: turns, tool_error_count: n % 3, tool_errors: [], mode: "positive" },
      usage: {
        agent: {
          calls: turns * 2,
          input_tokens: 900 * turns + (n % 500),
          output_tokens: 60 * turns,
          cached_tokens: 0,
          reasoning_tokens: 0,
          cost_usd: 0.002,
        },
        user: {
          calls: turns,
          input_tokens: 300 * turns,
          output_tokens: 20 * turns,
          cached_tokens: 0,
          reasoning_tokens: 0,
          cost_usd: 0.001,
        },
      },
      ...{ cost_usd: 0.003, models: { agent: "bench/agent", user: "bench/user" }, scripted: false, seed: n },
      ...{ fingerprint: "cbd88755c8b18d9c", system_hash: "s", tools_hash: "t", final_state_hash: "338c768ee4c56b8d" },
      ...{ faults: n % 20 === 0 ? [{ type: "empty_reply" }] : [], attempt: 1 },
      timings: { started_at: timeOf(n), ended_at: timeOf(n + 20), duration_ms: 1000 + ((n * 37) % 9000) },
    },
  };
}

function scoresOf({ id, dataset, query_id, rollout }, n) {
  const pass = (n * 13) % 10 < 7;
  const reason = pass ? "its effects are the reference's" : `desk_tool_3 {"member_id":"M${n}"} was never made`;
  const head = { id, dataset, query_id, rollout };
  const tail = { version: 2, record: "e51ce345ae4241cb", basis: "caf86b802bf24583" };
  return [
    { ...head, check: "actions", ...tail, pass, score: pass ? 1 : 0, reason, blame: pass ? undefined : "agent" },
    { ...head, check: "policy", ...tail, pass: true, score: 1, reason: "no rule is broken" },
  ];
}

function* eventsOf({ messages, metadata }, n) {
  const key = keyOf(n);
  const { attempt, fingerprint } = metadata;
  yield { type: "rollout-start", ...key, at: timeOf(n), attempt, fingerprint, continued: 0 };
  for (const [index, { role, content, reasoning_content, tool_calls }] of messages.entries()) {
    const at = timeOf(n + index);
    const usage = { inputTokens: 400 + index, outputTokens: 30, cachedTokens: 0, reasoningTokens: 0, costUsd: 0.0001 };
    const toolCalls = (tool_calls ?? []).map((call) => ({ id: call.id, ...call.function }));
    const entry =
      role === "tool"
        ? { type: "tool-result", callId: `call_${index}`, content, isError: false, at }
        : {
            type: "reply",
            by: role === "user" ? "user" : "agent",
            content,
            reasoning: reasoning_content,
            toolCalls,
            usage,
            finish: "stop",
            at,
          };
    yield { type: "entry-end", ...key, index, entry };
  }
  const outcome = { success: metadata.success, stopReason: metadata.stop_reason };
  yield { type: "rollout-end", ...key, at: timeOf(n + 20), attempt, fingerprint, outcome, entries: messages.length };
}

function createWriter(file) {
  const descriptor = openSync(file, "w");
  let parts = [];
  let size = 0;
  const flush = () => {
    writeSync(descriptor, parts.join(""));
    parts = [];
    size = 0;
  };
  return {
    flush,
    add(value) {
      const text = `${JSON.stringify(value)}\n`;
      parts.push(text);
      size += text.length;
      if (size > 1 << 20) flush();
    },
    close() {
      flush();
      closeSync(descriptor);
    },
  };
}
