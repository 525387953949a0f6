// Whom a server serves: what it is told, what it is started with, which of its tools are offered.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { call, isRunning, processesIn, temporaryFile, until } from "../../../test/support/mcp/support.ts";
import { type Environment, type Query, wellFormed } from "../../core/index.ts";
import { launchFor, type McpServerConfig, mcpServersSchema, resolveServer } from "./config.ts";
import { McpHub, type McpHubOptions } from "./hub.ts";
import type { ServerWorld } from "./places.ts";
import { ServerSlots } from "./server-slots.ts";

const NOTES = fileURLToPath(new URL("../../../test/support/mcp/notes_server.py", import.meta.url));
/** as a config writes a place */
const place = (name: string) => `\${${name}}`;

function worldOf(id: string, taskInfo: Query["taskInfo"] = {}, rollout = 0): ServerWorld {
  return { dataset: "shop", seed: 7, rollout, query: { id, taskInfo, messages: [], userSystemPrompt: "", hash: "" } };
}

function openHub(servers: Record<string, McpServerConfig>, options: Partial<McpHubOptions> = {}): McpHub {
  const hub = new McpHub({ servers, variables: { PATH: process.env.PATH }, baseFolder: "/", ...options });
  onTestFinished(() => hub.close());
  return hub;
}

const notes = (config: Partial<McpServerConfig> = {}, ...flags: string[]): McpServerConfig => ({
  command: "python3",
  args: [NOTES, ...flags],
  ...config,
});

async function serveNotes(...flags: string[]): Promise<string> {
  const server = spawn("python3", [NOTES, "--http", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill());
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  return String(line).trim();
}

const whoami = async (environment: Environment) => JSON.parse((await call(environment, "whoami")).content);
const listed = async (environment: Environment) => JSON.parse((await call(environment, "list")).content);

test.each(["fresh", "pool"] as const)("%s: initialize and each call say whom they are for", async (isolation) => {
  const hub = openHub({ notes: notes({ isolation }) });
  await hub.tools(worldOf("q0"));
  for (const [id, rollout] of [
    ["q0", 0],
    ["q1", 0],
    ["q1", 1],
  ] as const) {
    const environment = await hub.open(worldOf(id, {}, rollout));
    const task = { dataset: "shop", query_id: id, rollout, seed: 7 };
    expect(await whoami(environment)).toMatchObject({ opened: task, called: task });
    await environment.close();
  }
});

test("a server that serves many knows them by their calls", async () => {
  for (const more of [{ isolation: "shared" } as const, { isolation: "pool", reset_tool: "reset" } as const]) {
    const hub = openHub({ notes: notes(more) });
    for (const id of ["q0", "q1"]) {
      const environment = await hub.open(worldOf(id));
      const called = { dataset: "shop", query_id: id, rollout: 0, seed: 7 };
      expect(await whoami(environment)).toMatchObject({ opened: { dataset: "shop" }, called });
      await environment.close();
    }
  }
});

test("arguments and variables are filled for each rollout, which then has a server of its own", async () => {
  const env = { WORLD_ID: `${place("QUERY_ID")}/${place("ROLLOUT")}`, WORLD_SET: place("DATASET") };
  const args = [
    "--city",
    place("TASK.home.city"),
    `--n=${place("TASK.counts.1")}`,
    place("SEED"),
    place("TASK.x:-none"),
  ];
  const hub = openHub({ notes: notes({ env }, ...args) });
  const world = worldOf("q 1", { home: { city: "Ulm; rm -rf $HOME `x`" }, counts: [1, 2.5] }, 3);
  const seen = await whoami(await hub.open(world));
  expect(seen.args).toEqual(["--city", "Ulm; rm -rf $HOME `x`", "--n=2.5", "7", "none"]);
  expect(seen.env).toEqual({ WORLD_ID: "q 1/3", WORLD_SET: "shop" });
});

test("nothing inside a value is filled again, and the places stand above variables of the same name", async () => {
  const variables = { PATH: process.env.PATH, SEED: "of the shell", NESTED: place("QUERY_ID") };
  const env = {
    WORLD_A: place("TASK.a"),
    WORLD_SEED: place("SEED"),
    WORLD_B: `${place("NESTED")} ${place("ROLLOUT")}`,
  };
  const hub = openHub({ notes: notes({ env }) }, { variables });
  const a = `${place("QUERY_ID")} ${place("WORK_FOLDER")} ${place("NESTED")}`;
  expect((await whoami(await hub.open(worldOf("q", { a })))).env).toEqual({
    WORLD_A: a,
    WORLD_SEED: "7",
    WORLD_B: `${place("QUERY_ID")} 0`,
  });
});

test("a field that a query lacks is named with the query, and so is a value that cannot be used", async () => {
  const hub = openHub({ notes: notes({ env: { WORLD_CITY: place("TASK.city") } }) });
  expect(() => hub.requireWorld(worldOf("q7", { town: "Ulm" }))).toThrow(
    `mcpServers.notes.env.WORLD_CITY: query "q7" has no task_info.city for ${place("TASK.city")}`,
  );
  await expect(hub.open(worldOf("q7"))).rejects.toMatchObject({
    name: "RolloutError",
    stopReason: "infrastructure",
    message: expect.stringContaining('query "q7" has no task_info.city'),
  });
  for (const city of [null, "a\0b"]) expect(() => hub.requireWorld(worldOf("q7", { city }))).toThrow("WORLD_CITY");
  expect(() => hub.requireWorld(worldOf("q7", { city: "" }))).not.toThrow();
  const inherited = openHub({ notes: notes({ args: [place("TASK.constructor"), place("TASK.__proto__.x")] }) });
  expect(() => inherited.requireWorld(worldOf("q7"))).toThrow("has no task_info.constructor");
});

test("addresses and headers get values that cannot leave their place", async () => {
  const url = await serveNotes("--sessions");
  const path = `/${place("TASK.team")}/mcp?id=${place("QUERY_ID")}`;
  const headers = { "X-World": `<${place("TASK.note")}>` };
  const hub = openHub({ notes: { url: `${url}${path}`, headers } });
  const world = worldOf("a&b=c#d", { team: "../x/y?z", note: "one\r\nX-Evil: 1 中" });
  const seen = await whoami(await hub.open(world));
  expect(seen.path).toBe("/..%2Fx%2Fy%3Fz/mcp?id=a%26b%3Dc%23d");
  expect(seen.headers).toEqual({ "x-world": "<one%0D%0AX-Evil: 1 %E4%B8%AD>" });
  for (const team of ["..", "."])
    expect(() => hub.requireWorld(worldOf("q", { team, note: "" }))).toThrow("another path");
});

test("whatever a query holds, an address keeps its host and its path", () => {
  const url = `http://${place("TASK.tenant:-main")}.example.com:8080/a/${place("TASK.team")}/b?q=${place("QUERY_ID")}`;
  const server = resolveServer("it", { url }, { variables: {}, baseFolder: "/" });
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string(), (team, id, tenant) => {
      let launch: ReturnType<typeof launchFor>;
      try {
        launch = launchFor(server, worldOf(id, { team, tenant }), "");
      } catch (error) {
        expect((error as Error).message).toMatch(/leads to another path|part of a host's name|not a URL/);
        return;
      }
      if (launch.kind !== "http") throw new Error("not an address");
      expect(launch.url.host).toBe(`${tenant.toLowerCase()}.example.com:8080`);
      expect(launch.url.pathname.split("/")).toEqual(["", "a", encodeURIComponent(wellFormed(team)), "b"]);
      expect([launch.url.searchParams.get("q"), launch.url.hash]).toEqual([wellFormed(id), ""]);
    }),
  );
});

test.each([
  [{ command: "x", args: [place("QUERY_ID")], isolation: "pool" }, `"pool" does not go with ${place("QUERY_ID")}`],
  [
    { command: "x", env: { A: place("TASK.a.b") }, isolation: "shared" },
    `"shared" does not go with ${place("TASK.a.b")}`,
  ],
  [{ url: `http://a/${place("SEED")}`, isolation: "shared" }, '("fresh" or "session")'],
  [
    { url: "http://a", headers: { X: place("ROLLOUT") }, isolation: "pool" },
    `"pool" does not go with ${place("ROLLOUT")}`,
  ],
  [{ command: "x", args: [place("QUERY_ID")], reset_tool: "r" }, 'needs isolation "pool"'],
  [{ command: "x", isolation: "session" }, '"session" needs "url"'],
  [{ command: "x", cwd: place("QUERY_ID") }, "may stand in args, env, url and headers only"],
])("a server like %j is refused", (server, reason) => {
  const parsed = mcpServersSchema.safeParse({ it: server });
  expect(JSON.stringify(parsed.error?.issues ?? "accepted")).toContain(reason.replaceAll('"', '\\"'));
});

test("a server that is started for one query is fresh by default; the dataset is everybody's", () => {
  const isolationOf = (server: McpServerConfig) =>
    resolveServer("it", server, { variables: {}, baseFolder: "/" }).isolation;
  expect(isolationOf({ command: "x", args: [place("QUERY_ID")] })).toBe("fresh");
  expect(isolationOf({ command: "x", env: { A: place("DATASET") } })).toBe("pool");
  expect(isolationOf({ url: `http://a/${place("QUERY_ID")}` })).toBe("session");
  expect(() => isolationOf({ url: place("TASK.url") })).toThrow("must begin with http");
});

test("hidden tools and the reset tool are unknown to the agent; setup may call them, even if nobody lists them", async () => {
  const hub = openHub({ notes: notes({ isolation: "pool", reset_tool: "reset", hidden_tools: ["prepare"] }) });
  const environment = await hub.open(worldOf("q"));
  expect(environment.tools.map(({ name }) => name)).toEqual(["add", "list", "whoami"]);
  for (const name of ["prepare", "reset", "notes.prepare", "notes__reset", "unlisted"]) {
    const refused = await call(environment, name, { text: "no" });
    expect(refused).toMatchObject({ isError: true, fault: "unknown_tool" });
    expect(refused.content).not.toMatch(/tools: .*(prepare|reset)/);
  }
  const setup = (name: string, args: object) =>
    environment.call({ id: "1", name, arguments: JSON.stringify(args), by: "setup" }, new AbortController().signal);
  expect(await setup("prepare", { text: "one" })).toMatchObject({ content: "1", isError: false });
  expect(await setup("unlisted", { text: "two" })).toMatchObject({ content: "2", isError: false });
  expect(await setup("prepare", { text: 3 })).toMatchObject({ isError: true, fault: "invalid_arguments" });
  expect(await listed(environment)).toEqual(["one", "two"]);
});

test("with several servers, a hidden tool's namesake elsewhere stays", async () => {
  const hub = openHub({ One: notes({ hidden_tools: ["add"] }), Two: notes() });
  const environment = await hub.open(worldOf("q"));
  const names = environment.tools.map(({ name }) => name);
  expect([names.includes("o__add"), names.includes("t__add")]).toEqual([false, true]);
  const asked = { id: "1", name: "One.unlisted", arguments: '{"text":"x"}', by: "setup" } as const;
  expect(await environment.call(asked, new AbortController().signal)).toMatchObject({ content: "1" });
  expect(JSON.parse((await call(environment, "o__list")).content)).toEqual(["x"]);
  expect(JSON.parse((await call(environment, "t__list")).content)).toEqual([]);
});

test("a server that dies while starting is tried three times more", async () => {
  const log = temporaryFile();
  const die = temporaryFile();
  writeFileSync(die, "x\n".repeat(4)); // dies three times
  const hub = openHub({ notes: notes({}, "--log", log, "--die", die) });
  expect(await listed(await hub.open(worldOf("q")))).toEqual([]);
  expect(processesIn(log)).toHaveLength(4);
  writeFileSync(die, "x\n".repeat(9));
  await expect(openHub({ notes: notes({}, "--log", log, "--die", die) }).open(worldOf("q"))).rejects.toThrow(
    "exited with code 1; it wrote: not yet",
  );
  expect(processesIn(log)).toHaveLength(8);
});

test("a server that nobody uses ends by itself, or makes room for one that is needed, the longest unused first", async () => {
  const logs = ["one", "two", "three"].map(() => temporaryFile());
  const hubsWith = (slots: ServerSlots) => logs.map((log) => openHub({ notes: notes({}, "--log", log) }, { slots }));
  const running = () => logs.map((log) => (processesIn(log).some(isRunning) ? 1 : 0));
  const [one, two, three] = hubsWith(new ServerSlots({ workers: 2 })) as [McpHub, McpHub, McpHub];
  await one.tools(worldOf("q"));
  await two.tools(worldOf("q"));
  expect(running()).toEqual([1, 1, 0]);
  const held = await three.open(worldOf("q"));
  expect(running()).toEqual([0, 1, 1]);
  const [waiting, next] = [one.open(worldOf("q")), two.open(worldOf("q"))]; // the second is ready, but not first in line
  await expect(waiting.then(() => running())).resolves.toEqual([1, 0, 1]);
  await held.close();
  await expect(next.then(() => running())).resolves.toMatchObject({ 1: 1 });
  await Promise.all([one, two, three].map((hub) => hub.close()));
  expect(running()).toEqual([0, 0, 0]);
  const [idle] = hubsWith(new ServerSlots({ idleMs: 50 })) as [McpHub];
  await idle.tools(worldOf("q"));
  await until(() => !processesIn(logs[0] as string).some(isRunning));
  expect(await listed(await idle.open(worldOf("q")))).toEqual([]);
});
