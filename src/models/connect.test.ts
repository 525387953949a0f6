import { afterEach, expect, test } from "vitest";
import { completion, createManualClock, failing, requestOf, serveModel } from "../../test/support/model-server.ts";
import { redactSaid } from "../core/index.ts";
import { createModels, type ModelsDeps } from "./connect.ts";
import type { EndpointEvent } from "./limits.ts";

const never = new AbortController().signal;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function modelsWith(deps: Partial<ModelsDeps> = {}) {
  const clock = createManualClock({ auto: true });
  const models = createModels({ env: {}, clock, random: { next: () => 0.5 }, ...deps });
  cleanups.push(models.close);
  return models;
}

async function serve(...answers: Parameters<typeof serveModel>) {
  const server = await serveModel(...answers);
  cleanups.push(server.close);
  return server;
}

const hello = completion({ content: "Hi" });

test("a name from the registry becomes a client that calls its endpoint with its key", async () => {
  const { baseUrl, received } = await serve(hello);
  const models = modelsWith({
    env: { MY_KEY: "sk-planted" },
    registry: { mine: { api_base: baseUrl, api_key: `\${MY_KEY}`, model: "wire-name" } },
  });
  const client = models.client("mine", { temperature: 0 });
  expect(client.id).toBe("openai/mine");
  expect((await client.complete(requestOf(), never)).content).toBe("Hi");
  expect(received).toMatchObject([
    { headers: { authorization: "Bearer sk-planted" }, body: { model: "wire-name", temperature: 0 } },
  ]);
  expect(redactSaid("You sent sk-planted.")).toBe("You sent [redacted].");
});

test("what the command line sets stands above the registry and the catalogue", async () => {
  const { baseUrl, received } = await serve(hello);
  const models = modelsWith({ env: { DEEPSEEK_API_KEY: "sk-deepseek" } });
  await models.client("deepseek/deepseek-chat", {}, { apiBase: baseUrl }).complete(requestOf(), never);
  await models
    .client("deepseek/deepseek-chat", {}, { apiBase: baseUrl, apiKey: "sk-own" })
    .complete(requestOf(), never);
  expect(received.map(({ headers }) => headers.authorization)).toEqual([undefined, "Bearer sk-own"]);
});

test("clients of one endpoint share its gate: a pause that one was told holds for all", async () => {
  const { baseUrl, received } = await serve(failing(429, "", { "retry-after": "30" }), hello);
  const clock = createManualClock();
  const events: EndpointEvent[] = [];
  const models = modelsWith({ clock, onEvent: (event) => events.push(event) });
  const [agent, user] = [0, 1].map(() => models.client("openai/m", {}, { apiBase: baseUrl }));
  const first = agent?.complete(requestOf(), never);
  while (events.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const second = user?.complete(requestOf({}, 1), never);
  await clock.advance(29_000);
  expect(received).toHaveLength(1);
  await clock.advance(2000);
  expect(await Promise.all([first, second])).toMatchObject([{ content: "Hi" }, { content: "Hi" }]);
  expect(events).toMatchObject([{ type: "endpoint-wait", seconds: 30 }]);
});

test("every retry is told", async () => {
  const { baseUrl } = await serve(failing(500), hello);
  const waits: number[] = [];
  const models = modelsWith({ onWait: ({ attempt }) => waits.push(attempt) });
  await models.client("openai/m", {}, { apiBase: baseUrl }).complete(requestOf(), never);
  expect(waits).toEqual([1]);
});

test("unknown names and missing keys are the user's to mend; scripted models have no endpoint", () => {
  const models = modelsWith();
  expect(() => models.client("deepseak/x", {})).toThrow('unknown provider "deepseak"');
  expect(() => models.client("anthropic/claude-sonnet-4-5", {})).toThrow("set ANTHROPIC_API_KEY");
  expect(() => models.client("scripted/agent", {})).toThrow("scripted/agent is a scripted model: it has no endpoint");
});

test("what Bedrock signs with is secret too", () => {
  const env = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "planted-secret" };
  const models = modelsWith({ env });
  models.client("bedrock/amazon.nova-lite-v1:0", {});
  expect(redactSaid("planted-secret in us-east-1")).toBe("[redacted] in us-east-1");
});
