// One query's poison takes no other with it: a model server answers each query with something of another kind that once
// ended whole runs, and the run goes on; so does its resume, and everything that reads the run afterwards.
import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, type ModelAnswer, serveModel } from "./support/model-server.ts";
import { itemQuery, writeShop } from "./support/shop-dataset.ts";

const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
const deepObject = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
const message = (text: string, usage = "{}") =>
  `{"choices":[{"message":{"role":"assistant","content":"Here you are.",${text}"x":1},"finish_reason":"stop"}],"usage":${usage}}`;
const calling = (args: string) =>
  message(`"tool_calls":[{"id":"c","function":{"name":"find_item","arguments":${args}}}],`);
const withUsage = (usage: string) => message("", usage);

/** What the server answers to the query of that name, and how its rollout must end. */
const POISON: { [query: string]: [answer: string | ((response: ServerResponse) => void), end: string] } = {
  "deep-argument-text": [calling(JSON.stringify(`{"name":${deep}}`)), "agent_done"],
  "deep-argument-object": [calling(`{"name":${deepObject}}`), "infrastructure"],
  "deep-details": [message(`"reasoning_details":[${deep}],`), "infrastructure"],
  "deep-extras": [
    message(`"tool_calls":[{"function":{"name":"find_item"},"extra_content":${deepObject}}],`),
    "infrastructure",
  ],
  "deep-error": [(response) => response.writeHead(400).end(`{"error":${deepObject}}`), "infrastructure"],
  "endless-error": [(response) => flood(response, 400, 200), "infrastructure"],
  "200-MB-reply": [(response) => flood(response, 200, 200), "infrastructure"],
  "200-MB-text": [(response) => flood(response, 200, 200, '{"choices":[{"message":{"content":"'), "infrastructure"],
  "infinite-tokens": [withUsage('{"prompt_tokens":1e400,"completion_tokens":5}'), "agent_done"],
  "enormous-tokens": [withUsage('{"prompt_tokens":1e15,"completion_tokens":-1}'), "agent_done"],
  "enormous-cost": [withUsage('{"prompt_tokens":1,"completion_tokens":1,"cost":1e308}'), "agent_done"],
  "odd-members": [
    message('"tool_calls":[null,7,{"function":[]}],"reasoning_details":{"a":[]},"__proto__":{"toString":1},'),
    "agent_done",
  ],
  plain: [withUsage('{"prompt_tokens":3,"completion_tokens":2}'), "agent_done"],
};

function flood(response: ServerResponse, status: number, megabytes: number, start = ""): void {
  response.writeHead(status);
  response.write(start);
  const piece = Buffer.alloc(1 << 20, "x");
  let sent = 0;
  const send = () => {
    while (!response.destroyed && sent++ < megabytes && response.write(piece));
    if (response.destroyed) return;
    if (sent >= megabytes) response.end();
    else response.once("drain", send);
  };
  send();
}

const answer: ModelAnswer = (response, { text }) => {
  const [, query = ""] = /this is ([\w-]+)\./.exec(text) ?? [];
  const poison = POISON[query]?.[0] ?? JSON.stringify(completion({ content: "Hello." }));
  if (typeof poison === "function") poison(response);
  else response.setHeader("content-type", "application/json").end(poison);
};

const CONFIG = (url: string) => `output_dir: run
max_workers: 4
max_turns: 1
max_steps_per_turn: 2
max_cost: 100
max_tokens_total: 1000000
eval: true
agent_model: poisoned
models: {poisoned: {provider: openai, api_base: "${url}"}}
datasets: {Domain1: {base_path: shop}}
`;
const SMALL_HEAP = { env: { NODE_OPTIONS: "--max-old-space-size=256" } };

function endsIn(work: WorkFolder): { [id: string]: string } {
  const failed = work.records<{ id: string }>("run/failures.jsonl").map(({ id }) => [id, "infrastructure"]);
  const made = work.records("run/trajectories/Domain1.jsonl").map(({ id, metadata }) => [id, metadata.stop_reason]);
  return Object.fromEntries([...failed, ...made]);
}

test("a run, its resume and its readers outlast every kind of poison in a reply", async () => {
  const server = await serveModel(answer);
  onTestFinished(server.close);
  const work = workFolder();
  writeShop(work, { queries: Object.keys(POISON).map((id) => itemQuery(id)) });
  work.write("run.yml", CONFIG(server.baseUrl));
  const first = await work.run(["run", "--config", "run.yml"], SMALL_HEAP);
  expect(first.code, first.stderr).toBe(3);
  expect(endsIn(work)).toEqual(Object.fromEntries(Object.entries(POISON).map(([id, [, end]]) => [id, end])));
  const again = await work.run(["run", "--config", "run.yml"], SMALL_HEAP);
  expect(again.code, again.stderr).toBe(3);
  const faults = work
    .records("run/trajectories/Domain1.jsonl")
    .flatMap(({ id, metadata }) => metadata.faults.map(({ type, counts }) => `${id}: ${type} ${counts ?? ""}`.trim()));
  expect(faults).toContain("infinite-tokens: dropped_usage prompt_tokens");
  expect(faults).toContain("enormous-tokens: dropped_usage prompt_tokens, completion_tokens");
  expect(faults).toContain("enormous-cost: dropped_usage cost");
  expect(faults).toContain("deep-argument-text: malformed_arguments");
  for (const command of [
    ["status", "run"],
    ["show", "run", "deep-argument-text"],
    ["eval", "run"],
    ["report", "run"],
  ]) {
    const { code, stderr } = await work.run(command, SMALL_HEAP);
    expect([command[0], code, stderr]).toEqual([command[0], 0, expect.not.stringContaining("    at ")]);
  }
  for (const format of ["trl", "openai", "verl-rl", "ms-swift", "parquet"]) {
    const { code, stderr } = await work.run(
      ["export", "run", "--format", format, "--all", "--out", `out-${format}`],
      SMALL_HEAP,
    );
    expect([format, code, stderr]).toEqual([format, 0, expect.not.stringContaining("    at ")]);
  }
}, 120_000);
