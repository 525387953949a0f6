// Calling a domain's tools for real before a run does: those of its own by playing reference plans, where nothing outlives
// the call; those of MCP servers, which may be anybody's, only if they are read-only.
import {
  hasOpeningCalls,
  isObject,
  type JsonObject,
  listAllCalls,
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

/** `isSure`: nothing before it, in the query's setup or plan, changes the world, so an error tells of the tool. */
type Attempt = { args: JsonObject; query?: Query; isSure: boolean };

/** Different tasks may ask for what is not there, and rightly get an error. */
const MAX_ATTEMPTS = 3;

/**
 * Arguments come from the plans, if they depend on no earlier result, and each is tried in the world of its own query. A
 * tool is broken if it answers every one with an error.
 */
export function tryReadOnlyTools(domain: Domain, queries: QueryFile): Promise<TriedTools> {
  const known = new Map<string, Attempt[]>();
  for (let index = 0; index < queries.size; index++) {
    const query = queries.load(index);
    let isSure = !hasOpeningCalls(query);
    for (const { name: written, arguments: args, by } of listAllCalls(query.taskInfo.plan ?? [])) {
      const name = domain.toolbox.wireName(written);
      isSure &&= domain.toolbox.resolve(name)?.spec.readOnly ?? true;
      const attempts = known.get(name) ?? [];
      known.set(name, attempts);
      if (by === undefined && attempts.length < MAX_ATTEMPTS && !JSON.stringify(args).includes("{{"))
        attempts.push({ args, query, isSure });
    }
  }
  const errorOf = (result: ToolResult) => (result.isError ? redactText(result.content).slice(0, 500) : undefined);
  return tryReads(domain, { called: new Set(), failed: new Map() }, errorOf, known);
}

async function tryReads(
  domain: Domain,
  tried: TriedTools,
  errorOf: (result: ToolResult) => string | undefined,
  known = new Map<string, Attempt[]>(),
): Promise<TriedTools> {
  const attempt = async (name: string, { args, query, isSure }: Attempt): Promise<string | undefined> => {
    const environment = await domain.openEnvironment({ seed: 0, query });
    try {
      const call = { id: `check_${name}`, name, arguments: writeExact(args) };
      const said = errorOf(await environment.call(call, AbortSignal.any([])));
      return isSure ? said : undefined;
    } finally {
      await environment.close();
    }
  };
  for (const { name, parameters, readOnly } of domain.toolbox.tools) {
    const needed = Array.isArray(parameters.required) ? parameters.required.length : 0;
    const planned = known.get(name) ?? [];
    const attempts = planned.length === 0 && needed === 0 ? [{ args: {}, isSure: true }] : planned;
    if (!readOnly || tried.called.has(name) || attempts.length === 0) continue;
    const said: (string | undefined)[] = [];
    for (const each of attempts) if (!said.includes(undefined)) said.push(await attempt(name, each).catch(saidBy));
    note(tried, name, said.includes(undefined) ? undefined : said.at(-1));
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
