import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Trajectory } from "../core/index.ts";
import { findRecordFiles, readRecordFiles } from "./record-files.ts";

const user = { role: "user", content: "Hello" };

function folderWith(files: { [name: string]: unknown[] }): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, lines] of Object.entries(files))
    writeFileSync(
      join(folder, name),
      lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
    );
  return folder;
}

function read(...lines: unknown[]): Trajectory[] {
  const file = join(folderWith({ "records.jsonl": lines }), "records.jsonl");
  return [...readRecordFiles([file], { dataset: "Desk", servers: ["Desk"], hasQuery: (id) => id === "odd#7" })];
}

test("a bare record gets what scoring needs, and nothing that it does not say", () => {
  const messages = [user, { role: "assistant", content: "Hi" }, user];
  const [record] = read({ id: "q1", messages, note: "kept", metadata: { mode: "other", seed: null, models: "m" } });
  expect(record).toEqual({
    ...{ id: "q1", query_id: "q1", rollout: 0, dataset: "Desk", domains: ["Desk"], success: false, note: "kept" },
    messages,
    metadata: {
      ...{ total_turns: 2, tool_call_count: 0, stop_reason: "unknown", mode: "positive", seed: 0, scripted: false },
      ...{ models: { agent: "unknown" }, usage: {}, cost_usd: 0, faults: [] },
    },
  });
  expect(read({ id: "q1", messages })[0]?.metadata).toEqual(record?.metadata);
});

test("records with one id are rollouts in the order of the file, and #n numbers them unless a query has that name", () => {
  const lines = ["a", "a", "b#2", "a", "odd#7", "a#1", 5].map((id) => ({ id, messages: [user] }));
  const named = { id: "x", query_id: "c", rollout: 4, messages: [user] };
  expect(read(...lines, named, named).map(({ id }) => id)).toEqual(
    ["a", "a#1", "b#2", "a#2", "odd#7", "a#3", "5"].concat("c#4", "c#5"),
  );
});

test("messages of other shapes are read: system, null, parts, objects, call ids that repeat or are missing", () => {
  const call = (id: string | undefined, args: unknown) => ({ id, function: { name: "sd.book", arguments: args } });
  const [record] = read({
    id: "q1",
    messages: [
      { role: "system", content: "Be kind." },
      {
        role: "user",
        content: [
          { type: "text", text: "Hel" },
          { type: "text", text: "lo" },
        ],
      },
      {
        role: "assistant",
        content: null,
        reasoning_content: "Hm.",
        tool_calls: [call("c", { slot: 1 }), call("d", "{}")],
      },
      { role: "tool", tool_call_id: "d", content: ["D"] },
      { role: "tool", tool_call_id: "c", content: { ok: true } },
      { role: "assistant", content: "", tool_calls: [call("c", null), { name: "flat", arguments: {} }] },
      { role: "tool", tool_call_id: "c", content: "again" },
      { role: "tool", content: "flat" },
      { role: "tool", tool_call_id: "nobody", content: "lost" },
      { role: "assistant", content: "Done.", tool_calls: null },
    ],
  });
  const made = (id: string, name: string, args: string) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  });
  expect(record?.messages).toEqual([
    { role: "user", content: "Hello" },
    {
      ...{ role: "assistant", content: "", reasoning_content: "Hm." },
      tool_calls: [made("c", "sd.book", '{"slot":1}'), made("d", "sd.book", "{}")],
    },
    { role: "tool", content: '["D"]', tool_call_id: "d" },
    { role: "tool", content: '{"ok":true}', tool_call_id: "c" },
    { role: "assistant", content: "", tool_calls: [made("c~2", "sd.book", "{}"), made("call", "flat", "{}")] },
    { role: "tool", content: "again", tool_call_id: "c~2" },
    { role: "tool", content: "flat", tool_call_id: "call" },
    { role: "assistant", content: "Done." },
  ]);
  expect(record?.metadata.tool_call_count).toBe(4);
});

test.each([
  ["[1]", "a record must be a JSON object"],
  ['{"id": "a"}', '"messages", a list'],
  ['{"messages": []}', 'needs an "id"'],
  ['{"id": "a", "messages": [7]}', '"messages[0]" must be an object'],
  ['{"id": "a", "messages": [{"role": "bot"}]}', 'the role "bot"'],
  ['{"id": "a", "messages": [{"role": "assistant", "tool_calls": [{}]}]}', "a tool call without a name"],
  ['{"id": "a", "messages": [', "is not valid JSON"],
])("a line that is no record is refused with its place: %s", (line, reason) => {
  expect(() => read({ id: "q1", messages: [user] }, "", line)).toThrow(reason);
  expect(() => read({ id: "q1", messages: [user] }, "", line)).toThrow(/records\.jsonl:3\b/);
});

test("a folder's record files are those that hold records; a file's scores have a folder of their own", () => {
  const record = { id: "q1", messages: [user] };
  const folder = folderWith({
    "b.jsonl": [record],
    "a.jsonl": ["", record],
    "notes.jsonl": [{ note: 1 }],
    "empty.jsonl": [],
    "scores.jsonl": [record],
    "failures.jsonl": [record],
    "other.json": [record],
  });
  const notices: string[] = [];
  const find = (path: string) => findRecordFiles(path, (message) => notices.push(message));
  expect(find(folder)).toEqual({ files: ["a.jsonl", "b.jsonl"].map((name) => join(folder, name)), scores: folder });
  expect(notices.map((notice) => notice.slice(folder.length + 1))).toEqual([
    "empty.jsonl holds no records and is left out",
    "notes.jsonl holds no records and is left out",
  ]);
  const file = join(folder, "a.jsonl");
  expect(find(file)).toEqual({ files: [file], scores: join(folder, "a.scores") });
  mkdirSync(join(folder, "none"));
  expect(() => find(join(folder, "none"))).toThrow("holds no records (*.jsonl)");
});

test("arguments and results that are values keep their numbers; counts are numbers as ever", () => {
  const args = '{"id":12345678901234567890,"share":1.0}';
  const [record] = read(
    `{"id":"q1","messages":[{"role":"user","content":"Hello"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"pay","arguments":${args}}}]},{"role":"tool","tool_call_id":"a","content":${args}}],"metadata":{"cost_usd":1.0}}`,
  );
  expect(record?.messages.slice(1)).toMatchObject([
    { tool_calls: [{ function: { arguments: args } }] },
    { content: args },
  ]);
  expect(record?.metadata.cost_usd).toBe(1);
});
