import { request } from "node:http";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { call, until } from "../../../test/support/mcp/support.ts";
import { McpHub } from "./hub.ts";
import { type Serving, serveDomain } from "./serve.ts";

test("over HTTP every session has its own environment, and the tools are the domain's", () =>
  withServed({}, async ({ url }) => {
    const [one, two] = [await connect(url), await connect(url)];
    const { tools } = await one.listTools();
    expect(tools).toMatchObject([
      { name: "add", description: "Adds.", inputSchema: { type: "object" }, annotations: { readOnlyHint: false } },
      { name: "read", annotations: { readOnlyHint: true } },
    ]);
    await one.callTool({ name: "add" });
    expect(await one.callTool({ name: "read" })).toMatchObject({ content: [{ type: "text", text: "1 of seed 7" }] });
    expect(await two.callTool({ name: "read" })).toMatchObject({ content: [{ text: "0 of seed 7" }], isError: false });
    expect(await two.callTool({ name: "nothing" })).toMatchObject({ isError: true });
    await Promise.all([one.close(), two.close()]);
  }));

test("a client that would rather speak the newest protocol gets a session all the same", () =>
  withServed({}, async ({ url }) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    await client.callTool({ name: "add" });
    expect(await client.callTool({ name: "read" })).toMatchObject({ content: [{ text: "1 of seed 7" }] });
    await client.close();
  }));

test("an environment is opened by the first call and closed when the client ends its session", () =>
  withServed({}, async ({ url, open }) => {
    const client = await connect(url);
    await client.listTools();
    expect(open()).toBe(0);
    await client.callTool({ name: "add" });
    expect(open()).toBe(1);
    await (client.transport as StreamableHTTPClientTransport).terminateSession();
    await client.close();
    await until(() => open() === 0);
  }));

test("a session that its client left is freed, and the client is told to start anew", () =>
  withServed({ idleMs: 50 }, async ({ url, open }) => {
    const client = await connect(url);
    await client.callTool({ name: "add" });
    const session = (client.transport as StreamableHTTPClientTransport).sessionId as string;
    await client.close(); // without ending the session
    await until(() => open() === 0);
    expect(await post(url, { "mcp-session-id": session })).toBe(404);
  }));

test("closing the server closes the environments of sessions that are still open", async () => {
  let left = -1;
  await withServed({}, async ({ url, open, serving }) => {
    const client = await connect(url);
    await client.callTool({ name: "add" });
    await serving.close();
    left = open();
    await client.close();
  });
  expect(left).toBe(0);
});

test("another host name, another origin, another path and an unknown session are refused", () =>
  withServed({}, async ({ url }) => {
    const { port } = new URL(url);
    expect(await post(url, { host: "evil.example" })).toBe(403);
    expect(await post(url, { host: `evil.example:${port}` })).toBe(403);
    expect(await post(url, { origin: "https://evil.example" })).toBe(403);
    expect(await post(url.replace("/mcp", "/other"), {})).toBe(404);
    expect(await post(url, { "mcp-session-id": "made-up" })).toBe(404);
    expect(await post(url, { origin: `http://127.0.0.1:${port}` })).toBe(200);
  }));

test("a port that is taken is said in one line", () =>
  withServed({}, async ({ url }) => {
    const port = Number(new URL(url).port);
    await expect(serveDomain(counterDomain().domain, { kind: "http", port })).rejects.toThrow(`port ${port}`);
  }));

test("our own hub uses a served domain: a session per rollout where asked, one for all by default", () =>
  withServed({}, async ({ url, open }) => {
    for (const [isolation, second] of [
      ["fresh", "0 of seed 7"],
      ["shared", "1 of seed 7"],
    ] as const) {
      const hub = new McpHub({ servers: { it: { url, isolation } }, variables: {}, baseFolder: "/" });
      const [one, two] = [await hub.open(), await hub.open()];
      await call(one, "add");
      expect((await call(two, "read")).content).toBe(second);
      await hub.close();
      await until(() => open() === 0);
    }
  }));

test("a shared server that went away ends the rollout that called it; once it is back, calls reach it again", async () => {
  const first = await serveDomain(counterDomain().domain, { kind: "http", port: 0 });
  const url = first.url as string;
  const hub = new McpHub({ servers: { it: { url } }, variables: {}, baseFolder: "/" });
  try {
    const environment = await hub.open();
    await call(environment, "add");
    await first.close();
    const gone = { name: "RolloutError", boundary: "tool", stopReason: "infrastructure" };
    await expect(call(environment, "add")).rejects.toMatchObject(gone);
    await expect(hub.open()).rejects.toMatchObject(gone);
    const second = await serveDomain(counterDomain().domain, { kind: "http", port: Number(new URL(url).port) });
    expect((await call(await hub.open(), "read")).content).toBe("0 of seed 7");
    await hub.close();
    await second.close();
  } finally {
    await hub.close();
  }
});

test("over stdio the connection is the session: it ends with the input", async () => {
  const { domain, open } = counterDomain();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const serving = await serveDomain(domain, { kind: "stdio", input, output });
  const answers = createInterface({ input: output })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object) => {
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return JSON.parse((await answers.next()).value).result;
  };
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  expect(await ask(1, "initialize", hello)).toMatchObject({ serverInfo: { name: "Counter" }, instructions: "Count." });
  input.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  expect((await ask(2, "tools/list", {})).tools).toHaveLength(2);
  expect((await ask(3, "tools/call", { name: "add" })).content).toEqual([{ type: "text", text: "1 of seed 7" }]);
  expect(open()).toBe(1);
  input.end();
  await serving.closed;
  expect(open()).toBe(0);
});

type Served = { url: string; serving: Serving; open: () => number };

async function withServed(options: { idleMs?: number }, work: (served: Served) => Promise<void>): Promise<void> {
  const { domain, open } = counterDomain();
  const serving = await serveDomain(domain, { kind: "http", port: 0, ...options });
  try {
    await work({ url: serving.url as string, serving, open });
  } finally {
    await serving.close();
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** The status of an `initialize` with these headers. */
function post(url: string, headers: Record<string, string>): Promise<number> {
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const types = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: { ...types, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode as number);
    });
    sent.on("error", reject).end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
  });
}

/** Counts, and knows how many of its environments are open. */
function counterDomain() {
  let opened = 0;
  const spec = (name: string, description: string, readOnly: boolean) => ({
    name,
    description,
    parameters: { type: "object" },
    readOnly,
  });
  const tools = [spec("add", "Adds.", false), spec("read", "Reads.", true)];
  const open = async (seed: number) => {
    let counter = 0;
    opened++;
    return {
      tools,
      isReadOnly: () => false,
      call: async ({ name }: { name: string }) => {
        if (name === "add") counter++;
        return { content: `${counter} of seed ${seed}`, isError: name === "nothing" };
      },
      state: async () => ({}),
      close: async () => {
        opened--;
      },
    };
  };
  return { domain: { name: "Counter", tools, open, seed: 7, instructions: "Count." }, open: () => opened };
}
