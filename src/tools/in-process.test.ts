import { describe, expect, test } from "vitest";
import type { Environment, Json, ToolSpec } from "../core/index.ts";
import type { DomainServer } from "./domain-server.ts";
import { toToolResult } from "./domain-session.ts";
import { openInProcess } from "./in-process.ts";
import { Toolbox } from "./naming.ts";
import { BaseTable, Database } from "./tables.ts";

const library: DomainServer = {
  today: "2026-02-10",
  reads: {
    get_book: ({ table }, { book_id }: { book_id: string }) => table("Book").get(book_id) ?? { error: "No such book." },
    whoami: ({ session }) => session.reader ?? null,
    explode: () => {
      throw new Error("the shelf fell over");
    },
  },
  writes: {
    sign_in: ({ session }, { reader }: { reader: string }) => {
      session.reader = reader;
      return { success: true };
    },
    lend: async (context, { book_id }: { book_id: string }) => {
      context.table("Book").update(book_id, { lent: true });
      const row = { loan_id: context.newId("LOAN"), again: context.newId("LOAN"), book_id, at: context.now() };
      return context.table("Loan").insert(row);
    },
  },
};
const museum: DomainServer = {
  today: "2026-02-11",
  reads: { look: ({ table, session, today }) => ({ book: table("Book").get("b1") ?? null, session, today }) },
  writes: {},
};

function specs(server: DomainServer): ToolSpec[] {
  const spec = (name: string, readOnly: boolean) => ({ name, description: "", parameters: {}, readOnly });
  return [
    ...Object.keys(server.reads).map((name) => spec(name, true)),
    ...Object.keys(server.writes).map((name) => spec(name, false)),
  ];
}

const servers = new Map([
  ["Library", library],
  ["Museum", museum],
]);
const toolbox = new Toolbox([...servers].map(([server, module]) => ({ server, tools: specs(module) })));
const database = new Database([new BaseTable("Book", [{ book_id: "b1", lent: false }])]);
const open = (seed = 7) => openInProcess({ toolbox, servers, database }, seed);

async function call(environment: Environment, name: string, args: Json = {}) {
  const wanted = { id: "c", name, arguments: JSON.stringify(args) };
  const result = await environment.call(wanted, new AbortController().signal);
  return { ...result, value: JSON.parse(result.content) };
}

describe("an in-process environment", () => {
  test("answers calls, and keeps what they changed", async () => {
    const environment = open();
    expect((await call(environment, "get_book", { book_id: "b1" })).value).toEqual({ book_id: "b1", lent: false });
    const { value } = await call(environment, "lend", { book_id: "b1" });
    expect(await environment.state()).toEqual({ Book: { b1: { lent: true } }, Loan: { [value.loan_id]: value } });
  });

  test("shares nothing with another environment of the same domain", async () => {
    const [one, other] = [open(), open()];
    await call(one, "lend", { book_id: "b1" });
    await call(one, "sign_in", { reader: "ann" });
    expect((await call(other, "get_book", { book_id: "b1" })).value.lent).toBe(false);
    expect((await call(other, "whoami")).value).toBeNull();
    expect(await other.state()).toEqual({});
  });

  test("lets servers of a combination see each other's writes, but not each other's sessions", async () => {
    const environment = open();
    await call(environment, "sign_in", { reader: "ann" });
    await call(environment, "lend", { book_id: "b1" });
    expect((await call(environment, "m__look")).value).toEqual({
      book: { book_id: "b1", lent: true },
      session: {},
      today: "2026-02-11",
    });
  });

  test("draws the same ids and times for the same seed and call number, and others otherwise", async () => {
    const lend = async (seed: number, before: number) => {
      const environment = open(seed);
      for (let n = 0; n < before; n++) await call(environment, "no_such_tool");
      return (await call(environment, "lend", { book_id: "b1" })).value;
    };
    const first = await lend(7, 0);
    expect(await lend(7, 0)).toEqual(first);
    const drawn = [first, await lend(8, 0), await lend(7, 1)].flatMap(({ loan_id, again }) => [loan_id, again]);
    expect(new Set(drawn).size).toBe(6);
    for (const id of drawn) expect(id).toMatch(/^LOAN-[0-9a-f]{8}$/);
    expect(first.at).toMatch(/^2026-02-10T\d\d:\d\d:00Z$/);
    expect((await lend(7, 1)).at > first.at).toBe(true);
  });

  test("numbers calls in the order they were made, also where they run at once", async () => {
    const environment = open();
    const together = await Promise.all(["x", "y"].map(() => call(environment, "lend", { book_id: "b1" })));
    const alone = open();
    const inTurn = [await call(alone, "lend", { book_id: "b1" }), await call(alone, "lend", { book_id: "b1" })];
    expect(together.map(({ value }) => value)).toEqual(inTurn.map(({ value }) => value));
  });

  test("answers unknown tools, malformed and ambiguous calls as error results", async () => {
    const environment = open();
    expect(await call(environment, "get_bok")).toMatchObject({ isError: true, fault: "unknown_tool" });
    const malformed = { id: "c", name: "get_book", arguments: "{" };
    expect(await environment.call(malformed, new AbortController().signal)).toMatchObject({
      isError: true,
      fault: "malformed_arguments",
    });
  });

  test("turns what a tool throws into an error result, and goes on", async () => {
    const environment = open();
    expect(await call(environment, "explode")).toMatchObject({
      isError: true,
      fault: "tool_error",
      value: { error: "The tool failed: the shelf fell over" },
    });
    expect(await call(environment, "lend", { book_id: "zzz" })).toMatchObject({ isError: true, fault: "tool_error" });
    expect((await call(environment, "get_book", { book_id: "b1" })).isError).toBe(false);
  });

  test("knows which tools only read; a tool that nobody has changes nothing either", () => {
    const environment = open();
    expect(["l__get_book", "lend", "m__look", "nonsense"].map((name) => environment.isReadOnly(name))).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
});

test.each<[Json, boolean]>([
  [{ error: "no" }, true],
  [{ success: false, message: "no" }, true],
  [{ error: null, success: true }, false],
  [{ needs_confirmation: true, action_preview: "Lend b1" }, false],
  ["plain text", false],
  [null, false],
  [[{ error: "an item" }], false],
])("by contract, %j is an error: %s", (value, isError) => {
  expect(toToolResult(value)).toEqual({
    content: typeof value === "string" ? value : JSON.stringify(value),
    isError,
    ...(isError ? { fault: "tool_error" } : {}),
  });
});
