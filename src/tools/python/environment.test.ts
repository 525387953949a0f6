import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  answer,
  call,
  createPool,
  domainAt,
  domainOf,
  havePython,
  open,
} from "../../../test/support/python/support.ts";
import { UsageError } from "../../core/index.ts";
import { openPython } from "./environment.ts";

describe.runIf(await havePython())("a dataset's Python servers", () => {
  const pool = createPool();
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  afterAll(async () => {
    await pool.close();
    rmSync(folder, { recursive: true });
  });

  test("the contract's example authorises, asks for consent, books, and shows its state", async () => {
    const example = domainOf("SlotDesk");
    const [servers, entities] = [
      join(folder, "example/mcp_servers/"),
      join(folder, "example/database/outputs/entities/"),
    ];
    for (const made of [servers, entities]) mkdirSync(made, { recursive: true });
    copyFileSync(example.servers[0]?.file as string, join(servers, "SlotDesk.py"));
    writeFileSync(join(entities, "Member.json"), '[{"member_id": "m-1", "name": "Zoë"}, {"member_id": "m-2"}]');
    const desk = await openPython(domainAt(servers, "SlotDesk"), pool, 1);
    expect(await call(desk, "book_slot", { slot_id: "s" })).toEqual({
      content: '{"error": "Session not authorized"}',
      isError: true,
      fault: "tool_error",
    });
    expect(await call(desk, "authorize_member", { member_id: "m-9" })).toMatchObject({ isError: true });
    expect(await call(desk, "authorize_member", { member_id: "m-1" })).toEqual({
      content: '{"success": true}',
      isError: false,
    });
    expect(await desk.state()).toEqual({});
    expect(await answer(desk, "book_slot", { slot_id: "s" })).toEqual({
      needs_confirmation: true,
      action_preview: "Book s",
    });
    const booked = (await answer(desk, "book_slot", { slot_id: "s", confirm: true })) as { booking_id: string };
    expect(await desk.state()).toEqual({
      Booking: { [booked.booking_id]: { booking_id: booked.booking_id, member_id: "m-1", slot_id: "s" } },
    });
    await desk.close();
  });

  test("two rollouts of one seed have sessions of their own", async () => {
    const [first, second] = [await open(pool, "TroubleDesk", 5), await open(pool, "TroubleDesk", 5)];
    await call(first, "add_note", { text: "mine" });
    expect(await second.state()).toEqual({});
    expect(await answer(second, "add_note", { text: "yours" })).toMatchObject({ notes: 1 });
    await Promise.all([first.close(), second.close()]);
  });

  test("generated values are the same for the same seed and call number, and differ otherwise", async () => {
    const other = createPool();
    const play = async (seed: number, where = pool) => {
      const desk = await open(where, "TroubleDesk", seed);
      const values = [(await call(desk, "chance")).content, (await call(desk, "chance")).content];
      await desk.close();
      return values;
    };
    const [first, again, elsewhere, another] = [await play(1), await play(1), await play(1, other), await play(2)];
    await other.close();
    expect(again).toEqual(first);
    expect(elsewhere).toEqual(first);
    const flat = [...first, ...another].map((text) => JSON.parse(text));
    for (const field of ["random", "own", "system", "secret", "bytes"]) {
      expect(new Set(flat.map((values) => values[field])).size).toBe(4);
    }
    expect(new Set(flat.flatMap((values) => values.uuid)).size).toBe(12);
    expect(flat[0].uuid.map((id: string) => id[14])).toEqual(["1", "4", "4"]);
  });

  test("with a start for the clock, times follow from the call number", async () => {
    expect(() => createPool({ clock: "nine" })).toThrow(UsageError);
    const still = createPool({ clock: "2025-03-01T09:00:00" });
    const desk = await open(still, "TroubleDesk");
    await call(desk, "clock");
    expect(await answer(desk, "clock")).toEqual({
      now: "2025-03-01T09:01:00",
      utc: "2025-03-01T09:01:00+00:00",
      today: "2025-03-01",
      time: Date.UTC(2025, 2, 1, 9, 1) / 1000,
      text: "09:01",
      is: [true, true, false],
      parsed: "2020-02-03T00:00:00",
      later: "2025-03-02 09:01:00",
    });
    await still.close();
  });

  test("results arrive as the text that Python wrote, and what JSON cannot carry is visible", async () => {
    const desk = await open(pool, "TroubleDesk");
    expect((await call(desk, "numbers")).content).toBe(
      '{"big": 9223372036854775807, "one": 1.0, "tiny": 1e-07, "nan": "NaN", "inf": ["Infinity", "-Infinity"]}',
    );
    const { content } = await call(desk, "characters");
    expect(content).toBe(
      '{"lone": "a\ufffdz", "pair": "😀", "lines": "\u2028\u0085\\u0000\\n", "when": "2020-01-02", "(1, 2)": "key"}',
    );
    expect((await call(desk, "echo", '{"n": 9223372036854775807, "f": 1.0, "text": "\\ud800"}')).content).toBe(
      '{"n": 9223372036854775807, "f": 1.0, "text": "\ufffd"}',
    );
    expect((await call(desk, "plain", { text: "no JSON:\u2028 {1.0" })).content).toBe("no JSON:\u2028 {1.0");
    await desk.close();
  });

  test("what a server raises is an error result with type and message, and the dialogue goes on", async () => {
    const desk = await open(pool, "TroubleDesk");
    const failed = (message: string) => ({
      content: JSON.stringify({ error: message }),
      isError: true,
      fault: "tool_error",
      trace: expect.stringMatching(/^Traceback [\s\S]*(TroubleDesk|json)/),
    });
    expect(await call(desk, "fail")).toEqual(failed("The tool failed: KeyError: 'missing'"));
    expect(await call(desk, "leave")).toEqual(failed("The tool failed: SystemExit: 3"));
    expect(await call(desk, "circle")).toEqual(failed("The tool failed: ValueError: Circular reference detected"));
    expect(await call(desk, "no_such_tool")).toMatchObject({ content: "Unknown tool: no_such_tool", isError: true });
    expect(await call(desk, "nothing")).toMatchObject({ isError: true, fault: "unknown_tool" });
    expect(await call(desk, "echo", "{")).toMatchObject({ isError: true, fault: "malformed_arguments" });
    expect(await call(desk, "echo", "")).toEqual({ content: "{}", isError: false });
    await desk.close();
  });

  test("state holds new, changed and deleted records, nested values whole", async () => {
    const desk = await open(pool, "TroubleDesk");
    await call(desk, "rewrite_log");
    expect(await desk.state()).toEqual({ Log: { "1": null, "2": { log_id: 2, entry: { deep: [1] } } } });
    await desk.close();
  });

  test("tables of one name are shared in a combination, also when one is replaced or made later; sessions are not", async () => {
    const both = await openPython(domainOf("BankDesk", "MailDesk"), pool, 1);
    expect(await answer(both, "bd__authorize", { customer_id: "c1" })).toMatchObject({
      domain: "BankDesk_MailDesk",
      user: "c1",
    });
    await call(both, "bd__rename", { name: "Cy" });
    expect(await answer(both, "MailDesk.look")).toMatchObject({ error: expect.stringContaining("no tool") });
    const seen = await answer(both, "md__remove", { customer_id: "c2" });
    expect(seen).toMatchObject({ user: null, databases: { Customer: [{ customer_id: "c1", name: "Cy" }] } });
    await call(both, "md__audit");
    const audited = await answer(both, "bd__audit");
    expect(audited).toMatchObject({ databases: { Customer: [{ name: "Cy" }], Account: [] } });
    expect(await both.state()).toEqual({
      Audit: { "0": { line: "from the mail" }, "1": { line: "from the bank" } },
      Customer: { c1: { name: "Cy" }, c2: null },
    });
    await both.close();
  });

  test("a server without tables works, and has no state", async () => {
    const desk = await open(pool, "PlainDesk", 77);
    expect(await call(desk, "no_such_tool")).toEqual({ content: '{"session": "rollout-77"}', isError: false });
    expect(await desk.state()).toEqual({});
    await desk.close();
  });

  test("a closed rollout's session is freed", async () => {
    const alone = createPool();
    const stays = await open(alone, "TroubleDesk", 1);
    for (let seed = 2; seed < 10; seed++) {
      const desk = await open(alone, "TroubleDesk", seed);
      expect(await answer(desk, "sessions")).toBe(seed === 2 ? 1 : 2);
      if (seed === 2) await call(stays, "sessions");
      await desk.close();
    }
    await alone.close();
  });

  test("modules next to a server are its own dataset's, whatever another dataset calls its modules", async () => {
    mkdirSync(join(folder, "mcp_servers"));
    const text = "from helpers import greeting\nclass OtherDeskServer:\n    def __init__(self, domain_name): pass\n";
    const invoke =
      "    def invoke(self, session_id, tool_name, name):\n        import helpers\n        return helpers.greeting(name)\n";
    writeFileSync(join(folder, "mcp_servers", "OtherDesk.py"), text + invoke);
    writeFileSync(join(folder, "mcp_servers", "helpers.py"), "def greeting(name): return 'Goodbye, ' + name\n");
    const other = await openPython(domainAt(`${folder}/mcp_servers/`, "OtherDesk"), pool, 1);
    const desk = await open(pool, "TroubleDesk");
    for (const _ of [1, 2]) {
      expect((await call(desk, "greet", { name: "Ada" })).content).toBe("Hello, Ada");
      expect((await call(other, "no_such_tool", { name: "Ada" })).content).toBe("Goodbye, Ada");
    }
    await Promise.all([desk.close(), other.close()]);
  });

  test("a server that cannot be loaded is a usage error with file and line", async () => {
    const servers = join(folder, "broken/");
    mkdirSync(servers);
    const failing = async (name: string, text: string) => {
      writeFileSync(join(servers, `${name}.py`), text);
      const error = await openPython(domainAt(servers, name), pool, 1).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UsageError);
      return (error as UsageError).message.replace(servers, "");
    };
    expect(await failing("A", "x = 1\nclass AServer\n")).toMatch(/^A\.py:2: cannot be loaded: SyntaxError/);
    expect(await failing("B", "\n\nimport not_installed_here\n")).toMatch(
      /^B\.py:3: .*ModuleNotFoundError.*--python PATH/,
    );
    expect(await failing("C", "class Desk: pass\n")).toBe('C.py: has no class "CServer"; it has Desk');
    expect(await failing("D", "class DServer:\n  def __init__(self, domain_name):\n    open('/none')\n")).toMatch(
      /^D\.py:3: .*FileNotFoundError/,
    );
    const desk = await open(pool, "TroubleDesk");
    expect(await answer(desk, "echo", { still: "here" })).toEqual({ still: "here" });
    await desk.close();
  });
});
