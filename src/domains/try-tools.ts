// Calling a domain's tools for real before a run does: those of its own by playing reference plans, where nothing outlives
// the call; those of MCP servers, which may be anybody's, only if they are read-only.
import {
  isObject,
  type JsonObject,
  listPlannedCalls,
  messageOf,
  parseJson,
  type Query,
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

/** Arguments come from the plans, if they depend on no earlier result, and are tried in the worlds of those plans. */
export function tryReadOnlyTools(domain: Domain, queries: QueryFile): Promise<TriedTools> {
  const known: KnownArguments = new Map();
  for (let index = 0; index < queries.size; index++) {
    const query = queries.load(index);
    for (const { name, arguments: args } of listPlannedCalls(query.taskInfo.plan ?? [])) {
      const tool = domain.toolbox.wireName(name);
      if (!known.has(tool) && !JSON.stringify(args).includes("{{")) known.set(tool, { args, query });
    }
  }
  const errorOf = (result: ToolResult) => (result.isError ? redactText(result.content).slice(0, 500) : undefined);
  return tryReads(domain, { called: new Set(), failed: new Map() }, errorOf, known);
}

type KnownArguments = Map<string, { args: JsonObject; query?: Query }>;

async function tryReads(
  domain: Domain,
  tried: TriedTools,
  errorOf: (result: ToolResult) => string | undefined,
  known: KnownArguments = new Map(),
): Promise<TriedTools> {
  const calls = domain.toolbox.tools.flatMap(({ name, parameters, readOnly }) => {
    const needsNone = !Array.isArray(parameters.required) || parameters.required.length === 0;
    const found = known.get(name) ?? (needsNone ? { args: {}, query: undefined } : undefined);
    return readOnly && found && !tried.called.has(name) ? [{ name, ...found }] : [];
  });
  for (const query of new Set(calls.map((call) => call.query))) {
    const environment = await domain.openEnvironment({ seed: 0, query });
    try {
      for (const { name, args } of calls.filter((call) => call.query === query)) {
        const call = { id: `check_${name}`, name, arguments: writeExact(args) };
        note(tried, name, await environment.call(call, AbortSignal.any([])).then(errorOf, saidBy));
      }
    } finally {
      await environment.close();
    }
  }
  return tried;
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
