// Records for tests: a small library desk, and whole runs on disk.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, TrajectoryMessage } from "../../src/core/index.ts";
import type { ExportRecord } from "../../src/export/index.ts";
import { readRecord } from "../../src/export/record.ts";

const SYSTEM = "You work at a library desk.";
export const TOOLS: JsonObject[] = ["find_book", "renew_loan"].map((name) => ({
  type: "function",
  function: {
    name,
    description: `Does ${name}.`,
    parameters: {
      type: "object",
      properties: { id: { type: "integer" } },
      required: ["id"],
      additionalProperties: false,
    },
  },
}));

export type Line = { [key: string]: unknown } & { messages: unknown[]; metadata: { [key: string]: unknown } };

export const user = (content: string): TrajectoryMessage => ({ role: "user", content });
export const says = (content: string, reasoning_content?: string): TrajectoryMessage => ({
  role: "assistant",
  content,
  reasoning_content,
});
export const calls = (...given: [id: string, name: string, args: string][]): TrajectoryMessage => ({
  role: "assistant",
  content: "",
  tool_calls: given.map(([id, name, args]) => ({ id, type: "function", function: { name, arguments: args } })),
});
export const result = (tool_call_id: string, content: string): TrajectoryMessage => ({
  role: "tool",
  content,
  tool_call_id,
});

export const DIALOGUE: TrajectoryMessage[] = [
  user("Please renew loan 7."),
  {
    ...calls(["a", "find_book", '{"id": 7}'], ["b", "renew_loan", '{"id":7}']),
    reasoning_content: "Both at once.",
  } as never,
  result("a", '{"title":"Emma"}'),
  result("b", '{"success":true}'),
  says("Renewed.", "That went well."),
  user("And loan 8?"),
  calls(["c", "renew_loan", '{"id":8}']),
  result("c", '{"error":"There is no loan 8."}'),
  says("There is no loan 8.", "I must say so."),
  user("Thanks!"),
];

export function line(id: string, changes: { [key: string]: unknown } = {}): Line {
  const { metadata, ...rest } = changes as { metadata?: object };
  const [query_id, rollout] = id.split("#");
  return {
    id,
    query_id,
    rollout: Number(rollout ?? 0),
    dataset: "Desk",
    domains: ["Desk"],
    success: true,
    messages: DIALOGUE,
    metadata: {
      total_turns: 2,
      stop_reason: "user_stop",
      models: { agent: "lab/agent", user: "lab/user" },
      scripted: false,
      mode: "positive",
      faults: [],
      system_hash: "s1",
      tools_hash: "t1",
      ...metadata,
    },
    ...rest,
  };
}

export function record(changes: { [key: string]: unknown } = {}): ExportRecord {
  return { ...(readRecord(line("q1", changes), "Desk") as ExportRecord), system: SYSTEM, tools: TOOLS };
}

export type RunFiles = { [file: string]: unknown[] | string };

/** A run folder with these lines as its records, and any other files given. */
export function writeRun(lines: unknown[], more: RunFiles = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-export-"));
  const files: RunFiles = {
    "prompts.jsonl": [
      { hash: "s1", kind: "system", content: SYSTEM },
      { hash: "t1", kind: "tools", content: TOOLS },
    ],
    "trajectories/Desk.jsonl": lines,
    ...more,
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    const text = typeof content === "string" ? content : content.map((item) => `${JSON.stringify(item)}\n`).join("");
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
