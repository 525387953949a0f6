// Follows docs/domains.md to the letter: runs its commands and puts its pieces where it says.
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runRollouts } from "agent-rollout";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Trajectory } from "../src/core/index.ts";
import { DatasetFolder, expectedState, loadDomain, openQueryFiles, playPlan } from "../src/domains/index.ts";
import { withoutVolatile } from "../src/domains/play-plan.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const guide = readFileSync(join(root, "docs/domains.md"), "utf8");

type Block = { language: string; text: string };
function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({ language, text }));
}
function blocks(language: string): string[] {
  return blocksOf(guide).flatMap((block) => (block.language === language ? [block.text] : []));
}

/** A folder to work in, and the guide's two ways of changing it: running its commands and editing files. */
function workplace(bundled: string, extension: "ts" | "js") {
  const path = mkdtempSync(join(tmpdir(), "rollout-own-domain-"));
  const file = (name: string) => join(path, "my-data", name);
  const edit = (name: string, change: (text: string) => string) =>
    writeFileSync(file(name), change(readFileSync(file(name), "utf8")));
  const run = (commands: string): string =>
    execFileSync("sh", ["-e", "-c", commands.replaceAll("npx rollout", '"$NODE" "$ROLLOUT"')], {
      cwd: path,
      encoding: "utf8",
      env: { PATH: process.env.PATH, NODE: process.execPath, ROLLOUT: join(root, "bin/rollout.js") },
    });
  return {
    path,
    run,
    copy: () =>
      run(
        (blocks("sh")[1] ?? "")
          .replace(/^BUNDLED=.*$/m, `BUNDLED='${bundled}'`)
          .replace(/^EXT=.*$/m, `EXT=${extension}`),
      ),
    addTool: () => {
      const [code = ""] = blocks("ts");
      const handler = extension === "ts" ? code : code.replace(/\(context: .*?\) =>/, "(context, args) =>");
      edit(`mcp_servers/CampusClinic.${extension}`, (text) =>
        text
          .replace("writes: {", () => `writes: {\n${handler}`)
          .replace("volatile: {", 'volatile: { Message: ["sent_at"],'),
      );
      const [tool = "", query = ""] = blocks("json");
      edit("tool_lists/CampusClinic.json", (text) => JSON.stringify([...JSON.parse(text), JSON.parse(tool)]));
      edit("policies/CampusClinic.md", (text) => text.replace("<!-- POLICY_END -->", `${blocks("md")[0]}$&`));
      appendFileSync(file("queries/CampusClinic.jsonl"), `${JSON.stringify(JSON.parse(query))}\n`);
    },
    records: (run: string): Trajectory[] =>
      readFileSync(join(path, "outputs", run, "trajectories/CampusClinic.jsonl"), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line)),
    domain: () => new DatasetFolder(join(path, "my-data")).find(["campus_clinic"]),
  };
}

/** The added query reaches the state that it claims. */
async function checkAddedQuery(place: ReturnType<typeof workplace>): Promise<void> {
  const files = place.domain();
  const domain = await loadDomain(files);
  const queries = openQueryFiles(files.queryFiles);
  const query = queries.load(queries.ids.indexOf("clinic-001"));
  const played = await playPlan(domain, query);
  expect(played.calls.map(({ name, result }) => [name, result.isError])).toEqual(
    query.taskInfo.trajectory?.map((name) => [name, false]),
  );
  const expected = expectedState(query, played.calls);
  expect(Object.keys(expected?.Message ?? {})).toEqual([expect.stringMatching(/^MSG-[0-9a-f]{8}$/)]);
  expect(withoutVolatile(played.state, domain.volatile)).toEqual(expected);
  expect(domain.policy).toContain("### leave_message");
}

describe("the guide to an own domain", () => {
  const place = workplace(join(root, "src/domains/bundled"), "ts");
  afterAll(() => rmSync(place.path, { recursive: true, force: true }));
  const [start = "", , look = "", check = ""] = blocks("sh");

  beforeAll(() => place.copy());

  test("starts with a domain that passes check and plays", () => {
    expect(place.run(start)).toMatch(/3 queries, 2 tools, 2 of them called: 0 errors, 0 warnings$/m);
    const file = join(place.path, "outputs/library/trajectories/CampusLibrary.jsonl");
    expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(3);
  });

  test("gives a copy that lists as complete and plays its queries", () => {
    const shown = place.run(look);
    expect(shown).toMatch(/^CampusClinic +27 +15 +yes +–$/m);
    expect(shown).toContain("CampusClinic.ts");
    const records = place.records("clinic-copy");
    expect(records).toHaveLength(5);
    for (const record of records) expect(record).toMatchObject({ success: true, metadata: { scripted: true } });
  });

  test("adds a tool, a rule and a query that run on the command line", async () => {
    place.addTool();
    const shown = place.run(check);
    expect(shown).toMatch(/^1 domains? .*28 queries, 16 tools, .*: 0 errors, 0 warnings$/m);
    expect(shown).toMatch(/^CampusClinic +28 +16 +yes +–$/m);
    expect(shown).toContain("I would send this to Clara Bergstrom");
    expect(place.records("clinic-message")).toMatchObject([
      {
        id: "clinic-001",
        success: true,
        metadata: { stop_reason: "user_stop", tool_call_count: 4, tool_error_count: 0 },
      },
    ]);
    const all = place.records("clinic");
    expect(all).toHaveLength(28);
    expect(all.filter((record) => !record.success)).toEqual([]);
    await checkAddedQuery(place);
  });
});

const built = join(root, "dist/domains/bundled");

describe.runIf(existsSync(built))("the guide in an installed package", () => {
  const place = workplace(built, "js");
  afterAll(() => rmSync(place.path, { recursive: true, force: true }));

  test("gives a domain in JavaScript that runs through the library", async () => {
    place.copy();
    place.addTool();
    const outputDir = join(place.path, "outputs/library");
    const result = await runRollouts({
      config: {
        base_path: join(place.path, "my-data"),
        datasets: { CampusClinic: { agent: "scripted/agent", user: "scripted/user" } },
      },
      outputDir,
    });
    expect(result).toMatchObject({ finished: 28, failed: 0, left: 0 });
    const added = place.records("library").find(({ id }) => id === "clinic-001");
    expect(added).toMatchObject({ success: true, metadata: { tool_call_count: 4, tool_error_count: 0 } });
    await checkAddedQuery(place);
  });
});

test("the Chinese guide shows the same commands and files, in the same order of parts", () => {
  const chinese = readFileSync(join(root, "docs/zh/domains.md"), "utf8");
  expect(blocksOf(chinese)).toEqual(blocksOf(guide));
  const headings = (page: string) => page.match(/^#+ /gm);
  expect(headings(chinese)).toEqual(headings(guide));
});
