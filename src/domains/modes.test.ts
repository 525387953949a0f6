import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Query, UsageError } from "../core/index.ts";
import { bundledFolder } from "./bundled.ts";
import { type Domain, loadDomain, readToolList } from "./domain.ts";
import type { DomainFiles } from "./folder.ts";
import { openForMode, requireWrongTools } from "./modes.ts";
import { openQueryFiles } from "./query-file.ts";

const others = bundledFolder().list("single");
const query: Query = { id: "q", messages: [], userSystemPrompt: "", taskInfo: {}, hash: "" };
const never = new AbortController().signal;
let domain: Domain;
beforeAll(async () => {
  domain = await loadDomain(bundledFolder().find(["StudentAcademicPortal"]));
});

test("positive offers the domain's own tools, and they work", async () => {
  const environment = await openForMode(domain, { mode: "positive", seed: 1, query, others });
  expect(environment.tools).toEqual(domain.toolbox.tools);
  const result = await environment.call({ id: "1", name: "search_courses", arguments: '{"term":"2026SP"}' }, never);
  expect(result.isError).toBe(false);
});

test("no_tool offers none, and a call is answered as an unknown tool", async () => {
  const environment = await openForMode(domain, { mode: "no_tool", seed: 1, query, others });
  expect(environment.tools).toEqual([]);
  const result = await environment.call({ id: "1", name: "search_courses", arguments: "{}" }, never);
  expect(result).toMatchObject({ isError: true, fault: "unknown_tool", content: expect.stringContaining("No tools") });
  expect(await environment.state()).toEqual({});
});

test("wrong_tool offers the query's own tools, which answer with an error", async () => {
  const tools = [{ type: "function", function: { name: "order_pizza", description: "Orders.", parameters: {} } }];
  const environment = await openForMode(domain, { mode: "wrong_tool", seed: 1, query: { ...query, tools }, others });
  expect(environment.tools).toMatchObject([{ name: "order_pizza", description: "Orders." }]);
  const call = (name: string) => environment.call({ id: "1", name, arguments: "{}" }, never);
  expect(await call("order_pizza")).toMatchObject({ isError: true, fault: "tool_error" });
  expect(await call("search_courses")).toMatchObject({ isError: true, fault: "unknown_tool" });
});

/** The bundled domains under other names, as lists that a domain may borrow. */
function borrowed(name: string, from: string): DomainFiles {
  const files = bundledFolder().find([from]);
  return { ...files, name, servers: [name], toolListFiles: { [name]: files.toolListFiles[from] as string } };
}

test("without tools of its own a query gets another domain's, chosen by seed", async () => {
  const choices = [
    borrowed("Money", "StudentFinancialServices"),
    borrowed("Health", "StudentHealthServices"),
    borrowed("Same", "StudentAcademicPortal"),
  ];
  const own = new Set(domain.toolbox.names());
  const allowed = choices.filter((files) => !readToolList(files.name, files).some((tool) => own.has(tool.name)));
  const offered = new Set<string>();
  for (let seed = 0; seed < 30; seed++) {
    const first = await openForMode(domain, { mode: "wrong_tool", seed, query, others: choices });
    const again = await openForMode(domain, { mode: "wrong_tool", seed, query, others: choices });
    expect(again.tools).toEqual(first.tools);
    offered.add(first.tools.map((tool) => tool.name).join());
  }
  expect(offered.size).toBe(allowed.length);
  expect(allowed.map(({ name }) => name)).not.toContain("Same");
});

test("a domain that shares a tool's name is never borrowed from, and neither is the domain itself", async () => {
  for (let seed = 0; seed < 10; seed++) {
    const { tools } = await openForMode(domain, { mode: "wrong_tool", seed, query, others });
    expect(tools.length).toBeGreaterThan(0);
    expect(tools.filter((tool) => domain.toolbox.resolve(tool.name))).toEqual([]);
  }
});

describe("before a run in wrong_tool", () => {
  const tools = [{ type: "function", function: { name: "order_pizza" } }];
  const open = (...records: object[]) => {
    const folder = mkdtempSync(join(tmpdir(), "rollout-modes-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "queries.jsonl");
    writeFileSync(file, records.map((record) => `${JSON.stringify({ query: "Hi", ...record })}\n`).join(""));
    return openQueryFiles([file]);
  };
  const queries = () => open({ id: "own", tools }, { id: "bare" }, { id: "empty", tools: [] });
  const requiring = (chosen: number[], lenders: DomainFiles[]) => () =>
    requireWrongTools(domain, { dataset: "Desk", queries: queries(), chosen, others: lenders });

  test("a query without tools of its own needs a domain that shares no tool name", () => {
    const same = borrowed("Same", "StudentAcademicPortal");
    expect(requiring([0, 1, 2], [same])).toThrow(UsageError);
    expect(requiring([0, 1, 2], [same])).toThrow(/queries\.jsonl:2: Desk: .* for query "bare" \(and 1 more\):/);
    expect(requiring([0, 2], [])).toThrow(/for query "empty": it has no "tools"/);
    expect(requiring([0, 1, 2], [borrowed("Health", "StudentHealthServices")])).not.toThrow();
  });

  test("only the queries that are to be played count", () => {
    expect(requiring([0], [])).not.toThrow();
    expect(requiring([], [])).not.toThrow();
  });

  test("a combination borrows from neither of its own domains", async () => {
    const pair = await loadDomain(bundledFolder().find(["StudentAcademicPortal", "StudentFinancialServices"]));
    const all = { dataset: "Desk", queries: queries(), chosen: [1] };
    const health = others.filter(({ name }) => name === "StudentHealthServices");
    expect(() => requireWrongTools(pair, { ...all, others })).not.toThrow();
    expect(() =>
      requireWrongTools(pair, { ...all, others: others.filter((files) => !health.includes(files)) }),
    ).toThrow(/nothing to offer for query "bare"/);
  });
});

test("where no domain can lend its tools, the rollout ends instead of being offered none", async () => {
  const opening = openForMode(domain, { mode: "wrong_tool", seed: 1, query, others: [] });
  await expect(opening).rejects.toMatchObject({ name: "RolloutError", boundary: "infrastructure" });
});
