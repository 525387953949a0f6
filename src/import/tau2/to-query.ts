// One task of tau2-bench as a query: scenario, setup, opening, the user's tools, a plan, what must be told.
import { dropUndefined, isObject, type Json, type JsonObject } from "../../core/index.ts";
import { type ReferenceCall, toPlan } from "../reference-plan.ts";
import { type Tally, Uncarried } from "../tally.ts";
import { readHistory } from "./opening.ts";
import { describeScenario } from "./scenario.ts";

export type ServedTools = { agent: string[]; user: { [own: string]: string } };

const KNOWN = ["id", "user_scenario", "initial_state", "evaluation_criteria", "user_tools"];
/** Kept as it is: about the task, not part of it. */
const KEPT = ["description", "ticket", "required_documents"];
/** Talk about the task among its authors. */
const LEFT_OUT = ["issues"];

export function toQuery(task: JsonObject, served: ServedTools, tally: Tally): JsonObject {
  const id = String(task.id);
  const scenario = task.user_scenario;
  if (!isObject(scenario)) throw new Uncarried("it has no user_scenario");
  const initial = objectOr(task.initial_state);
  const criteria = objectOr(task.evaluation_criteria);
  const { messages, calls } = readHistory(initial.message_history);
  if (calls) tally.lose(id, "history_calls", "calls in the message history: made in the setup, unseen by the agent");
  const userTools = userToolsOf(task, served);
  const mustTell = listOr(criteria.communicate_info);
  const agentIsNext = ["user", "tool"].includes(String(messages.at(-1)?.role));
  const reference = referenceOf(id, criteria, served, tally);
  noteLosses(id, task, criteria, tally);
  const other = Object.keys(task).filter((key) => ![...KNOWN, ...LEFT_OUT].includes(key) && task[key] !== null);
  return dropUndefined({
    id,
    messages: messages.length > 0 ? messages : undefined,
    user_system_prompt: describeScenario(scenario as JsonObject),
    setup: setupOf(initial, calls),
    user_tools: userTools.length > 0 ? userTools : undefined,
    task_info: dropUndefined({
      plan: reference && (toPlan(reference, { mustTell: mustTell ?? [], agentIsNext }) as unknown as Json),
      must_tell: mustTell,
      assertions: listOr(criteria.nl_assertions),
      env_assertions: listOr(criteria.env_assertions),
      reward_basis: listOr(criteria.reward_basis),
      ...Object.fromEntries(other.map((key) => [key, task[key]])),
    }),
  }) as JsonObject;
}

/** All that the domain has, unless the task lists some. */
export function userToolsOf({ user_tools: listed }: JsonObject, { user }: ServedTools): string[] {
  const names = Array.isArray(listed) ? listed.map(String) : Object.keys(user);
  return names.flatMap((name) => user[name] ?? []);
}

function setupOf({ initialization_data, initialization_actions }: JsonObject, calls?: JsonObject[]): Json | undefined {
  const actions = listOr(initialization_actions);
  const data = isObject(initialization_data) ? (initialization_data as JsonObject) : undefined;
  const needed = dropUndefined({ data, actions: actions?.length ? actions : undefined, calls });
  return Object.keys(needed).length > 0 ? [{ name: "rollout_setup", arguments: needed as JsonObject }] : undefined;
}

function referenceOf(
  id: string,
  { actions }: JsonObject,
  { agent, user }: ServedTools,
  tally: Tally,
): ReferenceCall[] | undefined {
  if (!Array.isArray(actions)) return undefined;
  const calls = (actions as JsonObject[]).map(({ name, arguments: args, requestor }): ReferenceCall => {
    const by = requestor === "user" ? "user" : "agent";
    const served = by === "user" ? (user[String(name)] ?? "") : agent.includes(String(name)) ? String(name) : "";
    return { by, name: served, arguments: objectOr(args) };
  });
  if (calls.some(({ name }) => name === "")) {
    tally.lose(id, "unknown_tool", "actions with tools that the domain does not offer: such a task has no plan");
    return undefined;
  }
  return calls;
}

function noteLosses(id: string, task: JsonObject, criteria: JsonObject, tally: Tally): void {
  const actions = (listOr(criteria.actions) ?? []) as JsonObject[];
  if (listOr(criteria.env_assertions)?.length)
    tally.lose(
      id,
      "env_assertions",
      "assertions on the final databases, in task_info.env_assertions: not run; the state check asks for the databases that the reference leaves",
    );
  if (actions.some(({ compare_args }) => Array.isArray(compare_args)))
    tally.lose(
      id,
      "compare_args",
      "only some arguments of an action count there; here all do, where calls are compared",
    );
  if (listOr(criteria.reward_basis)?.includes("ACTION"))
    tally.lose(id, "each_action", "every action of the list is asked for there; here their effects are");
  const known = [...KNOWN, ...KEPT, ...LEFT_OUT];
  for (const key of Object.keys(task).filter((each) => !known.includes(each) && task[each] !== null))
    tally.lose(id, `field ${key}`, "a field that the importer does not know: kept in task_info");
}

function objectOr(value: Json | undefined): JsonObject {
  return isObject(value) ? (value as JsonObject) : {};
}

function listOr(value: Json | undefined): Json[] | undefined {
  return Array.isArray(value) ? value : undefined;
}
