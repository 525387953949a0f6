import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { call, callsIn, FAULTY_SERVER, temporaryFile, until, withHub } from "../../../test/support/mcp/support.ts";
import { writeExact } from "../../core/index.ts";
import { McpHub } from "./hub.ts";

test("a server's tools arrive from all pages, under their own names, with what is known about writing", () =>
  withHub({}, async (hub) => {
    const tools = await hub.tools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["add", "read", "picture", "grow"]));
    expect(tools.find(({ name }) => name === "read")).toMatchObject({ readOnly: true, description: "Does read." });
    expect(tools.find(({ name }) => name === "add")).toEqual({
      name: "add",
      description: "Does add.",
      parameters: { type: "object", properties: { amount: { type: "integer" } } },
      readOnly: false,
    });
  }));

test("the config's word on read-only tools stands above the server's", () =>
  withHub({ read_only: ["add"] }, async (hub) => {
    const environment = await hub.open();
    expect([environment.isReadOnly("add"), environment.isReadOnly("read")]).toEqual([true, false]);
  }));

test("several servers are told apart by prefixes, and each call reaches its own", async () => {
  const server = { command: process.execPath, args: [FAULTY_SERVER] };
  const hub = new McpHub({ servers: { One: server, Two: server }, variables: {}, baseFolder: "/" });
  try {
    const environment = await hub.open();
    await call(environment, "o__add", { amount: 5 });
    expect((await call(environment, "o__read")).content).toBe("5");
    expect((await call(environment, "t__read")).content).toBe("0");
  } finally {
    await hub.close();
  }
});

test("text stays as it came, the rest becomes visible placeholders, and the whole is kept", () =>
  withHub({}, async (hub) => {
    const environment = await hub.open();
    expect(await call(environment, "parts")).toEqual({ content: "one\ntwo", isError: false });
    expect(await call(environment, "structured")).toEqual({ content: '{"total":7}', isError: false });
    const picture = await call(environment, "picture");
    expect(picture.content.split("\n")).toEqual([
      "see:",
      "[image image/png 12 KB]",
      "[audio audio/wav 3 B]",
      "[resource link file:///a.txt text/plain]",
      "[resource file:///b.txt]",
      "inside",
      "[resource file:///c.bin 3 B]",
    ]);
    expect(JSON.parse(picture.raw ?? "").content).toHaveLength(6);
  }));

test("what the tool or the server refuses is an error result that names the reason", () =>
  withHub({}, async (hub) => {
    const environment = await hub.open();
    expect(await call(environment, "refuse")).toEqual({
      content: "no such booking",
      isError: true,
      fault: "tool_error",
    });
    expect(await call(environment, "protocol_error")).toMatchObject({
      isError: true,
      content: expect.stringContaining("the database is away"),
    });
    expect(await call(environment, "malformed")).toMatchObject({ isError: true, fault: "tool_error" });
    expect(await call(environment, "ad")).toMatchObject({ fault: "unknown_tool" });
    expect(await call(environment, "add", { amount: "many" })).toMatchObject({ fault: "invalid_arguments" });
  }));

test("garbage on a server's stdout is skipped and told once", async () => {
  const notices: string[] = [];
  await withHub(
    { flags: ["--garbage"], isolation: "fresh" },
    async (hub) => {
      for (const environment of [await hub.open(), await hub.open()]) {
        expect((await call(environment, "add")).content).toBe("1");
        expect((await call(environment, "add")).content).toBe("2");
      }
    },
    { notice: (message) => notices.push(message) },
  );
  expect(notices).toEqual([expect.stringContaining("Debug")]);
});

test("a tool that runs only as a task is called as one, and its result waited for", () =>
  withHub({}, async (hub) => {
    expect((await call(await hub.open(), "research")).content).toBe("result of task-1");
  }));

test("progress extends the time limit of a call", () =>
  withHub({ timeout: 3 }, async (hub) => {
    expect((await call(await hub.open(), "slow", { steps: 35 })).content).toBe("done");
  }));

test("a cancelled call rejects with the signal's reason, and the server is told", async () => {
  const log = temporaryFile();
  await withHub({ isolation: "shared", flags: ["--log", log] }, async (hub) => {
    const environment = await hub.open();
    const cancel = new AbortController();
    const hanging = environment.call({ id: "1", name: "hang", arguments: "{}" }, cancel.signal);
    await until(() => callsIn(log).length === 1);
    cancel.abort(new Error("the run is over"));
    await expect(hanging).rejects.toThrow("the run is over");
    expect((await call(environment, "cancelled")).content).toBe("1");
  });
});

test("a changed tool list counts for rollouts opened later; the running ones keep theirs", () =>
  withHub({ isolation: "shared" }, async (hub) => {
    const running = await hub.open();
    const before = running.tools;
    await call(running, "grow");
    const later = await hub.open();
    expect(running.tools).toBe(before);
    expect(await call(running, "extra")).toMatchObject({ fault: "unknown_tool" });
    expect((await call(later, "extra")).content).toBe("extra");
  }));

test("rollouts whose servers list the same tools share one list", () =>
  withHub({ isolation: "fresh" }, async (hub) => {
    const [first, second] = [await hub.open(), await hub.open()];
    expect(second.tools).toBe(first.tools);
  }));

test("a server that is slow to start is waited for", () =>
  withHub({ flags: ["--slow-start", "3500"], timeout: 3 }, async (hub) => {
    expect((await call(await hub.open(), "read")).content).toBe("0");
  }));

test("a server that cannot be started ends the rollout with the reason", async () => {
  const open = async (config: object) => {
    const hub = new McpHub({ servers: { it: config }, variables: { PATH: "/usr/bin" }, baseFolder: "/" });
    return hub.open().finally(() => hub.close());
  };
  await expect(open({ command: "no-such-program" })).rejects.toMatchObject({
    name: "RolloutError",
    boundary: "tool",
    stopReason: "infrastructure",
    message: expect.stringContaining('"no-such-program" was not found'),
  });
  await expect(open({ command: "true", cwd: "/no/such/folder" })).rejects.toThrow("could not be started");
  await expect(open({ command: "sh", args: ["-c", "echo broken >&2; exit 4"] })).rejects.toThrow(
    "exited with code 4; it wrote: broken",
  );
  await expect(open({ url: "http://127.0.0.1:1/mcp" })).rejects.toThrow('MCP server "it" (start)');
});

test("a server that speaks only the newest protocol is spoken to in it", async () => {
  const modern = fileURLToPath(new URL("../../../test/support/mcp/modern-server.mjs", import.meta.url));
  const servers = { modern: { command: process.execPath, args: [modern] } };
  const hub = new McpHub({ servers, variables: {}, baseFolder: "/" });
  try {
    const environment = await hub.open();
    expect((await call(environment, "hello")).content).toBe("hello from the new protocol");
    const line = { id: "1", name: "line", arguments: '{"price":2.0,"id":12345678901234567890}' };
    const { content } = await environment.call(line, new AbortController().signal);
    expect(content).toContain(`"arguments":${line.arguments}`);
    expect((await call(environment, "number")).content).toBe('{"total":2.0}');
    expect(writeExact(environment.tools[0]?.parameters)).toContain('"default":{"total":2.0}');
  } finally {
    await hub.close();
  }
});

test("an answer that is nested too deep to be walked is an error result, and the server is still there", () =>
  withHub({}, async (hub) => {
    const environment = await hub.open();
    expect(await call(environment, "deep", { depth: 3000 })).toMatchObject({
      isError: true,
      fault: "tool_error",
      content: expect.stringContaining("nested deeper than 128 levels"),
    });
    expect((await call(environment, "deep", { depth: 20_000, text: true })).content).toHaveLength(40_003);
    expect((await call(environment, "deep", { depth: 3 })).content).toBe('{"deep":[[[1]]]}');
    expect((await call(environment, "huge_error")).content.length).toBeGreaterThan(5_000_000);
  }));
