// Calling a domain's tools for real before a run does: those of its own by playing reference plans, where nothing outlives
// the call; those of MCP servers, which may be anybody's, only if they are read-only.
import {
  isObject,
  type JsonObject,
  listPlannedCalls,
  messageOf,
  parseJson,
  RolloutError,
  redactText,
  type ToolResult,
  writeExact,
} from "../core/index.ts";
import type { Domain } from "./domain.ts";
import { playPlan } from "./play-plan.ts";
import type { QueryFile } from "./query-file.ts";

/** `failed`: what each broken tool said, by wire name. */
export type TriedTools = { called: Set<string>; failed: Map<string, string> };

/** One plan for each tool that no earlier plan calls, then each read-only tool that needs no arguments. */
export async function tryOwnTools(domain: Domain, queries: QueryFile): Promise<TriedTools> {
  const tried: TriedTools = { called: new Set(), failed: new Map() };
  for (let index = 0; index < queries.size; index++) {
    const query = queries.load(index);
    const planned = listPlannedCalls(query.taskInfo.plan ?? []).map(({ name }) => domain.toolbox.wireName(name));
    if (planned.every((name) => tried.called.has(name))) continue;
    try {
      for (const { name, result } of (await playPlan(domain, query)).calls)
        note(tried, domain.toolbox.wireName(name), crashOf(result));
    } catch (error) {
      if (!(error instanceof RolloutError)) throw error;
      const unknown = planned.find((name) => !tried.called.has(name)) as string;
      note(tried, unknown, messageOf(error));
    }
    for (const name of planned) tried.called.add(name);
  }
  return tryReads(domain, tried, crashOf);
}

/** Arguments come from the plans, if they depend on no earlier result. */
export function tryReadOnlyTools(domain: Domain, queries: QueryFile): Promise<TriedTools> {
  const known = new Map<string, JsonObject>();
  for (let index = 0; index < queries.size; index++)
    for (const { name, arguments: args } of listPlannedCalls(queries.load(index).taskInfo.plan ?? []))
      if (!JSON.stringify(args).includes("{{")) known.set(domain.toolbox.wireName(name), args);
  const errorOf = (result: ToolResult) => (result.isError ? redactText(result.content).slice(0, 500) : undefined);
  return tryReads(domain, { called: new Set(), failed: new Map() }, errorOf, known);
}

async function tryReads(
  domain: Domain,
  tried: TriedTools,
  errorOf: (result: ToolResult) => string | undefined,
  known = new Map<string, JsonObject>(),
): Promise<TriedTools> {
  const environment = await domain.openEnvironment({ seed: 0 });
  try {
    for (const { name, parameters, readOnly } of environment.tools) {
      const needed = Array.isArray(parameters.required) ? parameters.required.length : 0;
      const args = known.get(name) ?? (needed === 0 ? {} : undefined);
      if (!readOnly || tried.called.has(name) || !args) continue;
      const call = { id: `check_${name}`, name, arguments: writeExact(args) };
      const said = await environment.call(call, AbortSignal.any([])).then(errorOf, saidBy);
      note(tried, name, said);
    }
    return tried;
  } finally {
    await environment.close();
  }
}

function note({ called, failed }: TriedTools, name: string, said: string | undefined): void {
  called.add(name);
  if (said !== undefined && !failed.has(name)) failed.set(name, said);
}

function saidBy(error: unknown): string {
  if (error instanceof RolloutError) return error.message;
  throw error;
}

/** An exception in the tool's code; an error that a tool returns may be a good answer to what it was asked. */
function crashOf({ content, isError }: ToolResult): string | undefined {
  const value = isError ? parseJson(content) : undefined;
  const said = isObject(value) && typeof value.error === "string" ? value.error : "";
  return /^The tool failed: ([\s\S]*)/.exec(said)?.[1];
}
