import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { calls, DIALOGUE, line, result, says, TOOLS, user, writeRun } from "../../test/support/export-records.ts";
import { exportDataset } from "./export-dataset.ts";
import { labelRecords } from "./label.ts";

/** A folder in the original system's layout: two servers, and a policy whose name has them in the other order. */
function datasetFolder(policies: { [name: string]: string }): string {
  const base = mkdtempSync(join(tmpdir(), "rollout-base-"));
  const tool = (name: string) => ({
    type: "function",
    function: { name, description: "", parameters: { type: "object", properties: { id: {} } } },
  });
  const files: { [name: string]: string } = {
    "tool_lists/BookDesk.json": JSON.stringify([tool("find"), tool("renew")]),
    "tool_lists/RoomDesk.json": JSON.stringify([tool("find"), tool("reserve")]),
    "mcp_servers/BookDesk.py": "",
    "mcp_servers/RoomDesk.py": "",
    ...policies,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(base, name, ".."), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  return base;
}

/** Records as the original system writes them: nothing but id, success, messages and three counts. */
function originalFile(name: string, ...tools: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-original-"));
  const messages = [
    user("Hi"),
    { ...calls(...tools.map((tool, n): [string, string, string] => [`c${n}`, tool, "{}"])), reasoning_content: null },
    ...tools.map((_, n) => result(`c${n}`, "{}")),
    { ...says("Done."), tool_calls: null },
  ];
  const record = {
    id: "u-1",
    success: true,
    messages,
    metadata: { total_turns: 1, stop_reason: "user_stop", tool_call_count: tools.length },
  };
  writeFileSync(join(folder, name), JSON.stringify(record)); // and no newline at the end
  return join(folder, name);
}

const read = (file: string) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text));
const names = (row: { tools: { function: { name: string } }[] }) => row.tools.map((tool) => tool.function.name);

test("a run's records get the prompt and the tools that its own folder names", async () => {
  const { file, counts } = await labelRecords({ input: writeRun([line("q1")]) });
  expect(basename(file)).toMatch(/\.labelled\.jsonl$/);
  expect(read(file)[0]).toMatchObject({
    id: "q1",
    tools: TOOLS,
    messages: [{ role: "system", content: "You work at a library desk." }, ...DIALOGUE],
  });
  expect(counts).toMatchObject({ in: 1, out: 1 });
});

test("the original's records of one domain get its policy and its tools, parameters as objects", async () => {
  const basePath = datasetFolder({ "policies/BookDesk.md": "<!-- POLICY_START -->\nBe kind.\n<!-- POLICY_END -->" });
  const { file } = await labelRecords({ input: originalFile("BookDesk.jsonl", "renew"), basePath });
  const [row] = read(file);
  expect(row.messages[0]).toEqual({ role: "system", content: "Be kind." });
  expect(names(row)).toEqual(["find", "renew"]);
  expect(row.tools[0].function.parameters).toEqual({ type: "object", properties: { id: {} } });
});

test("a combination finds its policy in any order, and tools stand under the names that were called", async () => {
  const basePath = datasetFolder({ "policies/RoomDesk_BookDesk.md": "Be kind." });
  const { file } = await labelRecords({
    input: originalFile("BookDesk_RoomDesk.jsonl", "bd.renew", "rd.find"),
    basePath,
  });
  const [row] = read(file);
  expect(row.messages[0].content).toBe("Be kind.");
  expect(names(row)).toEqual(["bd.find", "bd.renew", "rd.find", "rd.reserve"]);
  const prefixed = await labelRecords({ input: originalFile("RoomDesk_BookDesk.jsonl", "rd__reserve"), basePath });
  expect(names(read(prefixed.file)[0]).toSorted()).toEqual(["bd__find", "bd__renew", "rd__find", "rd__reserve"]);
});

test("without a policy none is made up", async () => {
  const { file, counts } = await labelRecords({
    input: originalFile("RoomDesk.jsonl", "find"),
    basePath: datasetFolder({}),
  });
  expect(read(file)[0].messages[0].role).toBe("user");
  expect(Object.keys(counts.notes)).toEqual(["there is no policy, and none was invented: no system prompt"]);
});

test("where nothing can be labelled, that is said with what would help, and nothing is written", async () => {
  const input = originalFile("BookDesk.jsonl", "find");
  await expect(labelRecords({ input })).rejects.toThrow(/None of the 1 records could be labelled.*--base-path/);
});

test("an export reads the original's files and labels them on the way", async () => {
  const basePath = datasetFolder({ "policies/BookDesk.md": "Be kind." });
  const out = join(mkdtempSync(join(tmpdir(), "rollout-out-")), "rows.jsonl");
  const { counts } = await exportDataset({
    inputs: [originalFile("BookDesk.jsonl", "find")],
    basePath,
    format: "deepseek",
    out,
  });
  expect(counts).toMatchObject({ in: 1, out: 1, notes: {} });
  expect(read(out)[0]).toMatchObject({
    id: "u-1@1",
    query_id: "u-1",
    data_source: "agent",
    use_cot: true,
    messages: [{ role: "system", content: "Be kind." }, {}, {}, {}, {}],
  });
});
