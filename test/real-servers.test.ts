// Whole runs against servers that behave as real ones did: wordings and shapes as they were seen, the words in them ours.
import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../src/config/index.ts";
import { isObject, type JsonObject } from "../src/core/index.ts";
import { MALFORMED } from "../src/models/malformed-replies.ts";
import { completion, failing, type ModelAnswer, type Received, serveModel } from "./support/model-server.ts";
import { type NetworkRun, networkRun, notes, play } from "./support/network-run.ts";

type Party = (request: Received, count: number) => ModelAnswer;

const USAGE = { prompt_tokens: 3000, completion_tokens: 20, total_tokens: 3020 };
const says = (content: string, more: JsonObject = {}) => completion({ content }, { usage: USAGE, ...more });

/** The agent and the user behind one server, told apart by the model that is asked for. */
async function runWith(parties: { agent: Party; user?: Party }, config: Partial<Config> = {}) {
  const asked = { agent: [] as Received[], user: [] as Received[] };
  const server = await serveModel((response, received) => {
    const party = received.body.model === "scripted-user" ? "user" : "agent";
    const speak = parties[party] ?? (() => says("Thanks. ###STOP###"));
    give(response, received, speak(received, asked[party].push(received)));
  });
  onTestFinished(() => server.close());
  const run = await play(networkRun(server.baseUrl, { config: { max_workers: 1, ...config } }));
  return { ...run, asked };
}

function give(response: ServerResponse, received: Received, answer: ModelAnswer): void {
  if (typeof answer === "function") answer(response, received);
  else response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
}

/** A real call of the first tool that is offered. */
function calls({ body }: Received, count: number): JsonObject {
  const call = { id: `call_${count}`, type: "function", function: { name: toolOf(body), arguments: "{}" } };
  return completion({ content: "", tool_calls: [call] }, { usage: USAGE }, "tool_calls");
}

const toolOf = (body: JsonObject) => (body.tools as { function: { name: string } }[])[0]?.function.name ?? "";

/** The same as text, as vLLM hands it back where tools are off but still in the prompt. */
const WRITTEN: [string, (name: string) => string][] = [
  ["bare JSON", (name) => `{"name": "${name}", "arguments": {}}`],
  ["an array", (name) => `[{"name": "${name}", "arguments": {}}]`],
  ["an unclosed tag", (name) => `<tool_call>\n{"name": "${name}", "arguments": {}}`],
  ["Qwen3-Coder's XML", (name) => `<tool_call>\n<function=${name}>\n</function>\n</tool_call>`],
  ["a code fence", (name) => `\`\`\`json\n{"name": "${name}", "arguments": {}}\n\`\`\``],
];

const offToolsOnly =
  (write: (name: string) => string): Party =>
  (request, count) =>
    request.body.tool_choice === "none" ? says(write(toolOf(request.body))) : calls(request, count);

test.each(WRITTEN)("at the step limit, %s is never the agent's words", async (_, write) => {
  const config = { limit: 1, max_steps_per_turn: 2 };
  const { records, asked, events } = await runWith({ agent: offToolsOnly(write) }, config);
  const [record] = records;
  expect(record).toMatchObject({ success: false, metadata: { stop_reason: "text_call", blame: "agent" } });
  const spoken = record?.messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
  expect(spoken).toEqual(["", ""]); // the two real calls
  expect(asked.agent.map(({ body }) => body.tool_choice ?? "auto")).toEqual(["auto", "auto", "none", "none"]);
  expect(asked.agent.every(({ body }) => Array.isArray(body.tools))).toBe(true);
  expect(systemOf(asked.agent[3])).toContain("No tool can be called now");
  expect(notes(events).filter((note) => note.includes("writes tool calls as text"))).toHaveLength(1);
});

test("asked again, an agent that finds plain words is heard, and only these are in the record", async () => {
  const [, write] = WRITTEN[0] as (typeof WRITTEN)[0];
  const agent: Party = (request, count) => (count < 4 ? offToolsOnly(write)(request, count) : says("It is done."));
  const { records } = await runWith({ agent }, { limit: 1, max_steps_per_turn: 2 });
  expect(records[0]).toMatchObject({ success: true, metadata: { stop_reason: "user_stop" } });
  expect(records[0]?.messages.at(-2)).toMatchObject({ role: "assistant", content: "It is done." });
  expect(records[0]?.metadata.faults).toContainEqual(expect.objectContaining({ type: "text_call", by: "agent" }));
});

test.each(WRITTEN)("a user model that answers with %s is not heard by the agent", async (_, write) => {
  let tool = "";
  const agent: Party = ({ body }) => {
    tool = toolOf(body);
    return says("What can I do for you?");
  };
  const { records, asked } = await runWith({ agent, user: () => says(write(tool)) }, { limit: 1 });
  expect(records[0]).toMatchObject({ success: false, metadata: { stop_reason: "user_fault", blame: "user" } });
  expect(asked.user).toHaveLength(3);
  expect(asked.agent).toHaveLength(1);
  expect(JSON.stringify(records[0]?.messages)).not.toContain(tool);
});

test.each(MALFORMED.map((row) => [`${row.server}, ${row.body.slice(0, 60)}`, row] as const))(
  "what the server cannot parse costs one step and no retry: %s",
  async (_, { status, body }) => {
    const agent: Party = (_request, count) => (count === 1 ? failing(status, body) : says("Here you are."));
    const run = await runWith({ agent }, { limit: 1 });
    expect(run.records[0]).toMatchObject({ success: true, metadata: { stop_reason: "user_stop" } });
    expect(run.records[0]?.metadata.faults).toMatchObject([{ type: "malformed_reply", by: "agent" }]);
    expect(run.asked.agent).toHaveLength(2);
  },
);

test.each(MALFORMED.map((row) => [`${row.server}, ${row.body.slice(0, 60)}`, row] as const))(
  "a model that writes nothing else ends each rollout by its own fault; no breaker opens: %s",
  async (_, { status, body }) => {
    const run = await runWith({ agent: () => failing(status, body) }, { limit: 3, max_workers: 3 });
    expect(stops(run)).toEqual(Array(3).fill("malformed_reply agent"));
    expect(run.asked.agent).toHaveLength(6);
    expect(run.events.filter(({ type }) => type === "endpoint-wait")).toEqual([]);
  },
);

test("a fallback of LiteLLM's is in every record and said once in the run", async () => {
  const headers = { "x-litellm-model-id": "m-2", "x-litellm-attempted-fallbacks": "1", "x-litellm-call-id": "c-1" };
  const fallen = JSON.stringify(says("Done.", { id: "chatcmpl-1", model: "other-model" }));
  const { records, events } = await runWith({ agent: () => failing(200, fallen, headers) }, { limit: 2 });
  for (const { metadata } of records) {
    expect(metadata.served?.agent).toMatchObject({ models: ["other-model"], ids: ["chatcmpl-1"], headers: [headers] });
    expect(metadata.faults).toContainEqual(expect.objectContaining({ type: "other_model", answered: "other-model" }));
  }
  expect(records).toHaveLength(2);
  expect(notes(events).filter((note) => note.includes("answers as other-model"))).toHaveLength(1);
});

function stops({ records }: NetworkRun): string[] {
  return records.map(({ metadata }) => `${metadata.stop_reason} ${metadata.blame}`);
}

function systemOf(request: Received | undefined): string {
  const [first] = (request?.body.messages ?? []) as unknown[];
  return isObject(first) ? String(first.content) : "";
}
