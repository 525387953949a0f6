// A small benchmark in the shape of tau2-bench: a package with a domain's environment, and its data, tasks and splits.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { WorkFolder } from "../cli.ts";

const DATA = "bench/data/desk/domains/library";
const own = (file: string) => fileURLToPath(new URL(file, import.meta.url));

const scenario = (reason: string) => ({
  persona: "You are short of time.",
  instructions: {
    domain: "library",
    reason_for_call: reason,
    known_info: "Your loan is L1.",
    unknown_info: "You do not know when it ends.",
    task_instructions: "Be brief.",
  },
});

const call = (name: string, args: string, requestor = "assistant") =>
  `{"action_id": "a", "name": "${name}", "arguments": ${args}, "requestor": "${requestor}"}`;

/** As texts: numbers such as 2.0 are written so on purpose. */
export const DESK_TASKS = {
  extend: `{"id": "extend", "user_scenario": ${JSON.stringify(scenario("You want two more weeks."))},
    "description": {"purpose": "a plain case"},
    "evaluation_criteria": {"actions": [${call("find_loan", '{"loan_id": "L1"}')}, ${call("extend_loan", '{"loan_id": "L1", "weeks": 2.0}')}],
      "communicate_info": ["5.5"], "nl_assertions": ["The agent is polite."], "reward_basis": ["DB", "COMMUNICATE"]}}`,
  lamp: `{"id": "lamp|dark", "user_scenario": ${JSON.stringify(scenario("Your lamp is dark."))},
    "initial_state": {"initialization_actions": [{"env_type": "user", "func_name": "unplug", "arguments": {"plugged": false}}],
      "initialization_data": {"agent_data": {"loans": {"L9": {"id": "L9", "weeks": 1e2}}}}},
    "evaluation_criteria": {"actions": [${call("press", '{"button": "power"}', "user")}, ${call("look", "{}", "user")},
      ${call("extend_loan", '{"loan_id": "L9", "weeks": 1}')}, ${call("press", '{"button": "dim"}', "user")}],
      "env_assertions": [{"env_type": "user", "func_name": "is_lit", "arguments": {}, "assert_value": true}],
      "reward_basis": ["ENV_ASSERTION"]}}`,
  later: `{"id": "later", "user_scenario": {"instructions": "You go on with your loan."},
    "initial_state": {"message_history": [
      {"role": "user", "content": "One more week for L1, please."},
      {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "name": "extend_loan", "arguments": {"loan_id": "L1", "weeks": 1}, "requestor": "assistant"}]},
      {"role": "tool", "id": "c1", "content": "{\\"id\\": \\"L1\\", \\"weeks\\": 4.5}", "requestor": "assistant"},
      {"role": "assistant", "content": "Done. Anything else?"}]},
    "evaluation_criteria": {"actions": [${call("extend_loan", '{"loan_id": "L1", "weeks": 2}')}]}}`,
  refuse: `{"id": "refuse", "user_scenario": ${JSON.stringify(scenario("You want ten more weeks."))},
    "user_tools": [], "evaluation_criteria": {"actions": [], "reward_basis": ["DB"]}}`,
  open: `{"id": "open", "user_scenario": ${JSON.stringify(scenario("You want to chat."))}, "weather": "fine"}`,
};

export function writeDesk(work: WorkFolder, tasks: string[] = Object.values(DESK_TASKS)): void {
  work.write("bench/src/desk/__init__.py", "raise ImportError('this loads everything that there is')\n");
  work.write("bench/src/desk/domains/library/environment.py", readFileSync(own("desk_environment.py"), "utf8"));
  work.write(`${DATA}/tasks.json`, `[${tasks.join(",\n")}]`);
  work.write(
    `${DATA}/db.json`,
    '{"loans": {"L1": {"id": "L1", "weeks": 3.5}}, "lamp": {"plugged": true, "power": false}}',
  );
}

export type Replayed = { [id: string]: { texts: string[]; state: string } };

export function replayDesk(work: WorkFolder): Replayed {
  return JSON.parse(spawnSync("python3", [own("replay_desk.py"), `${work.path}/bench`], { encoding: "utf8" }).stderr);
}
