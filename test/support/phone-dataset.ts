// A dataset in which the agent cannot do everything itself: the carrier's tools are the agent's, the phone's are the
// user's, and only both together solve the task. Each query's setup makes the trouble.
import type { WorkFolder } from "./cli.ts";
import { lines } from "./shop-dataset.ts";

export const PHONE = [
  "cross",
  "--domains",
  "Carrier",
  "Phone",
  "--base-path",
  "phones",
  "--output-dir",
  "out",
  "--quiet",
];
export const PHONE_FILE = "out/trajectories/Carrier_Phone.jsonl";

export function writePhones(work: WorkFolder, queries: object[] = [phoneQuery("p1"), phoneQuery("p2")]): void {
  work.write("phones/mcp_servers/Carrier.mjs", CARRIER);
  work.write("phones/mcp_servers/Phone.mjs", PHONE_SERVER);
  work.write(
    "phones/tool_lists/Carrier.json",
    JSON.stringify([tool("get_line", ["line"]), tool("enable_roaming", ["line"])]),
  );
  work.write(
    "phones/tool_lists/Phone.json",
    JSON.stringify([tool("look_at_screen", []), tool("set_airplane_mode", ["on"]), tool("reset_network", [])]),
  );
  work.write("phones/database/outputs/entities/Line.json", JSON.stringify([{ line_id: "L1", roaming: false }]));
  work.write(
    "phones/database/outputs/entities/Handset.json",
    JSON.stringify([{ handset_id: "H1", airplane: "off", resets: 0 }]),
  );
  work.write("phones/queries/Carrier_Phone.jsonl", lines(queries));
}

export function phoneQuery(id: string, more: object = {}): object {
  return {
    id,
    messages: [{ role: "user", content: `Hello, this is ${id}. I have no service abroad, my line is L1.` }],
    user_system_prompt: "Your phone has no service. Do what the agent asks you to do.",
    setup: [{ name: "Phone.set_airplane_mode", arguments: { on: "yes" } }],
    user_tools: ["Phone.*"],
    task_info: {
      plan: [
        {
          steps: [
            { calls: [{ name: "get_line", arguments: { line: "L1" } }] },
            { calls: [{ name: "enable_roaming", arguments: { line: "L1" } }] },
          ],
          say: "Roaming is on now. Please look at your screen and turn airplane mode off.",
        },
        {
          user_calls: [
            { name: "look_at_screen", arguments: {} },
            { name: "set_airplane_mode", arguments: { on: "no" } },
          ],
          user: "The screen said {{look_at_screen.airplane}}; it is off now.",
          say: "Then you are connected.",
        },
        { user: "Thanks. ###STOP###" },
      ],
    },
    ...more,
  };
}

function tool(name: string, parameters: string[]): object {
  const properties = Object.fromEntries(parameters.map((parameter) => [parameter, { type: "string" }]));
  const schema = { type: "object", properties, required: parameters };
  return { type: "function", function: { name, description: name.replaceAll("_", " "), parameters: schema } };
}

const CARRIER = `
export default {
  today: "2026-02-02",
  reads: { get_line: (context, { line }) => context.table("Line").get(line) ?? { error: "no such line" } },
  writes: {
    enable_roaming(context, { line }) {
      context.table("Line").update(line, { roaming: true });
      return { line, roaming: true };
    },
  },
};
`;

const PHONE_SERVER = `
export default {
  today: "2026-02-02",
  reads: { look_at_screen: (context) => context.table("Handset").get("H1") },
  writes: {
    set_airplane_mode(context, { on }) {
      context.table("Handset").update("H1", { airplane: on === "yes" ? "on" : "off" });
      return { airplane: on };
    },
    reset_network(context) {
      const { resets } = context.table("Handset").get("H1");
      context.table("Handset").update("H1", { resets: resets + 1 });
      return { done: true };
    },
  },
};
`;
