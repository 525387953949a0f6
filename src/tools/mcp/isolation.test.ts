import { expect, test } from "vitest";
import { call, callsIn, contentOf, processesIn, temporaryFile, withHub } from "../../../test/support/mcp/support.ts";

test.each(["fresh", "pool"] as const)(
  "%s: no rollout sees another's state, at once or one after the other",
  (isolation) =>
    withHub({ isolation }, async (hub) => {
      const [one, two] = await Promise.all([hub.open(), hub.open()]);
      expect(await contentOf(call(one, "add", { amount: 5 }))).toBe("5");
      expect(await contentOf(call(two, "read"))).toBe("0");
      await one.close();
      await two.close();
      expect(await contentOf(call(await hub.open(), "read"))).toBe("0");
    }),
);

test("pool: a server with a reset tool is reused by the next rollout, in its first state", async () => {
  const log = temporaryFile();
  await withHub({ isolation: "pool", reset_tool: "reset", flags: ["--log", log] }, async (hub) => {
    for (let rollout = 0; rollout < 3; rollout++) {
      const environment = await hub.open();
      expect(await contentOf(call(environment, "add"))).toBe("1");
      await environment.close();
    }
  });
  expect(processesIn(log)).toHaveLength(1);
});

test("pool: a server whose reset tool fails is replaced", () =>
  withHub({ isolation: "pool", reset_tool: "refuse" }, async (hub) => {
    const first = await hub.open();
    await call(first, "add");
    await first.close();
    expect(await contentOf(call(await hub.open(), "read"))).toBe("0");
  }));

test("pool: a server that was borrowed but not called goes on to the next rollout as it is", async () => {
  const log = temporaryFile();
  await withHub({ flags: ["--log", log] }, async (hub) => {
    await hub.tools();
    await call(await hub.open(), "read");
  });
  expect(processesIn(log)).toHaveLength(1);
});

test("shared: all rollouts talk to one server", async () => {
  const log = temporaryFile();
  await withHub({ isolation: "shared", flags: ["--log", log] }, async (hub) => {
    const [one, two] = await Promise.all([hub.open(), hub.open()]);
    await call(one, "add");
    expect(await contentOf(call(two, "read"))).toBe("1");
  });
  expect(processesIn(log)).toHaveLength(1);
});

test.each(["crash_once", "hang_once"])(
  "after %s a server of one's own starts again, in the state it had",
  async (tool) => {
    const log = temporaryFile();
    await withHub({ flags: ["--log", log], timeout: 4 }, async (hub) => {
      const environment = await hub.open();
      await call(environment, "add", { amount: 5 });
      await call(environment, "add", { amount: 2 });
      expect(await contentOf(call(environment, tool, { file: temporaryFile() }))).toBe("fine");
      expect(await contentOf(call(environment, "read"))).toBe("7");
    });
    expect(callsIn(log).map((line) => line.split(" ")[0])).toEqual(["add", "add", tool, "add", "add", tool, "read"]);
  },
);

test("calls that ran at once when the server crashed share one restart", async () => {
  const log = temporaryFile();
  await withHub({ flags: ["--log", log] }, async (hub) => {
    const environment = await hub.open();
    await call(environment, "add");
    const file = temporaryFile();
    const results = await Promise.all([call(environment, "crash_once", { file }), call(environment, "read")]);
    expect(results.map(({ content }) => content)).toEqual(["fine", "1"]);
    await environment.close();
  });
  expect(callsIn(log).filter((line) => line.startsWith("add"))).toHaveLength(2);
});

test.each([
  ["crash", {}, "exited with code 3", 30],
  ["hang", {}, "did not answer in time", 3],
  ["flood", {}, "wrote more than 16 MB", 30],
  ["huge", { characters: 17 * 1024 * 1024 }, "wrote more than 16 MB", 30],
])("a server that always fails on %s ends the rollout as infrastructure, and no other", (tool, args, reason, timeout) =>
  withHub({ timeout }, async (hub) => {
    const [failing, other] = await Promise.all([hub.open(), hub.open()]);
    await expect(call(failing, tool, args)).rejects.toMatchObject({
      name: "RolloutError",
      boundary: "tool",
      stopReason: "infrastructure",
      message: expect.stringContaining(reason),
    });
    await failing.close();
    expect(await contentOf(call(other, "add"))).toBe("1");
  }),
);

test("where a restarted server answers differently the rollout ends as infrastructure", () =>
  withHub({}, async (hub) => {
    const environment = await hub.open();
    await call(environment, "stamp");
    await expect(call(environment, "crash_once", { file: temporaryFile() })).rejects.toThrow(
      "stamp then answered differently",
    );
  }));

test("a shared server's calls are never repeated: the rollout ends, others go on with a new server", async () => {
  const log = temporaryFile();
  await withHub({ isolation: "shared", flags: ["--log", log] }, async (hub) => {
    const [one, two] = await Promise.all([hub.open(), hub.open()]);
    await expect(call(one, "crash")).rejects.toMatchObject({ boundary: "tool", stopReason: "infrastructure" });
    expect(await contentOf(call(two, "add"))).toBe("1");
  });
  expect(callsIn(log)).toEqual(["crash {}", "add {}"]);
  expect(processesIn(log)).toHaveLength(2);
});

test("one slow call on a shared server does not take it from the others", async () => {
  const log = temporaryFile();
  await withHub({ isolation: "shared", timeout: 3, flags: ["--log", log] }, async (hub) => {
    const environment = await hub.open();
    await call(environment, "add");
    await expect(call(environment, "hang")).rejects.toThrow("did not answer in time");
    expect(await contentOf(call(environment, "read"))).toBe("1");
  });
  expect(processesIn(log)).toHaveLength(1);
});

test("on replay a shared server's record is trusted, a server of one's own executes again", async () => {
  const recorded = { content: "1", isError: false };
  const add = { id: "1", name: "add", arguments: "{}" };
  await withHub({ isolation: "shared" }, async (hub) => {
    expect((await hub.open()).trust?.(add, recorded)).toBe(true);
  });
  await withHub({ isolation: "fresh" }, async (hub) => {
    expect((await hub.open()).trust?.(add, recorded)).toBe(false);
  });
});
