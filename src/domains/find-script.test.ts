import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundledFolder } from "./bundled.ts";
import { createScriptFinder } from "./find-script.ts";
import { openQueryFiles } from "./query-file.ts";

const COMBINATION = ["StudentAcademicPortal", "StudentFinancialServices"];
const agent = (opening: string, tools: string[] = []) => ({ party: "agent" as const, system: "", opening, tools });

function queriesOf(names: string[]) {
  return openQueryFiles(bundledFolder().find(names).queryFiles);
}

test("every bundled query is found by its opening, and its plan is the query's own", () => {
  const finder = createScriptFinder();
  const folder = bundledFolder();
  const all = [...folder.list("single"), ...folder.list("cross")].flatMap((files) => {
    const queries = openQueryFiles(files.queryFiles);
    return queries.ids.map((_, index) => queries.load(index));
  });
  expect(finder.size).toBe(all.length);
  for (const { messages, taskInfo } of all)
    expect(finder.find(agent(messages[0]?.content ?? ""))?.plan).toEqual(taskInfo.plan);
  expect(finder.find(agent("Something that nobody asks."))).toBeUndefined();
});

test("a combination's plan is played under the names that the request gives its tools", () => {
  const query = queriesOf(COMBINATION).load(0);
  const { find } = createScriptFinder();
  const opening = query.messages[0]?.content ?? "";
  const prefixed = find(agent(opening, ["sap__list_holds"]));
  const dotted = find(agent(opening, ["sap.list_holds"]));
  const name = query.taskInfo.plan?.flatMap((turn) => turn.steps ?? [])[0]?.calls[0]?.name ?? "";
  const [server = "", tool = ""] = name.split(".");
  expect(COMBINATION).toContain(server);
  expect(prefixed?.wireName(name)).toMatch(new RegExp(`^\\w+__${tool}$`));
  expect(dotted?.wireName(name)).toMatch(new RegExp(`^\\w+\\.${tool}$`));
  for (const script of [prefixed, dotted]) expect(script?.planName(script.wireName(name))).toBe(name);
});

test("a folder's own queries are known too; among those with one opening, scenario and tools decide", () => {
  const base = datasetFolder({
    Library: [{ id: "a", opening: "Hi", scenario: "You owe books.", say: "Books." }],
    Museum: [
      { id: "b", opening: "Hi", scenario: "You lost a ticket.", say: "Tickets." },
      { id: "c", scenario: "You want a tour.", user: "A tour, please.", say: "Tours." },
    ],
  });
  const { find, size } = createScriptFinder({ basePath: base });
  expect(size).toBe(createScriptFinder().size + 3);
  const user = (scenario: string, opening?: string) =>
    find({ party: "user", system: `Play a person.\n\n# Scenario\n\n${scenario}`, opening, tools: [] })?.plan[0]?.say;
  expect(user("You lost a ticket.", "Hi")).toBe("Tickets.");
  expect(user("You owe books.", "Hi")).toBe("Books.");
  // nothing has been said yet: there is only the scenario
  expect(user("You want a tour.")).toBe("Tours.");
  expect(find(agent("A tour, please."))?.plan[0]?.say).toBe("Tours.");
  expect(find(agent("Hi", ["museum_help"]))?.plan[0]?.say).toBe("Tickets.");
  expect(find(agent("Hi", ["library_help"]))?.plan[0]?.say).toBe("Books.");
});

test("a folder that is none is a usage error", () => {
  expect(() => createScriptFinder({ basePath: "/no/such/folder" })).toThrow("There is no folder /no/such/folder");
});

type Row = { id: string; opening?: string; scenario: string; user?: string; say: string };

function datasetFolder(domains: { [name: string]: Row[] }): string {
  const base = mkdtempSync(join(tmpdir(), "rollout-test-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const part of ["queries", "tool_lists"]) mkdirSync(join(base, part));
  for (const [name, rows] of Object.entries(domains)) {
    const lines = rows.map(({ id, opening, scenario, user, say }) =>
      JSON.stringify({
        id,
        messages: opening ? [{ role: "user", content: opening }] : [],
        user_system_prompt: scenario,
        task_info: { plan: [{ user, say }] },
      }),
    );
    writeFileSync(join(base, "queries", `${name}.jsonl`), lines.join("\n"));
    const tool = { type: "function", function: { name: `${name.toLowerCase()}_help`, parameters: { type: "object" } } };
    writeFileSync(join(base, "tool_lists", `${name}.json`), JSON.stringify([tool]));
  }
  return base;
}
