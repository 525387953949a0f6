// verl, reinforcement learning: the prompt of a query and what its reward may be computed from; one row per query. The
// trainer plays the rollouts itself, so of the record only the opening and the names are written. The ground truth says
// where it comes from.
import { rowText } from "../row-text.ts";
import { readChat } from "./chat.ts";
import { type ColumnType, type Format, listOf, textOf } from "./format.ts";

const KEYS: { [name: string]: ColumnType } = { dataset: "string", query_id: "string" };

export const verlRl: Format = {
  name: "verl-rl",
  container: "parquet",
  columns: {
    data_source: "string",
    prompt: { list: { fields: { role: "string", content: "string" } } },
    ability: "string",
    reward_model: { fields: { style: "string", ground_truth: "string" } },
    extra_info: {
      fields: {
        split: "string",
        index: "integer",
        need_tools_kwargs: "boolean",
        tools_kwargs: { fields: { rollout: { fields: { create_kwargs: { fields: KEYS } } } } },
        interaction_kwargs: { fields: { name: "string", ...KEYS } },
      },
    },
    agent_name: "string",
  },
  required: [["data_source", "prompt", "ability", "reward_model", "extra_info", "agent_name"]],
  reasoning: { default: "drop", field: false },
  oncePerQuery: true,
  write({ system, messages }, record, { split, index, dataSource, groundTruth }) {
    const opening = messages.slice(0, messages.findIndex(({ role }) => role === "user") + 1);
    if (opening.length === 0) return { reason: "no user speaks" };
    if (opening.some(({ role }) => role === "tool")) return { reason: "a tool is called before the user speaks" };
    const prompt = opening.map(({ role, content }) => ({ role, content }));
    const keys = { dataset: record.dataset, query_id: record.query_id };
    return {
      row: {
        data_source: dataSource,
        prompt: system === undefined ? prompt : [{ role: "system", content: system }, ...prompt],
        ability: "tool_use",
        reward_model: { style: "rule", ground_truth: rowText({ ...keys, ...groundTruth }) },
        extra_info: {
          split,
          index,
          need_tools_kwargs: true,
          // Parquet has no record without members, and the trainer looks tools up here by name
          tools_kwargs: { rollout: { create_kwargs: keys } },
          interaction_kwargs: { name: "rollout", ...keys },
        },
        agent_name: "tool_agent",
      },
    };
  },
  read(row) {
    const reading = readChat(listOf(row.prompt), undefined);
    for (const key of ["data_source", "ability", "agent_name"])
      if (textOf(row[key]) === "") reading.problems.push(`${key} is missing`);
    for (const key of ["reward_model", "extra_info"])
      if (typeof row[key] !== "object" || row[key] === null) reading.problems.push(`${key} is missing`);
    return reading;
  },
};
