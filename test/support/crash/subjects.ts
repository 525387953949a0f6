// What the crash tests run: a bundled domain, and a Python dataset whose tools make up ids.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../../../src/config/index.ts";

const MODELS = { agent_model: "counted/agent", user_model: "counted/user" };

export function bundledSubject(limit: number): Config {
  return { ...MODELS, datasets: ["StudentAcademicPortal"], limit, max_workers: 3 };
}

/** Books slots whose ids are uuid4; the agent says them, so a replay that made up others would show. */
export function pythonSubject(folder: string, queries: number): Config {
  const server = fileURLToPath(new URL("../python/mcp_servers/SlotDesk.py", import.meta.url));
  const write = (path: string, value: unknown[], join_ = JSON.stringify(value)) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), join_);
  };
  write("tool_lists/SlotDesk.json", TOOLS);
  write("database/outputs/entities/Member.json", [{ member_id: "m-1" }, { member_id: "m-2" }]);
  const lines = Array.from({ length: queries }, (_, n) => JSON.stringify(query(n)));
  write("queries/SlotDesk.jsonl", [], lines.join("\n"));
  mkdirSync(join(folder, "mcp_servers"), { recursive: true });
  copyFileSync(server, join(folder, "mcp_servers/SlotDesk.py"));
  return { ...MODELS, datasets: ["SlotDesk"], base_path: folder, max_workers: 2 };
}

const text = { type: "string" };
const TOOLS = [
  tool("authorize_member", { member_id: text }, ["member_id"]),
  tool("book_slot", { slot_id: text, confirm: { type: "boolean" } }, ["slot_id"]),
];

function tool(name: string, properties: object, required: string[]) {
  const parameters = { type: "object", properties, required };
  return { type: "function", function: { name, description: `${name}.`, parameters } };
}

function query(n: number) {
  const book = (slot: string) => ({ calls: [{ name: "book_slot", arguments: { slot_id: slot, confirm: true } }] });
  return {
    id: `q${n}`,
    messages: [{ role: "user", content: "Book a slot, please." }],
    user_system_prompt: "You want two slots.",
    task_info: {
      plan: [
        {
          steps: [{ calls: [{ name: "authorize_member", arguments: { member_id: `m-${(n % 2) + 1}` } }] }, book("a")],
          say: "Booked as {{book_slot.booking_id}}. Another?",
        },
        { user: "Yes, one more.", steps: [book("b")], say: "That one is {{book_slot.booking_id}}." },
        { user: "Thanks. ###STOP###" },
      ],
    },
  };
}
