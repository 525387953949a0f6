import { expect, onTestFinished, test } from "vitest";
import { connectDialect } from "../../test/support/dialect-client.ts";
import {
  completion,
  createManualClock,
  failing,
  modelAt,
  requestOf,
  serveModel,
} from "../../test/support/model-server.ts";
import { joinAddress } from "./address.ts";
import { findDialect } from "./dialects/index.ts";
import { createDispatchers } from "./http.ts";
import { probeModel } from "./probe/probe-model.ts";
import { resolveModel } from "./resolve.ts";

const { signal } = new AbortController();
const QUERY = "?api-version=2024-10-21&route=a%2Fb/";

test.each([
  ["https://host/v1", "/chat/completions", "https://host/v1/chat/completions"],
  ["https://host", "/responses", "https://host/responses"],
  ["https://host/v1///", "/responses", "https://host/v1/responses"],
  ["https://host/v1/?a=1", "/chat/completions", "https://host/v1/chat/completions?a=1"],
  ["https://host?a=/b/", "/chat/completions", "https://host/chat/completions?a=/b/"],
  ["https://host/v1/chat/completions/?a=1", "/chat/completions", "https://host/v1/chat/completions?a=1"],
  ["https://host/v1/chat/completions?a=1", "/responses", "https://host/v1/responses?a=1"],
  ["https://host/v1/responses", "/chat/completions", "https://host/v1/chat/completions"],
  ["https://host/a%2Fb?c=%3F", "/responses", "https://host/a%2Fb/responses?c=%3F"],
])("%s and %s make %s", (base, path, whole) => {
  expect(joinAddress(base, path).href).toBe(whole);
});

test("the slash at a base's end is dropped, one at a query's end is not", () => {
  const resolve = (apiBase: string) => resolveModel("azure/gpt-4o", { env: {}, overrides: { apiBase } }).baseUrls;
  expect(resolve("https://host/openai//?api-version=1&next=/")).toEqual(["https://host/openai?api-version=1&next=/"]);
  expect(resolve("https://host/v1/")).toEqual(["https://host/v1"]);
});

const PATHS = {
  openai: "/chat/completions",
  responses: "/responses",
  azure: "/chat/completions",
  anthropic: "/messages",
  google: "/models/model:generateContent",
  mistral: "/chat/completions",
  cohere: "/chat",
  bedrock: "/model/model/converse",
};

test.each(Object.entries(PATHS))("%s: the path goes before a base's query, and once", async (dialect, path) => {
  const server = await connectDialect(dialect, [failing(400)], { model: { apiKey: "sk-planted" } });
  const bases = ["", QUERY, `${path}${QUERY}`, `/openai/deployments/D${QUERY}`];
  for (const end of bases) {
    const base = server.baseUrl + end;
    const { client } = await connectDialect(dialect, [failing(400)], {
      model: { apiKey: "sk-planted", baseUrls: [base] },
    });
    await expect(client.complete(requestOf(), signal)).rejects.toMatchObject({ status: 400 });
  }
  expect(server.received.map(({ url }) => url)).toEqual([
    `/v1${path}`,
    `/v1${path}${QUERY}`,
    `/v1${path}${QUERY}`,
    `/v1/openai/deployments/D${path}${QUERY}`,
  ]);
});

test.each([
  ["", "/openai/v1/chat/completions?api-version=v1"],
  ["/openai", "/openai/v1/chat/completions?api-version=v1"],
  ["/openai/v1/", "/openai/v1/chat/completions"],
  ["/openai/v1?api-version=preview", "/openai/v1/chat/completions?api-version=preview"],
  ["?api-version=2024-10-21", "/openai/deployments/my%20model/chat/completions?api-version=2024-10-21"],
  ["/openai?api-version=2024-10-21", "/openai/deployments/my%20model/chat/completions?api-version=2024-10-21"],
  ["/openai/deployments/D?api-version=2024-10-21", "/openai/deployments/D/chat/completions?api-version=2024-10-21"],
  [
    "/openai/deployments/D/chat/completions?api-version=2024-10-21",
    "/openai/deployments/D/chat/completions?api-version=2024-10-21",
  ],
  ["/models?api-version=2024-05-01-preview", "/models/chat/completions?api-version=2024-05-01-preview"],
])("Azure's own hosts: %s is asked at %s", async (written, asked) => {
  const server = await serveModel(completion({ content: "Hi" }));
  // a proxy is told the whole address
  const dispatchers = createDispatchers({ HTTP_PROXY: new URL(server.baseUrl).origin });
  onTestFinished(async () => {
    await dispatchers.close();
    await server.close();
  });
  const host = "http://res.openai.azure.com";
  const model = modelAt(host + written, { dialect: "azure", model: "my model", apiKey: "sk-planted" });
  const client = findDialect("azure").createClient(model, {}, { dispatchers, clock: createManualClock(), env: {} });
  await client.complete(requestOf(), signal);
  expect(server.received.map(({ url, headers }) => [url, headers["api-key"]])).toEqual([[host + asked, "sk-planted"]]);
});

test("a probe joins addresses in the same way", async () => {
  const server = await serveModel(failing(400));
  onTestFinished(() => server.close());
  const model = modelAt(`${server.baseUrl}/openai/deployments/D${QUERY}`, { dialect: "azure" });
  await probeModel(model, "user", { env: {}, clock: createManualClock(), signal });
  expect(server.received[0]?.url).toBe(`/v1/openai/deployments/D/chat/completions${QUERY}`);
});
