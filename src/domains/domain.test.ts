import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { UsageError } from "../core/index.ts";
import { loadDomain } from "./domain.ts";
import { DatasetFolder } from "./folder.ts";

const root = mkdtempSync(join(tmpdir(), "rollout-domain-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;

const tool = (name: string) => ({
  type: "function",
  function: { name, description: name, parameters: { type: "object" } },
});
const library: { [file: string]: string } = {
  "mcp_servers/Library.mjs": `export default {
    today: "2026-02-10",
    reads: { get_book: ({ table }, args) => table("Book").get(args.book_id) ?? { error: "No such book." } },
    writes: { lend: ({ table }, args) => table("Book").update(args.book_id, { lent: true }) },
    rules: [{ id: "read-first", rule: "authorize_first", tool: "get_book", except: ["lend"] }, { id: "never", rule: "forbidden", tools: ["lend"] }],
    volatile: { Book: ["at"] },
  };`,
  "tool_lists/Library.json": JSON.stringify([tool("get_book"), tool("lend")]),
  "policies/Library.md":
    "<!-- POLICY_START -->\n# Desk\n\n<!-- GLOBAL_RULES_END -->\n\n<!-- TOOL: lend -->\nAsk first.\n<!-- TOOL_END: lend -->\n<!-- POLICY_END -->\n",
  "database/outputs/entities/Book.json": JSON.stringify([{ book_id: "b1" }, { book_id: "b2" }]),
  "queries/Library.jsonl": '{"id":"q","messages":[{"role":"user","content":"Hi"}]}\n',
};
const museum: { [file: string]: string } = {
  "mcp_servers/Museum.mjs": `export default { today: "2026-02-10", reads: { look: ({ table }) => table("Book").where().map((row) => ({ ...row })) }, writes: {}, volatile: { Book: ["by"] } };`,
  "tool_lists/Museum.json": JSON.stringify([{ name: "look" }]),
};

function folderWith(files: { [file: string]: string }): DatasetFolder {
  const base = join(root, String(++made));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, file)), { recursive: true });
    writeFileSync(join(base, file), text);
  }
  return new DatasetFolder(base);
}
const load = (files: { [file: string]: string }, ...names: string[]) =>
  loadDomain(folderWith(files).find(names.length > 0 ? names : ["Library"]));
const signal = new AbortController().signal;

describe("a domain", () => {
  test("has its tools, its policy without markers, and fresh environments", async () => {
    const domain = await load(library);
    expect(domain.toolbox.tools.map(({ name, readOnly }) => [name, readOnly])).toEqual([
      ["get_book", true],
      ["lend", false],
    ]);
    expect(domain.policy).toBe("# Desk\n\nAsk first.");
    const [one, other] = [await domain.openEnvironment({ seed: 1 }), await domain.openEnvironment({ seed: 1 })];
    await one.call({ id: "c", name: "lend", arguments: '{"book_id":"b1"}' }, signal);
    expect(await one.state()).toEqual({ Book: { b1: { lent: true } } });
    expect(await other.state()).toEqual({});
  });

  test("runs without policy and without data", async () => {
    const { "policies/Library.md": _policy, "database/outputs/entities/Book.json": _data, ...rest } = library;
    const domain = await load(rest);
    expect(domain.policy).toBeUndefined();
    const environment = await domain.openEnvironment({ seed: 1 });
    const result = await environment.call({ id: "c", name: "get_book", arguments: '{"book_id":"b1"}' }, signal);
    expect(result.content).toBe('{"error":"No such book."}');
  });

  test("has a hash that changes with its tools, its code, its data and its style of names, and with nothing else", async () => {
    const { contentHash } = await load(library);
    expect((await load(library)).contentHash).toBe(contentHash);
    expect((await load({ ...library, "policies/Library.md": "other", "queries/Library.jsonl": "" })).contentHash).toBe(
      contentHash,
    );
    for (const file of ["mcp_servers/Library.mjs", "tool_lists/Library.json", "database/outputs/entities/Book.json"]) {
      expect((await load({ ...library, [file]: `${library[file]}\n` })).contentHash).not.toBe(contentHash);
    }
    const dotted = await loadDomain(folderWith(library).find(["Library"]), { nameStyle: "dotted" });
    expect(dotted.contentHash).not.toBe(contentHash);
  });
});

describe("a combination", () => {
  const files = { ...library, ...museum, "policies/Museum_Library.md": "Both." };

  test("shares its data, its policy and its rules under the names on the wire", async () => {
    const domain = await load(files, "Library", "Museum");
    expect(domain.policy).toBe("Both.");
    expect(domain.toolbox.names()).toEqual(["l__get_book", "l__lend", "m__look"]);
    expect(domain.rules).toEqual([
      { id: "read-first", rule: "authorize_first", tool: "l__get_book", except: ["l__lend"] },
      { id: "never", rule: "forbidden", tools: ["l__lend"] },
    ]);
    expect(domain.volatile).toEqual({ Book: ["at", "by"] });
    const environment = await domain.openEnvironment({ seed: 1 });
    await environment.call({ id: "c", name: "Library.lend", arguments: '{"book_id":"b2"}' }, signal);
    const { content } = await environment.call({ id: "d", name: "look", arguments: "" }, signal);
    expect(JSON.parse(content)).toEqual([{ book_id: "b1" }, { book_id: "b2", lent: true }]);
  });

  test("is the same in whatever order its domains are named", async () => {
    const [one, other] = [await load(files, "Museum", "Library"), await load(files, "Library", "Museum")];
    expect(other.toolbox.tools).toEqual(one.toolbox.tools);
    expect(other.contentHash).toBe(one.contentHash);
    expect(other.name).toBe(one.name);
  });
});

describe("what a user can mend is said with the file", () => {
  const without = (file: string) => Object.fromEntries(Object.entries(library).filter(([name]) => name !== file));

  test.each<[string, { [file: string]: string }, string]>([
    ["no server", without("mcp_servers/Library.mjs"), "Library cannot run: mcp_servers/Library"],
    ["no tool list", without("tool_lists/Library.json"), "tool_lists/Library.json is missing"],
    [
      "a server of another shape",
      { ...library, "mcp_servers/Library.mjs": "export default { tools: [] };" },
      "Library.mjs: the default export must be a server: { today, reads, writes }",
    ],
    [
      "a tool that nobody wrote",
      { ...library, "tool_lists/Library.json": JSON.stringify([tool("get_book"), tool("lend"), tool("renew")]) },
      "Library.json: mcp_servers/Library has no renew",
    ],
    [
      "a tool that is not listed",
      { ...library, "tool_lists/Library.json": JSON.stringify([tool("get_book")]) },
      "Library.json: lend of mcp_servers/Library is not in this list",
    ],
    [
      "a list that is no list",
      { ...library, "tool_lists/Library.json": "{}" },
      "Library.json: a tool list must be a JSON array",
    ],
    [
      "a tool without a name",
      { ...library, "tool_lists/Library.json": '[{"type":"function"}]' },
      "Library.json: tool 1 has no name",
    ],
    [
      "a list that is not JSON",
      { ...library, "tool_lists/Library.json": '[\n  {"name": "get_book"},\n  {"name" "lend"}\n]' },
      "Library.json:3:11: is not valid JSON",
    ],
    [
      "a table that is no list",
      { ...library, "database/outputs/entities/Book.json": '{"b1":{}}' },
      "Book.json: a table must be a list of records",
    ],
    [
      "a table that is not JSON",
      { ...library, "database/outputs/entities/Book.json": "[\n  {},\n]" },
      "Book.json:3:1: is not valid JSON",
    ],
  ])("%s", async (_what, files, message) => {
    const folder = folderWith({ "queries/Library.jsonl": "", "tool_lists/Other.json": "[]", ...files });
    const [domain] = folder.list("single").filter(({ name }) => name === "Library");
    const error = await loadDomain(domain ?? folder.find(["Library"])).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toContain(message);
  });
});
