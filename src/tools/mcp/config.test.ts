import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { call, FAULTY_SERVER, withHub } from "../../../test/support/mcp/support.ts";
import { UnsetVariableError } from "../../core/index.ts";
import { launchFor, mcpServersSchema, resolveServer } from "./config.ts";
import { McpHub } from "./hub.ts";

const KEY = "sk-planted-0123456789";
/** as a config writes a reference to a variable */
const reference = (text: string) => `\${${text}}`;

test("the JSON that other tools use is accepted, with our keys next to theirs", () => {
  const servers = {
    files: { command: "npx", args: ["-y", "some-server", "."], env: { MODE: "a" }, isolation: "fresh", timeout: 5 },
    web: { type: "http", url: "https://example.com/mcp", headers: { Authorization: "Bearer x" }, read_only: true },
    kept: { command: "serve", reset_tool: "reset", read_only: ["look"] },
  };
  expect(mcpServersSchema.parse(servers)).toEqual(servers);
});

test.each([
  [{ comand: "x" }, "comand"],
  [{}, 'needs "command" or "url"'],
  [{ command: "x", url: "http://a" }, "exclude each other"],
  [{ url: "http://a", args: [] }, 'does not go with "url"'],
  [{ command: "x", headers: {} }, 'does not go with "command"'],
  [{ command: "x", type: "http" }, 'does not go with "command"'],
  [{ url: "http://a", reset_tool: "r" }, 'needs isolation "pool"'],
  [{ command: "x", timeout: 0 }, "0"],
])("a server entry like %j is refused", (server, reason) => {
  const parsed = mcpServersSchema.safeParse({ it: server });
  expect(parsed.success).toBe(false);
  expect(JSON.stringify(parsed.error?.issues)).toContain(reason.replaceAll('"', '\\"'));
});

test("a child gets a pool of its own by default, an address a session for each rollout", () => {
  const place = { variables: {}, baseFolder: "/base" };
  expect(resolveServer("a", { command: "x" }, place).isolation).toBe("pool");
  expect(resolveServer("b", { url: "http://a" }, place).isolation).toBe("session");
});

test("references are looked up in the variables, with defaults; a missing one is named", () => {
  const resolve = (text: string) =>
    resolveServer("it", { command: "x", env: { A: text } }, { variables: { TOKEN: "t" }, baseFolder: "/" }).launch;
  expect(resolve(`<${reference("TOKEN")}>`)).toMatchObject({ env: { A: "<t>" } });
  expect(resolve(reference("OTHER:-fallback"))).toMatchObject({ env: { A: "fallback" } });
  expect(() => resolve(reference("OTHER"))).toThrow(
    new UnsetVariableError("mcpServers.it.env.A: the environment variable OTHER is not set", "OTHER"),
  );
});

test("relative paths are taken from the config's folder, since the server runs in one of its own", () => {
  const config = { command: "./bin/server", args: ["../data", "./x.mjs", "--flag", "plain", "."], cwd: "work" };
  expect(resolveServer("it", config, { variables: {}, baseFolder: "/base/configs" }).launch).toMatchObject({
    command: "/base/configs/bin/server",
    args: ["/base/data", "/base/configs/x.mjs", "--flag", "plain", "."],
    cwd: "/base/configs/work",
  });
});

test("a child gets a minimal environment and an empty folder of its own; no key reaches it unasked", async () => {
  const variables = { PATH: process.env.PATH, LANG: "C", OPENAI_API_KEY: KEY, WANTED: "wanted" };
  const env = { GIVEN: reference("WANTED"), STORE: `${reference("WORK_FOLDER")}/store.json` };
  await withHub(
    { env, isolation: "fresh" },
    async (hub) => {
      const environment = await hub.open();
      const seen = JSON.parse((await call(environment, "variables")).content);
      const folder = (await call(environment, "folder")).content;
      expect(seen).toMatchObject({ GIVEN: "wanted", LANG: "C", STORE: `${folder}/store.json` });
      expect(JSON.stringify(seen)).not.toContain(KEY);
      expect(folder).not.toBe((await call(await hub.open(), "folder")).content);
    },
    { variables },
  );
});

test("a key in the config does not reach an error text", async () => {
  const broken = `console.error("bad key " + process.env.SERVICE_KEY); process.exit(1)`;
  const refusing = createServer((request, response) =>
    response.writeHead(401).end(`not welcome: ${request.headers.authorization}`),
  );
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/mcp`;
  const reasons: string[] = [];
  for (const server of [
    { command: process.execPath, args: ["-e", broken], env: { SERVICE_KEY: reference("KEY") } },
    { command: process.execPath, args: ["-e", broken], env: { SERVICE_KEY: KEY } },
    { url, headers: { Authorization: `Bearer ${reference("KEY")}` } },
  ]) {
    const hub = new McpHub({ servers: { it: server }, variables: { KEY }, baseFolder: "/" });
    await hub.open().catch((error) => reasons.push(error.message));
    await hub.close();
  }
  refusing.closeAllConnections();
  refusing.close();
  expect(reasons).toEqual([
    expect.stringContaining("bad key [redacted]"),
    expect.stringContaining("bad key [redacted]"),
    expect.stringContaining("it"),
  ]);
  expect(reasons.join()).not.toContain(KEY);
});

test("a server's own error text is redacted too", async () => {
  const server = { command: process.execPath, args: [FAULTY_SERVER], env: { TOKEN: "the database" } };
  const hub = new McpHub({ servers: { it: server }, variables: {}, baseFolder: "/" });
  try {
    expect((await call(await hub.open(), "protocol_error")).content).toBe('{"error":"[redacted] is away"}');
  } finally {
    await hub.close();
  }
});

test("a relative folder before a place stays a folder", () => {
  const config = { command: "serve", args: [`./towns/${reference("QUERY_ID")}.txt`] };
  const server = resolveServer("it", config, { variables: {}, baseFolder: "/base" });
  const query = { id: "q1", hash: "", messages: [], userSystemPrompt: "", taskInfo: {} };
  expect(launchFor(server, { seed: 0, query }, "/own")).toMatchObject({ args: ["/base/towns/q1.txt"] });
});

test("a server whose files are elsewhere is started there", () => {
  const here = { args: ["/cache/serve.mjs"], cwd: "/cache" };
  const config = { command: "node", args: ["./serve.mjs"], cwd: "srv", here };
  const server = resolveServer("it", config, { variables: {}, baseFolder: "/base" });
  expect(server.launch).toMatchObject({ command: "node", args: ["/cache/serve.mjs"], cwd: "/cache" });
  expect(mcpServersSchema.safeParse({ it: config }).success).toBe(false); // nobody writes it
});
