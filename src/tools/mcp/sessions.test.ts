// Servers at a URL: a session for each rollout where the server has sessions, and what is known where it has none.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { call, temporaryFile } from "../../../test/support/mcp/support.ts";
import type { Environment } from "../../core/index.ts";
import { McpHub } from "./hub.ts";

const NOTES = fileURLToPath(new URL("../../../test/support/mcp/notes_server.py", import.meta.url));

async function openHub(flags: string[], config: object = {}): Promise<McpHub> {
  const server = spawn("python3", [NOTES, "--http", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  const notes = { url: `${String(line).trim()}/mcp`, ...config };
  const hub = new McpHub({ servers: { notes }, variables: {}, baseFolder: "/" });
  onTestFinished(async () => {
    await hub.close();
    server.kill();
  });
  return hub;
}

const add = (environment: Environment, text: string) => call(environment, "add", { text });
const listed = async (environment: Environment) => JSON.parse((await call(environment, "list")).content);
const trusts = (environment: Environment) =>
  environment.trust?.({ id: "1", name: "add", arguments: "{}" }, { content: "", isError: false });

test("each rollout has a session of its own, which is ended with it", async () => {
  const log = temporaryFile();
  const hub = await openHub(["--sessions", "--log", log]);
  await hub.tools();
  const [one, two] = await Promise.all([hub.open(), hub.open()]);
  await add(one, "mine");
  expect([await listed(one), await listed(two)]).toEqual([["mine"], []]);
  expect(trusts(one)).toBe(false);
  expect(hub.shared()).toEqual([]);
  await one.close();
  expect(await listed(await hub.open())).toEqual([]);
  await hub.close();
  const lines = readFileSync(log, "utf8").trim().split("\n");
  const [begun, ended] = ["session", "delete"].map((word) => lines.filter((line) => line.startsWith(word)).length);
  expect([begun, ended]).toEqual([4, 4]);
});

test("a session that the server forgot is replaced by one in the same state", async () => {
  const hub = await openHub(["--sessions", "--forget", "2", "--once", temporaryFile()]);
  const environment = await hub.open();
  await add(environment, "one");
  await add(environment, "two");
  expect(await listed(environment)).toEqual(["one", "two"]);
});

test("a server without session ids is shared, which is known before a rollout begins, with its writing tools", async () => {
  const hub = await openHub([]);
  await hub.tools();
  expect(hub.shared()).toEqual([{ server: "notes", writes: ["add", "reset", "prepare"], lacksSessions: true }]);
  const [one, two] = await Promise.all([hub.open(), hub.open()]);
  await add(one, "seen");
  expect(await listed(two)).toEqual(["seen"]);
  expect(trusts(one)).toBe(true);
});

test.each([
  [{ read_only: true }, []],
  [{ read_only: ["add", "prepare", "list", "whoami"], hidden_tools: ["reset"] }, []],
  [{ isolation: "shared", hidden_tools: ["prepare", "reset"] }, ["add"]],
  [{ isolation: "fresh" }, ["add", "reset", "prepare"]],
  [{ isolation: "pool" }, ["add", "reset", "prepare"]],
])("which tools write there depends on what is offered and said: %j", async (config, writes) => {
  const hub = await openHub([], config);
  await hub.tools();
  expect(hub.shared()).toMatchObject([{ writes }]);
  expect(trusts(await hub.open())).toBe(true);
});

test("a server that has sessions is shared only if the config says so", async () => {
  const hub = await openHub(["--sessions"], { isolation: "shared" });
  const [one, two] = await Promise.all([hub.open(), hub.open()]);
  await add(one, "seen");
  expect(await listed(two)).toEqual(["seen"]);
  expect(hub.shared()).toMatchObject([{ lacksSessions: false }]);
});
