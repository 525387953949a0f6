// Spans as a collector gets them: the built program, the official exporter, a receiver of our own on a real socket.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createScriptFinder } from "../src/domains/index.ts";
import { type MockServer, startMockServer } from "../src/models/index.ts";
import type { MockServerOptions } from "../src/models/mock-server/server.ts";
import { PROGRESS, single, untilStopping, type WorkFolder, workFolder } from "./support/cli.ts";
import { ERROR, KIND, receiveSpans } from "./support/otlp-receiver.ts";
import type { ReceivedSpan } from "./support/otlp-wire.ts";
import { itemQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const DATASET = "StudentFinancialServices";
const SHOP = ["single", "--domains", "Domain1", "--base-path", "shop", "--output-dir", "out", ...SCRIPTED];

async function serve(options: Partial<MockServerOptions> = {}): Promise<MockServer> {
  const server = await startMockServer({ findScript: createScriptFinder().find, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A config with models at this address, and the command that runs it. */
function networkRun(work: WorkFolder, url: string, more = "", agent = "scripted-agent"): string[] {
  work.write(
    "run.yml",
    `output_dir: out
limit: 2
max_workers: 2
models:
  agent-name: {provider: mistral, api_base: "${url}", model: "${agent}", api_key: sk-planted-model-key-17}
  user-name: {provider: openai, api_base: "${url}", model: scripted-user}
${more}datasets:
  ${DATASET}:
    agent: {model: mistral/agent-name, max_retries: 1}
    user: {model: openai/user-name, max_retries: 1}
`,
  );
  return ["run", "--config", "run.yml", "--bundled", "--quiet"];
}

const rootsOf = (spans: ReceivedSpan[]) => spans.filter(({ parentSpanId }) => parentSpanId === "");

describe("a run against a model server", () => {
  test("is one trace for each rollout: invoke_agent, with the model calls of both parties and the tool calls under it", async () => {
    const [receiver, server, work] = [await receiveSpans(), await serve({ faults: "500@2" }), workFolder()];
    const finished = await work.run([...networkRun(work, server.url), "--otel", receiver.url]);
    expect(finished).toEqual({ code: 0, stdout: "", stderr: "" });
    const records = work.records(`out/trajectories/${DATASET}.jsonl`);
    const roots = rootsOf(receiver.spans);
    expect(roots.map(({ facts }) => facts["rollout.query_id"]).sort()).toEqual(records.map(({ id }) => id).sort());
    expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(2);
    for (const root of roots) {
      const { metadata, messages } = records.find(({ id }) => id === root.facts["rollout.query_id"]) ?? {};
      if (!metadata || !messages) throw new Error("no record");
      expect(root).toMatchObject({ name: `invoke_agent ${DATASET}`, kind: KIND.internal, status: { code: 0 } });
      expect(root.facts).toMatchObject({
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": DATASET,
        "gen_ai.provider.name": "mistral_ai",
        "gen_ai.request.model": "scripted-agent",
        "rollout.run": "out",
        "rollout.dataset": DATASET,
        "rollout.number": 0,
        "rollout.attempt": 1,
        "rollout.stop_reason": metadata.stop_reason,
        "rollout.success": true,
        "rollout.turns": metadata.total_turns,
        "rollout.tool_calls": metadata.tool_call_count,
        "gen_ai.usage.input_tokens": metadata.usage.agent?.input_tokens,
        "gen_ai.usage.output_tokens": metadata.usage.agent?.output_tokens,
      });
      const children = receiver.under(root);
      for (const { start, end, facts } of children) {
        expect(start >= root.start && end <= root.end).toBe(true);
        expect(facts["gen_ai.conversation.id"]).toBe(root.facts["gen_ai.conversation.id"]);
      }
      const chats = (party: string) => children.filter(({ facts }) => facts["rollout.party"] === party);
      const [agent, user] = [chats("agent"), chats("user")];
      expect(agent).toHaveLength(metadata.usage.agent?.calls as number);
      expect(user).toHaveLength(metadata.usage.user?.calls as number);
      const sum = agent.reduce((total, { facts }) => total + Number(facts["gen_ai.usage.output_tokens"]), 0);
      expect(sum).toBe(metadata.usage.agent?.output_tokens);
      expect(agent[0]).toMatchObject({ name: "chat scripted-agent", kind: KIND.client });
      expect(agent[0]?.facts).toMatchObject({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "mistral_ai",
        "gen_ai.request.model": "scripted-agent",
        "gen_ai.response.model": "scripted-agent",
        "gen_ai.response.id": expect.stringMatching(/./),
        "server.address": "127.0.0.1",
        "server.port": Number(new URL(server.url).port),
      });
      expect(user[0]?.facts).toMatchObject({
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "scripted-user",
      });
      const calls = messages.flatMap((message) => ("tool_calls" in message ? (message.tool_calls ?? []) : []));
      const tools = children.filter(({ name }) => name.startsWith("execute_tool "));
      expect(tools.map(({ name, facts }) => [name, facts["gen_ai.tool.name"], facts["gen_ai.tool.call.id"]])).toEqual(
        calls.map(({ id, function: { name } }) => [`execute_tool ${name}`, name, id]),
      );
      expect(agent.map(({ facts }) => facts["gen_ai.response.finish_reasons"])).toContainEqual(["tool_call"]);
      expect(user.map(({ facts }) => facts["gen_ai.response.finish_reasons"])).toContainEqual(["stop"]);
      expect(children).toHaveLength(agent.length + user.length + tools.length);
    }
    const retried = receiver.spans.filter(({ facts }) => facts["rollout.retries"] !== undefined);
    expect(retried).toHaveLength(1);
    expect(retried[0]).toMatchObject({
      status: { code: 0 },
      events: [{ name: "retry", facts: { "error.type": "500" } }],
    });
    expect(receiver.posts[0]?.path).toBe("/v1/traces");
    expect(receiver.resources[0]).toMatchObject({ "service.name": "rollout", "telemetry.sdk.language": "nodejs" });
  });

  test("shows what failed as an error: a server, a tool, a full context, a rollout", async () => {
    const [receiver, server, work] = [
      await receiveSpans(),
      await serve({ faults: "always500@3,overflow@9" }),
      workFolder(),
    ];
    const args = networkRun(work, server.url, "seed: 3\n", "scripted-agent?skill=0.2");
    const { code } = await work.run([...args, "--limit", "8", "--max-workers", "1", "--otel", receiver.url]);
    expect(code).toBe(3);
    const failed = receiver.spans.filter(({ status }) => status.code === ERROR);
    const types = (start: string) =>
      failed.filter(({ name }) => name.startsWith(start)).map(({ facts }) => facts["error.type"]);
    expect(types("chat")).toEqual(expect.arrayContaining(["500", "400"]));
    expect(types("execute_tool").length).toBeGreaterThan(0);
    const roots = rootsOf(receiver.spans);
    expect(roots).toHaveLength(8);
    const ends = Object.fromEntries(roots.map((root) => [root.facts["rollout.stop_reason"], root]));
    expect(ends.infrastructure).toMatchObject({ status: { code: ERROR }, facts: { "error.type": "server" } });
    expect(ends.context_overflow).toMatchObject({
      status: { code: ERROR },
      facts: { "error.type": "context_overflow" },
    });
    for (const { status, facts } of roots) expect(status.code === ERROR).toBe(facts["rollout.success"] === false);
  });
});

describe("what is said", () => {
  test("stays out of the spans unless --otel-content asks for it", async () => {
    const [plain, full] = [await receiveSpans(), await receiveSpans()];
    for (const [receiver, ...more] of [[plain], [full, "--otel-content"]] as [typeof plain, ...string[]][]) {
      const [server, work] = [await serve(), workFolder()];
      const args = networkRun(work, server.url);
      expect((await work.run([...args, "--otel", receiver.url, ...more])).code).toBe(0);
      const said = work
        .records(`out/trajectories/${DATASET}.jsonl`)
        .flatMap(({ messages }) =>
          messages.flatMap((message) => [
            ...(message.content ? [message.content] : []),
            ...("tool_calls" in message ? (message.tool_calls ?? []).map((call) => call.function.arguments) : []),
          ]),
        );
      expect(said.length).toBeGreaterThan(20);
      const values = receiver.spans.flatMap(({ facts, status }) => [
        ...Object.values(facts).map(String),
        status.message,
      ]);
      const all = values.map((text) => (text?.startsWith("[") ? JSON.stringify(JSON.parse(text)) : text)).join("\n");
      const written = (text: string) =>
        all.includes(text) ||
        all.includes(JSON.stringify(text).slice(1, -1)) ||
        all.includes(`"arguments":${text.replace(/": /g, '":').replace(/, "/g, ',"')}`);
      expect([more, said.filter((text) => text.length > 12 && written(text)).length > 0]).toEqual([
        more,
        more.length > 0,
      ]);
    }
    const [chat] = full.named("chat scripted-agent");
    const input = JSON.parse(String(chat?.facts["gen_ai.input.messages"]));
    expect(input[0]).toEqual({ role: "user", parts: [{ type: "text", content: expect.any(String) }] });
    const output = JSON.parse(String(chat?.facts["gen_ai.output.messages"]));
    expect(output).toEqual([{ role: "assistant", parts: expect.any(Array), finish_reason: expect.any(String) }]);
    expect(JSON.parse(String(chat?.facts["gen_ai.system_instructions"]))[0].type).toBe("text");
    const parts = full
      .named("chat scripted-agent")
      .flatMap(({ facts }) => JSON.parse(String(facts["gen_ai.input.messages"])))
      .flatMap((message: { parts: { type: string }[] }) => message.parts);
    expect(parts).toContainEqual({
      type: "tool_call",
      id: expect.any(String),
      name: expect.any(String),
      arguments: expect.any(Object),
    });
    expect(parts).toContainEqual({ type: "tool_call_response", id: expect.any(String), response: expect.any(String) });
    const [tool] = full.named("execute_tool");
    expect(JSON.parse(String(tool?.facts["gen_ai.tool.call.arguments"]))).toEqual(expect.any(Object));
    expect(String(tool?.facts["gen_ai.tool.call.result"])).not.toBe("");
  });

  test("a server's error text is content: without the flag a span has only its class", async () => {
    const words = "the prompt was: my very own words";
    for (const content of [false, true]) {
      const [receiver, work] = [await receiveSpans(), workFolder()];
      const model = await receiveErrors(words);
      const args = networkRun(work, model);
      const { code } = await work.run([...args, "--otel", receiver.url, ...(content ? ["--otel-content"] : [])]);
      expect(code).toBe(3);
      expect(receiver.named("chat")[0]).toMatchObject({ status: { code: ERROR }, facts: { "error.type": "418" } });
      expect(receiver.text().includes("very own words")).toBe(content);
    }
  });

  test("--otel-content without a collector is refused, with what to do", async () => {
    const work = workFolder();
    const { code, stderr } = await work.run(single("--otel-content"));
    expect([code, work.names()]).toEqual([2, []]);
    expect(stderr).toContain("add --otel, or set OTEL_EXPORTER_OTLP_ENDPOINT");
  });
});

describe("the standard variables", () => {
  test("say where spans go, with which headers, and whose they are; a .env next to the config does too", async () => {
    const [receiver, server, work] = [await receiveSpans(), await serve(), workFolder()];
    const args = networkRun(work, server.url);
    work.write(".env", `OTEL_EXPORTER_OTLP_ENDPOINT=${receiver.url}/base/\nOTEL_SERVICE_NAME=from-the-file\n`);
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=blue,authorization=Basic%20abc",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=trial",
    };
    expect(await work.run(args, { env })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(receiver.posts[0]).toMatchObject({
      path: "/base/v1/traces",
      headers: { "x-tenant": "blue", authorization: "Basic abc", "content-encoding": "gzip" },
    });
    expect(receiver.resources[0]).toMatchObject({
      "service.name": "from-the-file",
      "deployment.environment": "trial",
    });
    expect(rootsOf(receiver.spans)).toHaveLength(2);
  });

  test.each([
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/own/path", {}, [], "/own/path"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "", { OTEL_TRACES_SAMPLER: "always_off" }, [], undefined],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "", { OTEL_SDK_DISABLED: "true" }, [], undefined],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "", { OTEL_TRACES_EXPORTER: "none" }, ["--otel"], undefined],
  ])("%s%s with %j and %j posts to %s", async (name, path, more, flags, posted) => {
    const [receiver, work] = [await receiveSpans(), workFolder()];
    const env = { [name]: `${receiver.url}${path}`, ...more };
    expect(await work.run(single("--limit", "1", ...flags), { env })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(receiver.posts.map((post) => post.path)).toEqual(posted ? [posted] : []);
  });

  test("the flag's address wins over them, and a bare word after --otel is not taken for one", async () => {
    const [receiver, other, work] = [await receiveSpans(), await receiveSpans(), workFolder()];
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: other.url, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: other.url };
    await work.run(single("--limit", "1", "--otel", receiver.url), { env });
    expect([receiver.posts.length, other.posts.length]).toEqual([1, 0]);
    const { code, stderr } = await work.run(["resume", "--otel", "out"]);
    expect(code).toBe(2);
    expect(stderr).toContain("It must be an address such as http://localhost:4318");
  });

  test.each(["run", "single", "cross", "multi", "resume"])("rollout %s has the flags", async (command) => {
    const { stdout } = await workFolder().run([command, "--help-all"]);
    expect(stdout).toMatch(/--otel \[url\][\s\S]*--otel-content/);
  });
});

test("no key reaches a span, a file, the terminal or a dataset's code: not those of the collector either", async () => {
  const keys = ["collector-key-4711-abcdef", "sk-planted-model-key-17", "login-word-0815"];
  const [receiver, work] = [await receiveSpans(), workFolder()];
  const server = await serve({ faults: "500@1,overflow@5", echoKeys: true });
  const args = networkRun(work, server.url, "log_file: out/log\nlog_level: DEBUG\n");
  const collector = receiver.url.replace("://", "://me:login-word-0815@");
  const env = { OTEL_EXPORTER_OTLP_HEADERS: `x-team=${keys[0]}`, OTEL_EXPORTER_OTLP_ENDPOINT: collector };
  const { stdout, stderr } = await work.run([...args.slice(0, -1), "--otel-content", "--verbose"], { env });
  expect(receiver.posts[0]?.headers["x-team"]).toBe(keys[0]);
  expect(receiver.posts[0]?.headers.authorization).toBe(`Basic ${btoa("me:login-word-0815")}`);
  expect(receiver.spans.length).toBeGreaterThan(10);
  const refused = await receiveSpans(() => 401);
  const refusedUrl = refused.url.replace("://", "://me:login-word-0815@");
  writeShop(work, { queries: [itemQuery("q1")] });
  const failed = await work.run(SHOP.with(6, "out/refused"), {
    env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: refusedUrl },
  });
  expect(failed.stderr.replace(PROGRESS, "")).toMatch(
    /^(\d+) of \1 spans did not reach http:\/\/127[^@]*\/v1\/traces \(401 Unauthorized\)\n$/,
  );
  const files = readdirSync(join(work.path, "out"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  expect(files.length).toBeGreaterThan(8);
  const all = [stdout, stderr, failed.stdout, failed.stderr, receiver.text(), ...files].join("\n");
  for (const key of keys) expect([key, all.includes(key)]).toEqual([key, false]);

  const spy = `import * as spied from "node:fs";\nspied.writeFileSync("seen.txt", JSON.stringify(process.env));\n`;
  work.write("shop/mcp_servers/Domain1.mjs", spy + work.read("shop/mcp_servers/Domain1.mjs"));
  expect((await work.run([...SHOP.with(6, "out2"), "--quiet"], { env })).code).toBe(0);
  expect(work.read("seen.txt")).toContain("PATH");
  for (const key of keys) expect([key, work.read("seen.txt").includes(key)]).toEqual([key, false]);
});

describe("a collector that does not take spans", () => {
  test("costs one line and nothing else", async () => {
    const work = workFolder();
    writeShop(work);
    await work.run([...SHOP.with(6, "whole"), "--quiet"]);
    const { code, stdout, stderr } = await work.run([...SHOP, "--otel", "http://127.0.0.1:9"]);
    expect(code).toBe(0);
    expect(stderr.replace(PROGRESS, "")).toMatch(
      /^\d+ of \d+ spans did not reach http:\/\/127.0.0.1:9\/v1\/traces \(ECONNREFUSED\)\n$/,
    );
    expect(stdout).toContain("run folder    out");
    expect(work.canonical("out/trajectories/Domain1.jsonl")).toEqual(
      work.canonical("whole/trajectories/Domain1.jsonl"),
    );
    expect((await work.run([...SHOP.with(6, "quiet"), "--quiet", "--otel", "http://127.0.0.1:9"])).stderr).toBe("");
  });

  test("is waited for at the end for a bounded time only, if it never answers", async () => {
    const [receiver, work] = [await receiveSpans(() => undefined), workFolder()];
    writeShop(work);
    const { code, stderr } = await work.run([...SHOP, "--otel", receiver.url]);
    expect(code).toBe(0);
    expect(stderr.replace(PROGRESS, "")).toMatch(/^(\d+) of \1 spans did not reach .*\(no answer in time\)\n$/);
  });

  test("is told of once while the run goes on, and the spans that it lost are counted", async () => {
    const [receiver, work] = [await receiveSpans((post) => (post < 3 ? 400 : 200)), workFolder()];
    const env = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "10" };
    const args = single("--limit", "8", "--max-workers", "1", "--otel", receiver.url).filter(
      (word) => word !== "--quiet",
    );
    const { code, stdout, stderr } = await work.run([...args, "--json"], { env });
    expect(code).toBe(0);
    const notes = stdout.split("\n").filter((line) => line.includes("run-note"));
    expect(notes).toHaveLength(2);
    expect(notes[0]).toContain("takes no spans (400 Bad Request); the run goes on without");
    expect(notes[1]).toContain("30 of ");
    expect(stderr).toBe("");
    expect(receiver.spans.length).toBeGreaterThan(0);
  });
});

describe("Ctrl-C", () => {
  test("ends the spans of parked rollouts and sends them; the resumed ones have the same conversation id", async () => {
    const [first, second, work] = [await receiveSpans(), await receiveSpans(), workFolder()];
    writeShop(work, { queries: [itemQuery("q1", "slow")] });
    work.write("slow", "");
    const { child, finished } = work.start([...SHOP, "--otel", first.url]);
    await work.until("waiting");
    child.kill("SIGINT");
    await untilStopping(child);
    work.remove("slow");
    expect((await finished).code).toBe(130);
    const [parked] = rootsOf(first.spans);
    expect(parked?.facts).toMatchObject({ "rollout.parked": true, "rollout.query_id": "q1" });
    expect(parked?.facts["rollout.stop_reason"]).toBeUndefined();
    expect(first.named("execute_tool find_item")).toHaveLength(1);
    expect((await work.run(["resume", "out", "--quiet", "--otel", second.url])).code).toBe(0);
    const [resumed] = rootsOf(second.spans);
    expect(resumed?.facts).toMatchObject({ "rollout.continued_entries": 2, "rollout.stop_reason": "user_stop" });
    expect(resumed?.facts["gen_ai.conversation.id"]).toBe(parked?.facts["gen_ai.conversation.id"]);
    expect(second.named("execute_tool")).toEqual([]); // made again for its state only
    const [record] = work.records("out/trajectories/Domain1.jsonl");
    const replies = Object.values(record?.metadata.usage ?? {}).reduce((sum, { calls }) => sum + calls, 0);
    expect(first.named("chat").length + second.named("chat").length).toBe(replies);
  });

  test("a second one leaves at once, though a collector that never answers has not got its spans", async () => {
    const [receiver, work] = [await receiveSpans(() => undefined), workFolder()];
    writeShop(work, { queries: [itemQuery("q1", "slow")] });
    work.write("slow", "");
    const { child, finished } = work.start([...SHOP, "--otel", receiver.url]);
    await work.until("waiting");
    child.kill("SIGINT");
    await untilStopping(child);
    child.kill("SIGINT");
    expect((await finished).code).toBe(130);
    work.remove("slow");
    expect((await work.run(["resume", "out", "--quiet"])).code).toBe(0);
  });
});

test("the SDK is loaded only if spans are asked for", async () => {
  const [receiver, work] = [await receiveSpans(), workFolder()];
  work.write(
    "loaded.cjs",
    `process.on("exit", () => require("node:fs").writeFileSync("loaded.txt", Object.keys(require.cache).filter((file) => file.includes("@opentelemetry")).length + ""));`,
  );
  const env = { NODE_OPTIONS: `--require ${join(work.path, "loaded.cjs")}` };
  for (const [args, isLoaded] of [
    [["--version"], false],
    [single("--limit", "1"), false],
    [[...single("--limit", "1"), "--no-resume", "--otel", receiver.url], true],
  ] as const) {
    await work.run([...args], { env });
    expect([args, Number(work.read("loaded.txt")) > 0]).toEqual([args, isLoaded]);
  }
});

/** A model server that refuses every request with these words. */
async function receiveErrors(words: string): Promise<string> {
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(418).end(JSON.stringify({ error: { message: words } })));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`;
}
