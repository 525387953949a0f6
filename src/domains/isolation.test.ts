// A domain's tools give the same results in a process of their own as in this one.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { contentHash } from "../core/index.ts";
import { bundledFolder } from "./bundled.ts";
import { loadDomain } from "./domain.ts";
import { DatasetFolder } from "./folder.ts";
import { playPlan } from "./play-plan.ts";
import { openQueryFiles } from "./query-file.ts";
import { openResources } from "./resources.ts";

const resources = openResources({ env: process.env, nameStyle: "prefixed", onNotice: () => {} });
afterAll(() => resources.close());

const folder = bundledFolder();
const datasets = [...folder.list("single"), ...folder.list("cross")].filter((files) => files.queryFiles.length > 0);

test.each(datasets.map((files) => [files.name, files] as const))(
  "%s: same tools, results and states",
  async (_, files) => {
    const [here, apart] = [await loadDomain(files), await loadDomain(files, { ...resources, isolation: "process" })];
    const { openEnvironment: _open, toolbox: _toolbox, ...rest } = here;
    expect(apart).toMatchObject(JSON.parse(JSON.stringify(rest)));
    expect(apart.toolbox.tools).toEqual(here.toolbox.tools);
    const queries = openQueryFiles(files.queryFiles);
    for (const index of queries.ids.keys()) {
      const query = queries.load(index);
      const [played, again] = [
        await playPlan(here, query, { seed: index }),
        await playPlan(apart, query, { seed: index }),
      ];
      expect(again.calls).toEqual(played.calls);
      expect(contentHash(again.state)).toBe(contentHash(played.state));
    }
  },
);

test("a server that cannot be loaded is told with file and line, and its code never runs in this process", async () => {
  const base = mkdtempSync(join(tmpdir(), "rollout-test-"));
  for (const part of ["mcp_servers", "tool_lists"]) mkdirSync(join(base, part));
  writeFileSync(join(base, "tool_lists", "Odd.json"), "[]");
  const load = (text: string) => {
    const name = `Odd${contentHash(text)}`;
    writeFileSync(join(base, "mcp_servers", `${name}.ts`), text);
    writeFileSync(join(base, "tool_lists", `${name}.json`), "[]");
    return loadDomain(new DatasetFolder(base).find([name]), { ...resources, isolation: "process" });
  };
  await expect(load("\nconst x: number = ;\n")).rejects.toThrow(/\.ts:2(:\d+)?: cannot be loaded/);
  await expect(load('export default { today: "2026-02-02", reads: {}, writes: {}, rules: {} };')).rejects.toThrow(
    "rules must be a list",
  );
  const mark = "globalThis.ranHere = true;\n";
  await load(`${mark}export default { today: "2026-02-02", reads: {}, writes: {} } as const;`);
  expect(globalThis).not.toHaveProperty("ranHere");
});
