// A dataset whose one tool has a parameter of every kind that a form can ask for, and gives back what it got.
import type { WorkFolder } from "./cli.ts";
import { call, lines, planQuery } from "./shop-dataset.ts";

const PARAMETERS = {
  type: "object",
  properties: {
    name: { type: "string", description: "Whose desk" },
    height: { type: "number" },
    number: { type: "integer" },
    size: { enum: ["small", "large", 3] },
    lit: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    at: { $ref: "#/$defs/Place" },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
    either: { type: ["string", "number"] },
  },
  required: ["name", "number", "size"],
  additionalProperties: false,
  $defs: { Place: { type: "object", properties: { room: { type: "integer" } }, required: ["room"] } },
};

export const DESK_RUN = ["Desk", "--base-path", "desk", "--output-dir", "out"];

export function writeDesk(work: WorkFolder): void {
  const tools = [
    { name: "book_desk", description: "Book a desk", parameters: PARAMETERS },
    { name: "list_desks", description: "All desks", parameters: { type: "object", properties: {} } },
  ];
  work.write(
    "desk/mcp_servers/Desk.mjs",
    `export default {
      today: "2026-02-02",
      reads: { list_desks: () => ({ desks: ["<img src=x onerror=alert(1)>", 2] }), book_desk: (_context, given) => ({ booked: given }) },
      writes: {},
    };`,
  );
  const listed = tools.map((tool) => ({ type: "function", function: tool }));
  work.write("desk/tool_lists/Desk.json", JSON.stringify(listed));
  work.write("desk/policies/Desk.md", "Book one desk for each person.\n");
  const plan = [
    { steps: [call("list_desks", {})], say: "Which desk do you want?" },
    { user: "The large one.", say: "It is yours." },
    { user: "Thanks. ###STOP###" },
  ];
  work.write("desk/queries/Desk.jsonl", lines([planQuery("d1", plan), planQuery("d2", plan)]));
}
