import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeTables, tableText } from "../../scripts/make-bundled-data.ts";
import { canonicalJson, END_TOKENS, listPlannedCalls, parseJson, type Query } from "../core/index.ts";
import type { PlanTurn } from "../core/reference-plan.ts";
import { BUNDLED_PATH, bundledFolder } from "./bundled.ts";
import { type Domain, loadDomain } from "./domain.ts";
import { expectedState, playPlan, withoutVolatile } from "./play-plan.ts";
import { openQueryFiles } from "./query-file.ts";

const folder = bundledFolder();
const datasets = [...folder.list("single"), ...folder.list("cross")].filter((files) => files.queryFiles.length > 0);

describe.each(datasets.map((files) => [files.name, files] as const))("%s", (name, files) => {
  const queries = openQueryFiles(files.queryFiles);
  const all = queries.ids.map((_, index) => queries.load(index));

  test("has its files, tools and enough queries, each with a unique id", async () => {
    const domain = await loadDomain(files);
    expect(files.missing).toEqual([]);
    expect(queries.repeats).toBe(0);
    expect(queries.clashes).toEqual([]);
    expect(all.length).toBeGreaterThanOrEqual(files.servers.length === 1 ? 25 : 15);
    if (files.servers.length === 1) {
      expect(domain.toolbox.tools.length).toBeGreaterThanOrEqual(10);
      expect(domain.toolbox.tools.length).toBeLessThanOrEqual(15);
    }
    const used = new Set(all.flatMap((query) => listPlannedCalls(query.taskInfo.plan ?? []).map((call) => call.name)));
    if (files.servers.length === 1) {
      expect(domain.toolbox.names().filter((tool) => !used.has(tool))).toEqual([]);
    }
  });

  test("about one query in six ends in a refusal, a transfer or out of scope", () => {
    const ends = all.filter(
      (query) => !lastLine(query).includes("###STOP###") || canonicalJson(query.taskInfo.expected_state) === "{}",
    );
    expect(ends.length / all.length).toBeGreaterThanOrEqual(1 / 8);
    const tokens = new Set(
      all.map((query) => Object.keys(END_TOKENS).find((token) => lastLine(query).includes(token))),
    );
    expect(tokens.size).toBeGreaterThanOrEqual(2);
  });

  test("no two queries open alike", () => {
    const openings = all.map((query) => query.messages[0]?.content);
    expect(new Set(openings).size).toBe(all.length);
    expect(new Set(openings.map((text) => text?.split(/\s+/).slice(0, 4).join(" "))).size).toBe(all.length);
  });

  test.each(all.map((query) => [query.id, query] as const))(
    `${name}: the reference of %s reaches its expected state`,
    async (_id, query) => {
      const domain = await loadDomain(files);
      const plan = query.taskInfo.plan as PlanTurn[];
      checkShape(query, plan);
      const played = await playPlan(domain, query);
      for (const call of played.calls) {
        expect(call.arguments, `${call.name}: a reference is not resolved`).not.toContain("{{");
        if (call.result.fault && call.result.fault !== "tool_error") throw new Error(`${call.name}: ${call.content}`);
      }
      const expected = expectedState(query, played.calls);
      expect(withoutVolatile(played.state, domain.volatile)).toEqual(expected);
      expect(query.taskInfo.trajectory).toEqual(listPlannedCalls(plan).map((call) => call.name));
      checkTexts(
        plan,
        played.calls.map(({ name: tool, content }) => ({ name: tool, content })),
      );
      checkRules(domain, plan);
    },
  );
});

test("the committed tables are what the script makes", async () => {
  const tables = await makeTables();
  for (const [table, rows] of Object.entries(tables)) {
    const file = join(BUNDLED_PATH, "database", "outputs", "entities", `${table}.json`);
    expect(readFileSync(file, "utf8"), table).toBe(tableText(rows));
    const key = `${table.toLowerCase()}_id`;
    expect(new Set(rows.map((row) => row[key])).size, `${table}: ids are unique`).toBe(rows.length);
  }
});

function lastLine(query: Query): string {
  return query.taskInfo.plan?.at(-1)?.user ?? "";
}

function checkShape(query: Query, plan: PlanTurn[]): void {
  expect(query.messages).toMatchObject([{ role: "user" }]);
  expect(query.userSystemPrompt.length).toBeGreaterThan(100);
  expect(plan.length).toBeGreaterThanOrEqual(2);
  expect(plan[0]?.user).toBeUndefined();
  for (const turn of plan.slice(0, -1)) expect(turn.say, "every turn but the last is answered").toBeTruthy();
  for (const turn of plan.slice(1)) expect(turn.user).toBeTruthy();
  expect(plan.at(-1)?.steps ?? []).toEqual([]);
  const tokens = plan.flatMap((turn) => (turn.user ?? "").match(/###[A-Z-]+###/g) ?? []);
  expect(tokens).toHaveLength(1);
  expect(Object.keys(END_TOKENS)).toContain(tokens[0]);
  expect(lastLine(query)).toContain(tokens[0]);
}

/** Every reference in what the parties say resolves by the time it is said. */
function checkTexts(plan: PlanTurn[], calls: { name: string; content: string }[]): void {
  let done = 0;
  for (const turn of plan) {
    expectResolved(turn.user, calls.slice(0, done));
    for (const step of turn.steps ?? []) {
      expectResolved(step.text, calls.slice(0, done));
      done += step.calls.length;
    }
    expectResolved(turn.say, calls.slice(0, done));
  }
}

function expectResolved(text: string | undefined, calls: { name: string; content: string }[]): void {
  for (const [reference, path] of (text ?? "").matchAll(/\{\{([^{}]+)\}\}/g)) {
    const parts = (path as string).split(".");
    const tool = (/^[A-Z]/.test(parts[0] as string) ? parts.slice(0, 2).join(".") : (parts[0] as string)).split(
      "#",
    )[0] as string;
    const call = calls.findLast(({ name }) => name === tool || name.endsWith(`.${tool}`));
    expect(call, `${reference} refers to a call that was not made yet`).toBeDefined();
    expect(parseJson(call?.content ?? ""), `${reference} refers to a result that is not JSON`).toBeDefined();
  }
}

function checkRules(domain: Domain, plan: PlanTurn[]): void {
  const wire = (name: string) => domain.toolbox.resolve(name)?.spec.name as string;
  const turns = plan.map((turn) => (turn.steps ?? []).flatMap((step) => step.calls));
  const calls = turns.flat();
  for (const rule of domain.rules) {
    if (rule.rule === "forbidden")
      expect(calls.map((call) => wire(call.name)).filter((name) => rule.tools.includes(name))).toEqual([]);
    if (rule.rule === "authorize_first") {
      const server = domain.toolbox.resolve(rule.tool)?.server;
      const own = calls.filter(
        (call) => domain.toolbox.resolve(call.name)?.server === server && !rule.except?.includes(wire(call.name)),
      );
      if (own[0]) expect(wire(own[0].name), rule.id).toBe(rule.tool);
    }
    if (rule.rule === "confirm_before") {
      for (const [index, turn] of turns.entries()) {
        for (const call of turn) {
          if (rule.tools.includes(wire(call.name)) && call.arguments.confirm === true) {
            expect(
              index,
              `${rule.id}: ${call.name} is confirmed in the first turn, before the user could agree`,
            ).toBeGreaterThan(0);
          }
        }
      }
    }
  }
}
