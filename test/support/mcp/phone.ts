// Tasks for the phone server, in which neither party can do everything itself.
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../../src/core/index.ts";
import type { WorkFolder } from "../cli.ts";
import { lines } from "../shop-dataset.ts";

export const PHONE_SERVER = fileURLToPath(new URL("phone_server.py", import.meta.url));

const step = (name: string, args: JsonObject = {}) => ({ calls: [{ name, arguments: args }] });

type Names = { carrier?: string; phone?: string };

/** The agent turns roaming on, the user airplane mode off; `phone` and `carrier` go before the tools' names. */
export function phonePlan(line = "L1", { carrier = "", phone = "" }: Names = {}): JsonObject[] {
  return [
    {
      steps: [step(`${carrier}get_line`, { line }), step(`${carrier}enable_roaming`, { line })],
      say: "Roaming is on. Please turn airplane mode off.",
    },
    {
      user_calls: [
        { name: `${phone}set_airplane_mode`, arguments: { on: false } },
        { name: `${phone}look_at_screen`, arguments: {} },
      ],
      user: "It is off.",
      say: "Then you are connected.",
    },
    { user: "Thanks. ###STOP###" },
  ];
}

/** The same without the user's write, which it only claims. */
export function lazyPlan(plan: JsonObject[]): JsonObject[] {
  return plan.map((turn) =>
    turn.user_calls ? { ...turn, user_calls: (turn.user_calls as JsonObject[]).slice(1) } : turn,
  );
}

export function phoneTask(id: string, more: JsonObject = {}, plan = phonePlan()): JsonObject {
  return {
    id,
    messages: [{ role: "user", content: `This is ${id}: no service abroad.` }],
    user_system_prompt: "Do what the agent asks you to do.",
    setup: [{ name: "spoil", arguments: { what: "airplane" } }],
    user_tools: ["look_at_screen", "set_airplane_mode"],
    task_info: { plan },
    ...more,
  };
}

export const PHONE_CHILD = {
  command: "python3",
  args: [PHONE_SERVER],
  state_tool: "dump",
  hidden_tools: ["spoil"],
};

export function writePhoneTasks(work: WorkFolder, tasks: JsonObject[], servers: object, config: object = {}): void {
  work.write("tasks.jsonl", lines(tasks));
  const whole = {
    ...{ agent_model: "scripted/agent", user_model: "scripted/user", output_dir: "out" },
    datasets: { phones: { path: "tasks.jsonl", mcpServers: servers } },
    ...config,
  };
  work.write("run.yml", JSON.stringify(whole));
}
