// Whether a file's default export is a server: what is wrong with it is told with the line that says it.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { isObject, type Location, UsageError } from "../core/index.ts";
import type { DomainServer } from "./domain-server.ts";

const names = z.array(z.string(), "must be a list of tools");
const name = z.string("must be the name of a tool");
const id = z.string("is missing: each rule has one");

const rule = z.discriminatedUnion(
  "rule",
  [
    z.strictObject({ id, rule: z.literal("authorize_first"), tool: name, except: names.optional() }),
    z.strictObject({ id, rule: z.literal("confirm_before"), tools: names }),
    z.strictObject({ id, rule: z.literal("forbidden"), tools: names }),
    z.strictObject({ id, rule: z.literal("one_person"), tool: name, by: z.string("must be the name of an argument") }),
    z.strictObject({
      id,
      rule: z.literal("transfer"),
      tools: names.optional(),
      ask: z.boolean("must be true or false").optional(),
      locked_by: name.optional(),
    }),
  ],
  "must be one of authorize_first, confirm_before, forbidden, one_person, transfer",
);

const tools = z.record(
  z.string(),
  z.custom((value) => typeof value === "function", "must be a function"),
  "must be an object of functions by tool name",
);

const shape = z.object({
  today: z.string("must be the domain's date").regex(/^\d{4}-\d\d-\d\d$/, "must be a date such as 2026-03-02"),
  reads: tools,
  writes: tools,
  rules: z.array(rule, "must be a list of rules").optional(),
  volatile: z
    .record(z.string(), z.array(z.string(), "must be a list of fields"), "must be an object of lists by table")
    .optional(),
});

export function requireServer(value: unknown, file: string): DomainServer {
  if (!isObject(value) || !("reads" in value && "writes" in value && "today" in value))
    throw new UsageError("the default export must be a server: { today, reads, writes }", { file });
  const parsed = shape.safeParse(value);
  const issue = parsed.error?.issues[0];
  if (issue) {
    const path = issue.path.map(String);
    throw new UsageError(`${path.join(".")} ${issue.message}`, locate(file, path, value));
  }
  const server = value as DomainServer;
  for (const [index, rule] of (server.rules ?? []).entries()) {
    const unknown = toolsOf(rule).find((tool) => !server.reads[tool] && !server.writes[tool]);
    if (unknown !== undefined)
      throw new UsageError(
        `the rule "${rule.id}" names the tool "${unknown}", which is not there`,
        locate(file, ["rules", String(index)], value),
      );
  }
  return server;
}

function toolsOf(rule: NonNullable<DomainServer["rules"]>[number]): string[] {
  const named = rule as { tool?: string; tools?: string[]; except?: string[]; locked_by?: string };
  return [named.tool, ...(named.tools ?? []), ...(named.except ?? []), named.locked_by].filter(
    (tool) => tool !== undefined,
  );
}

/** The line of a rule's id, else of the first word of the path that the file has as a member. */
function locate(file: string, path: string[], value: unknown): Location {
  const [member = "", index = ""] = path;
  const rules = isObject(value) && Array.isArray(value.rules) ? value.rules : [];
  const ruleId = member === "rules" && isObject(rules[Number(index)]) ? rules[Number(index)].id : undefined;
  const lines = readFileSync(file, "utf8").split("\n");
  const has = (pattern: RegExp) => lines.findIndex((line) => pattern.test(line)) + 1;
  const line =
    (typeof ruleId === "string" && has(new RegExp(`["'\`]${escapePattern(ruleId)}["'\`]`))) ||
    (member !== "rules" && index !== "" && has(new RegExp(`^\\s*["']?${escapePattern(index)}["']?\\s*[:,(]`))) ||
    has(new RegExp(`^\\s*${escapePattern(member)}\\s*[:,(]`));
  return line ? { file, line } : { file };
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
