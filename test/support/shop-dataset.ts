// A small dataset folder in the layout that users have: two domains, one combination, queries with reference plans. Its
// one slow tool waits while the file `slow` is in the working folder, and creates the file `waiting` meanwhile.
import type { WorkFolder } from "./cli.ts";

export type ShopQuery = { id: string; messages: object[]; user_system_prompt: string; task_info: object };

export function writeShop(work: WorkFolder, options: { base?: string; queries?: ShopQuery[] } = {}): void {
  const base = options.base ?? "shop";
  work.write(`${base}/mcp_servers/Domain1.mjs`, DOMAIN_1);
  work.write(`${base}/mcp_servers/Domain2.mjs`, DOMAIN_2);
  work.write(`${base}/tool_lists/Domain1.json`, JSON.stringify([tool("find_item", "name")]));
  work.write(`${base}/tool_lists/Domain2.json`, JSON.stringify([tool("get_price", "item_id")]));
  work.write(`${base}/policies/Domain1.md`, "<!-- POLICY_START -->\nHelp with items.\n<!-- POLICY_END -->\n");
  work.write(`${base}/policies/Domain2_Domain1.md`, "Help with items and prices.\n");
  const queries = options.queries ?? [itemQuery("q1"), itemQuery("q2"), itemQuery("q3")];
  work.write(`${base}/queries/Domain1.jsonl`, lines(queries));
  work.write(`${base}/queries/Domain1_Domain2.jsonl`, lines([crossQuery("x1"), crossQuery("x2")]));
}

export const SCRIPTED = ["--agent-model", "scripted/agent", "--user-model", "scripted/user"];

export function lines(records: object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Two turns: a lookup, then thanks. */
export function itemQuery(id: string, name = `item ${id}`): ShopQuery {
  return planQuery(id, [
    { steps: [call("find_item", { name })], say: `I found ${name}. Do you want it?` },
    { user: "Yes.", say: "It is yours." },
    { user: "Thanks. ###STOP###" },
  ]);
}

export function crossQuery(id: string): ShopQuery {
  return planQuery(id, [
    {
      steps: [
        call("Domain1.find_item", { name: "lamp" }),
        call("Domain2.get_price", { item_id: "{{Domain1.find_item.item_id}}" }),
      ],
      say: "It costs 7.",
    },
    { user: "Thanks. ###STOP###" },
  ]);
}

export function planQuery(id: string, plan: object[]): ShopQuery {
  return {
    id,
    messages: [{ role: "user", content: `Hello, this is ${id}.` }],
    user_system_prompt: "You want an item.",
    task_info: { plan },
  };
}

export function call(name: string, args: object): object {
  return { calls: [{ name, arguments: args }] };
}

function tool(name: string, parameter: string): object {
  const parameters = { type: "object", properties: { [parameter]: { type: "string" } }, required: [parameter] };
  return { type: "function", function: { name, description: `${name} by ${parameter}`, parameters } };
}

const DOMAIN_1 = `
import { existsSync, writeFileSync } from "node:fs";
export default {
  today: "2026-02-02",
  reads: {
    async find_item(_context, { name }) {
      if (name === "nothing") return { error: "There is no such item" };
      if (name === "slow") {
        if (existsSync("slow")) writeFileSync("waiting", "");
        while (existsSync("slow")) await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return { item_id: "item-" + name, name };
    },
  },
  writes: {},
};
`;

const DOMAIN_2 = `
export default {
  today: "2026-02-02",
  reads: { get_price: (_context, { item_id }) => ({ item_id, price: 7 }) },
  writes: {},
};
`;
