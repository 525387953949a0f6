// Contexts that fill in whole runs: what the server is sent, kills on the way, and what trainers get.
import { expect, test } from "vitest";
import { type Json, type JsonObject, joinSummary, SUMMARY_REQUEST, type Trajectory } from "../src/core/index.ts";
import { workFolder } from "./support/cli.ts";
import { completion, type Received, serveModel } from "./support/model-server.ts";
import { networkRun, notes, play, serveScripted } from "./support/network-run.ts";
import { readRecords } from "./support/play.ts";

const FULL = { context_limit: 5600, on_context_full: "summarise" } as const;
const withoutSummaries = ({ summaries: _, metadata, ...record }: Trajectory) => ({
  messages: record.messages,
  id: record.id,
  state: metadata.final_state_hash,
});
const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

test("dialogues that are summarised on the way make the same calls and end in the same state", async () => {
  const server = await serveScripted();
  const config = { limit: 12, max_workers: 4 };
  const plain = await play(networkRun(server.url, { config }));
  const summarised = await play(networkRun(server.url, { config: { ...config, ...FULL } }));
  // a script's summary keeps whole results, which is too much for a few
  const ended = summarised.records.filter(({ success }) => success);
  const made = ended.filter(({ summaries = [] }) => summaries.length > 0);
  expect(made.length).toBeGreaterThan(2);
  const others = plain.records.filter(({ id }) => ended.some((record) => record.id === id));
  expect(ended.map(withoutSummaries).sort(byId)).toEqual(others.map(withoutSummaries).sort(byId));
  for (const { summaries = [], messages, metadata } of made) {
    expect(metadata.models.summary).toBe("openai/scripted-agent");
    expect(metadata.usage.summary).toMatchObject({ calls: summaries.length });
    for (const { after } of summaries) expect(messages[after]?.role).toBe("assistant");
  }
});

test("a kill right after a summary costs nothing twice, and changes nothing", async () => {
  const asked: string[] = [];
  let onSummary = () => {};
  const server = await serveScripted({
    latency: { least: 20, most: 20 },
    onRequest: ({ body }) => {
      asked.push(body);
      if (body.includes(SUMMARY_REQUEST.slice(0, 40))) setTimeout(() => onSummary(), 25);
    },
  });
  const work = workFolder();
  const models = Object.fromEntries(
    ["scripted-agent", "scripted-user"].map((name) => [name, { provider: "openai", api_base: server.url }]),
  );
  const run = {
    ...{ bundled: true, datasets: ["StudentAcademicPortal"], limit: 8, max_workers: 2, output_dir: "out", ...FULL },
    ...{ models, agent_model: "openai/scripted-agent", user_model: "openai/scripted-user" },
  };
  work.write("run.yml", JSON.stringify(run));
  let kills = 0;
  for (let code: number | null = null; code === null; ) {
    const { child, finished } = work.start(["run", "--config", "run.yml", "--quiet"]);
    onSummary = () => {
      if (kills++ < 3) child.kill("SIGKILL");
    };
    const end = await finished;
    code = end.code;
    expect(end.stderr).toBe("");
  }
  expect(kills).toBeGreaterThanOrEqual(3);
  const records = readRecords<Trajectory>(`${work.path}/out/trajectories/StudentAcademicPortal.jsonl`);
  const paid = [...asked];
  const whole = await play(networkRun(server.url, { config: { limit: 8, ...FULL } }));
  // what a server's cache held and how it numbers its replies is not ours; the built program's tools are other files
  const comparable = (all: Trajectory[]) =>
    all.map(({ metadata: { served: _, usage: __, timings: ___, fingerprint: ____, ...metadata }, ...record }) => ({
      ...record,
      metadata,
    }));
  expect(comparable(records).sort(byId)).toEqual(comparable(whole.records).sort(byId));
  // a request that was answered before a kill is not made again: only those in flight at one are
  const repeats = (bodies: string[]) => bodies.length - new Set(bodies).size; // a summary may be asked for twice
  expect(repeats(paid) - repeats(asked.slice(paid.length))).toBeLessThanOrEqual(3 * 2);
});

const QUESTIONS = { id: "q1", question: "Which river?", answer: "Elbe" };

/** Calls `look` for ever, and answers or summarises when it is asked to. */
async function serveResearcher(summary = "Looked around a little.") {
  const lastOf = ({ body }: Received) => (body.messages as JsonObject[]).at(-1)?.content as string;
  const answer = (received: Received): JsonObject => {
    const messages = received.body.messages as JsonObject[];
    const usage = { usage: { prompt_tokens: Math.ceil(received.text.length / 4), completion_tokens: 5 } };
    if (lastOf(received).endsWith(SUMMARY_REQUEST)) return completion({ content: summary }, usage);
    if (received.body.tool_choice === "none" || !received.body.tools || messages.length > 12)
      return completion({ content: "<answer>Elbe</answer>" }, usage);
    const call = {
      id: `c${messages.length}`,
      type: "function",
      function: { name: "now", arguments: JSON.stringify({ zone: messages.length }) },
    };
    return completion({ content: "y".repeat(3000), tool_calls: [call] }, usage, "tool_calls");
  };
  return serveModel((response, received) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer(received)));
  });
}

async function research(flags: string[], summary?: string) {
  const server = await serveResearcher(summary);
  const work = workFolder();
  work.write("models.yml", JSON.stringify({ models: { m: { provider: "local", api_base: server.baseUrl } } }));
  work.write("questions.jsonl", JSON.stringify(QUESTIONS));
  work.write(
    "clock.py",
    `import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    result = {
        "initialize": {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {"name": "clock", "version": "1"}},
        "tools/list": {"tools": [{"name": "now", "description": "The time.", "inputSchema": {"type": "object", "properties": {"zone": {"type": "integer"}}}, "annotations": {"readOnlyHint": True}}]},
        "tools/call": {"content": [{"type": "text", "text": "noon"}]},
    }.get(message["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`,
  );
  work.write(
    "mcp.json",
    JSON.stringify({ mcpServers: { clock: { command: "python3", args: [`${work.path}/clock.py`] } } }),
  );
  const args = ["multi", "--input", "questions.jsonl", "--output-dir", "out", "--agent-model", "local/m"];
  const tools = ["--models-config", "models.yml", "--mcp", "mcp.json", "--rollouts", "1", "--max-steps", "40"];
  const done = await work.run([...args, ...tools, "--quiet", ...flags]);
  const record = work.has("out/iter1.jsonl") ? (JSON.parse(work.read("out/iter1.jsonl")) as Trajectory) : undefined;
  await server.close();
  return { done, record, received: server.received, work };
}

test("what is sent after a summary is the question, the summary, and nothing else", async () => {
  const { done, record, received, work } = await research([
    "--context-limit",
    "4000",
    "--on-context-full",
    "summarise",
  ]);
  expect(done).toMatchObject({ code: 0, stderr: "" });
  const summaries = record?.summaries ?? [];
  expect(summaries.length).toBeGreaterThan(0);
  const at = received.findIndex(({ text }) => text.includes(JSON.stringify(SUMMARY_REQUEST).slice(1, -1)));
  const before = received[at]?.body.messages as Json[];
  const after = received[at + 1]?.body.messages as JsonObject[];
  expect(after).toEqual([before[0], { role: "user", content: joinSummary("Which river?", "Looked around a little.") }]);
  expect((await work.run(["show", "out", "q1"])).stdout).toMatch(/summary {2}Looked around a little/);
  const exported = await work.run(["export", "out", "--format", "openai", "--out", "data"]);
  expect(exported).toMatchObject({ code: 0 });
  const rows = work
    .read("data/train.jsonl")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; messages: JsonObject[] });
  expect(rows.map(({ id }) => id)).toEqual(
    Array.from({ length: summaries.length + 1 }, (_, index) => `q1/${index + 1}`),
  );
  expect(rows.at(-1)?.messages[1]).toMatchObject({ content: joinSummary("Which river?", "Looked around a little.") });
  expect(await work.run(["validate", "data/train.jsonl", "--format", "openai"])).toMatchObject({ code: 0 });
});

test("the answer is asked for where the context ends, and counts as one", async () => {
  const { done, record, received } = await research(["--context-limit", "4000", "--on-context-full", "answer"]);
  expect(done).toMatchObject({ code: 0 });
  expect(record).toMatchObject({
    prediction: "Elbe",
    termination: "answer",
    metadata: { stop_reason: "agent_done", faults: [{ type: "context_full" }] },
  });
  expect(received.length).toBeLessThan(7);
});

test("summaries that make no room end the rollout, and the record says why", async () => {
  const { record } = await research(["--context-limit", "4000", "--on-context-full", "summarise"], "z".repeat(20_000));
  expect(record?.metadata).toMatchObject({ stop_reason: "context_overflow", blame: "agent" });
  expect(record?.metadata.faults.map(({ type }) => type)).toEqual(["long_summary", "long_summary"]);
});

test("a context of unknown length cannot be summarised in time: a usage error, before anything is paid for", async () => {
  const { done, received } = await research(["--on-context-full", "summarise"]);
  expect(done).toMatchObject({ code: 2, stderr: expect.stringContaining("--context-limit") });
  expect(received).toHaveLength(0);
  const server = await serveScripted();
  const told = await play(networkRun(server.url, { config: { limit: 1, on_context_full: "answer" } }));
  expect(notes(told.events).join()).toContain("--context-limit");
});
