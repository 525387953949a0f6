import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { SCRIPTED } from "./support/shop-dataset.ts";

const LANGUAGES = ["ts", "py", "mcp"] as const;

test.each(LANGUAGES)(
  "a domain made by init --lang %s passes check, plays, and is solved by its plans",
  async (lang) => {
    const work = workFolder();
    expect(await work.run(["init", "campus_library", "--lang", lang])).toMatchObject({ code: 0, stderr: "" });
    const mcp = lang === "mcp";
    const check = await work.run(["check", mcp ? "campus_library/run.yml" : "campus_library"]);
    const called = mcp ? 1 : 2; // of an MCP server's tools only those that read
    expect(check).toMatchObject({
      code: 0,
      stdout: `1 domains and combinations, 3 queries, 2 tools, ${called} of them called: 0 errors, 0 warnings\n`,
    });
    const which = mcp
      ? ["run", "--config", "campus_library/run.yml"]
      : ["single", "--base-path", "campus_library", "--all", ...SCRIPTED];
    const run = await work.run([...which, "--output-dir", "run", "--eval", "--quiet"]);
    expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
    const records = work.records("run/trajectories/CampusLibrary.jsonl");
    expect(records.map(({ id, metadata }) => [id, metadata.stop_reason, metadata.tool_error_count]).sort()).toEqual([
      ["borrow", "user_stop", 0],
      ["find", "user_stop", 0],
      ["on-loan", "user_stop", 0],
    ]);
    expect(work.read("run/prompts.jsonl")).toContain("# Library desk");
    const scores = work.records<{ check: string; pass: boolean | null }>("run/scores.jsonl");
    expect(scores.filter(({ pass }) => pass === false)).toEqual([]);
    expect(scores.filter(({ check, pass }) => check === "communicate" && pass)).toHaveLength(3);
    if (!mcp) expect(scores.filter(({ check, pass }) => check === "state" && pass)).toHaveLength(3);
  },
);

test("init writes into no folder that holds anything, and under no name that cannot be one", async () => {
  const work = workFolder();
  work.write("CampusLibrary/mine.txt", "kept");
  const taken = await work.run(["init", "CampusLibrary"]);
  expect(taken).toMatchObject({
    code: 2,
    stderr: "CampusLibrary is there already, and not empty: choose another name\n",
  });
  expect(await work.run(["init", "42"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("cannot name a domain"),
  });
  expect(await work.run(["init", "Other", "--lang", "rust"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Allowed choices are ts, py, mcp"),
  });
  expect(work.names()).toEqual(["CampusLibrary"]);
});
