// What a flawless agent would have called and left behind: from the query's plan, from the dataset's validated tasks, or
// just from the list of tool names. How much is known differs, and checks say so.
import {
  isObject,
  type Json,
  type JsonObject,
  listAllCalls,
  type PlanCall,
  type PlayedCall,
  parseJson,
  type Query,
  type ReferencePlan,
  type StateChanges,
  toPlain,
  type World,
} from "../core/index.ts";
import { type Domain, expectedState, type PlayedPlan, playCalls, playPlan, SharedEffects } from "../domains/index.ts";
import type { StoredDataset } from "./stored-datasets.ts";
import { isPreviewText } from "./transcript.ts";
import type { ValidatedTask } from "./validated-tasks.ts";

/** What the call did when the reference was played; `unplayed` if it could not be. */
type CallKind = "read" | "write" | "preview" | "refused" | "unplayed";

export type ReferenceCall = {
  /** on the wire */
  name: string;
  arguments: JsonObject;
  /** arguments that may have any value: an earlier result gives it, or the dataset says that it does not matter */
  open: string[];
  kind: CallKind;
  /** unplayed, but the plan names all of its arguments */
  whole?: boolean;
  /** it changed records; false if that is unknown */
  changes: boolean;
};

export type Reference = {
  source: "plan" | "validated_tasks" | "trajectory";
  calls: ReferenceCall[];
  /** what the simulated user does with its own tools */
  userCalls?: ReferenceCall[];
  /** undefined if the calls could not be played, or do not show what they change */
  state: StateChanges | undefined;
  /** why there is no state, if it is not that the reference lacks values */
  stateless?: string;
  /** its servers were out of reach: another time there may be a state */
  unreachable?: boolean;
  /** of servers that others wrote: the calls as the plan has them, for a record that they answer differently now */
  planned?: ReferenceCall[];
  /** the played calls, for references in the query to what they returned */
  played: readonly PlayedCall[];
};

/** Of a query of a dataset, whose tools can be played again or not. */
export async function findReferenceIn(
  { domain, validated, openEnvironment }: StoredDataset,
  query: Query,
  world?: PlayedWorld,
): Promise<Reference | string> {
  const unreachable = typeof openEnvironment === "string" ? openEnvironment : undefined;
  // tools that are known from the records alone cannot be played, but their names can be compared
  if (!domain || (unreachable && domain.servers.length === 0)) return unreachable ?? "the domain is not there";
  return findReference(query, domain, { validated: validated?.(query), unreachable, world });
}

type PlayedWorld = Pick<World, "seed" | "rollout">;
type ReferenceOptions = {
  validated?: ValidatedTask;
  /** why nothing can be played */
  unreachable?: string;
  /** the rollout's own, if its reference depends on it */
  world?: PlayedWorld;
};

export async function findReference(
  query: Query,
  domain: Domain,
  options: ReferenceOptions = {},
): Promise<Reference | string> {
  const found = await tryFinding(query, domain, options);
  const { unseen = [], stateless: without = [] } = domain;
  if (typeof found === "string") return found;
  if (domain.servers.length > 0 && domain.servers.every((server) => without.includes(server)))
    return { ...found, state: undefined, stateless: "its tools have no state" };
  if (unseen.length === 0) return found;
  const stateless = `MCP server ${unseen.join(", ")} does not show its state (state_tool)`;
  return { ...found, state: undefined, stateless: found.stateless ?? stateless };
}

async function tryFinding(query: Query, domain: Domain, options: ReferenceOptions): Promise<Reference | string> {
  const { plan, trajectory, answer } = query.taskInfo;
  // a known answer makes a plan that says it, and says nothing about calls
  if (plan && (answer === undefined || listAllCalls(plan).length > 0)) return fromPlan(query, plan, domain, options);
  const { validated, unreachable } = options;
  if (validated) return fromValidated(query, validated, domain, unreachable);
  if (Array.isArray(trajectory) && trajectory.length > 0) {
    const calls = trajectory.map((name) => toUnplayed({ name: String(name), arguments: {} }, domain));
    return { source: "trajectory", calls: withoutRepeats(calls), state: expectedState(query, []), played: [] };
  }
  return "the query has no reference (task_info.plan, task_info.trajectory, validated_tasks)";
}

export const SHARED_EFFECTS = "others share what its calls do: they are compared by name and arguments, not made again";

async function fromPlan(
  query: Query,
  plan: ReferencePlan,
  domain: Domain,
  { unreachable, world }: ReferenceOptions,
): Promise<Reference> {
  const planned = listAllCalls(plan);
  const asPlanned = planned.map((call) => ({ ...toUnplayed(call, domain, listOpen(call)), whole: true }));
  const split = (calls: ReferenceCall[]) => ({
    calls: calls.filter((_, index) => planned[index]?.by === undefined),
    userCalls: calls.filter((_, index) => planned[index]?.by === "user"),
  });
  const unplayed = { source: "plan" as const, ...split(asPlanned), state: undefined, played: [] };
  if (unreachable) return { ...unplayed, stateless: unreachable, unreachable: true };
  const played = await playPlan(domain, query, world).catch(orShared);
  if (!played) return { ...unplayed, stateless: SHARED_EFFECTS };
  const calls = played.calls.map((call, index) => {
    const args = JSON.parse(call.arguments) as JsonObject;
    const open = Object.entries((planned[index] as PlanCall).arguments).flatMap(([key, value]) =>
      isGivenOut(value, args[key] ?? null, domain, played.state) ? [key] : [],
    );
    return toCall(call, open, domain);
  });
  const own = domain.unseen && { planned: split(asPlanned).calls };
  return { source: "plan", ...split(calls), state: played.state, played: played.calls, ...own };
}

function orShared(error: unknown): undefined {
  if (!(error instanceof SharedEffects)) throw error;
}

/** Arguments that an earlier result would have filled. */
function listOpen({ arguments: args }: PlanCall): string[] {
  return Object.keys(args).filter((name) => JSON.stringify(args[name])?.includes("{{"));
}

/**
 * `confirm` is part of playing a call. A value that an earlier result gives is taken from there; if there is none, or
 * several, or a call is refused, the reference cannot be played: its names and known values still count.
 */
async function fromValidated(
  query: Query,
  task: ValidatedTask,
  domain: Domain,
  unreachable: string | undefined,
): Promise<Reference> {
  const planned = withoutRepeats(task.calls);
  const unplayable = {
    source: "validated_tasks" as const,
    calls: planned.map((call) => toUnplayed(call, domain, call.open)),
    state: expectedState(query, []),
    played: [],
  };
  let isComplete = true;
  const fill: Parameters<typeof playCalls<(typeof planned)[number]>>[2] = (
    { name, arguments: args, open },
    earlier,
  ) => {
    const given = open.map((key) => [key, findValue(key, earlier)] as const);
    isComplete &&= given.every(([, value]) => value !== undefined);
    const filled = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as JsonObject;
    return { ...args, ...filled, ...(takesConfirm(name, domain) ? { confirm: true } : {}) };
  };
  if (unreachable) return { ...unplayable, stateless: unreachable, unreachable: true };
  const played = await playCalls(domain, planned, fill, { seed: 0, query }).catch(orShared);
  if (!played) return { ...unplayable, stateless: SHARED_EFFECTS };
  const calls = played.calls.map((call, index) => toCall(call, planned[index]?.open ?? [], domain));
  const works = isComplete && calls.every(({ kind }) => kind === "read" || kind === "write");
  return works ? { source: "validated_tasks", calls, state: played.state, played: played.calls } : unplayable;
}

/** A list of names holds a call twice if it was previewed first; played with `confirm`, once is enough. */
function withoutRepeats<Call extends PlanCall>(calls: Call[]): Call[] {
  const seen = new Set<string>();
  return calls.filter((call) => {
    const key = JSON.stringify([call.name, call.arguments]);
    return !seen.has(key) && seen.add(key);
  });
}

function takesConfirm(name: string, domain: Domain): boolean {
  const properties = domain.toolbox.resolve(name)?.spec.parameters.properties;
  return isObject(properties) && properties.confirm !== undefined;
}

/** The value under this key in the latest result that has one; undefined if that result has several. */
function findValue(key: string, played: readonly PlayedCall[]): Json | undefined {
  for (const { content } of played.toReversed()) {
    const found = new Set(valuesUnder(key, parseJson(content)));
    if (found.size === 1) return [...found][0];
    if (found.size > 1) return undefined;
  }
  return undefined;
}

function valuesUnder(key: string, value: unknown): Json[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesUnder(key, item));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === key && (typeof member === "string" || typeof member === "number") ? [member] : valuesUnder(key, member),
  );
}

function toCall(
  { name, arguments: text, content, result, changes }: PlayedPlan["calls"][number],
  open: string[],
  domain: Domain,
): ReferenceCall {
  const wire = domain.toolbox.wireName(name);
  const kind = result.isError
    ? "refused"
    : isPreviewText(content)
      ? "preview"
      : isRead(wire, domain)
        ? "read"
        : "write";
  return { name: wire, arguments: JSON.parse(text), open: [...open, ...freeOf(wire, domain)], kind, changes };
}

function toUnplayed(call: PlanCall, domain: Domain, open: string[] = []): ReferenceCall {
  const name = domain.toolbox.wireName(call.name);
  return {
    name,
    arguments: toPlain(call.arguments),
    open: [...open, ...freeOf(name, domain)],
    kind: "unplayed",
    changes: false,
  };
}

function freeOf(wire: string, domain: Domain): string[] {
  return Object.hasOwn(domain.freeArguments, wire) ? (domain.freeArguments[wire] ?? []) : [];
}

/** Ids generated during play differ from one environment to the next, no matter where they were read. */
function isGivenOut(planned: Json, filled: Json, domain: Domain, state: StateChanges): boolean {
  const references = [...JSON.stringify(planned).matchAll(/\{\{([^{}]+)\}\}/g)];
  if (references.length === 0) return false;
  const text = JSON.stringify(filled);
  return (
    references.some(([, path]) => !isRead(toolOf(path as string), domain)) ||
    newIds(state).some((id) => text.includes(id))
  );
}

function newIds(state: StateChanges): string[] {
  return Object.values(state).flatMap((rows) =>
    Object.entries(rows).flatMap(([id, row]) => (row && Object.values(row).includes(id) ? [id] : [])),
  );
}

function toolOf(path: string): string {
  const parts = path.trim().split(".");
  const name = /^[A-Z]/.test(parts[0] ?? "") ? parts.slice(0, 2).join(".") : (parts[0] ?? "");
  return name.split("#")[0] as string;
}

const READ_NAME =
  /^(get|list|search|find|check|view|read|look_?up|query|count|show|fetch|describe|calculate|estimate|think)(_|$)/;

/** Python servers do not say which of their tools are read-only: there the name decides. */
export function isRead(name: string, domain: Domain): boolean {
  const named = domain.toolbox.resolve(name);
  if (!named) return true;
  const { stateless = [], toolbox } = domain;
  if (stateless.includes(named.server)) return true;
  const isDeclared = toolbox.tools.some(
    ({ name: other, readOnly }) => readOnly && !stateless.includes(toolbox.resolve(other)?.server ?? ""),
  );
  return isDeclared ? named.spec.readOnly : READ_NAME.test(named.tool);
}

const SIGN_IN_NAME = /^(authori[sz]e|authenticate|verify|identify|log_?in|sign_?in)(_|$)/;

/** It only says who is speaking: how often and when is the policy's affair. */
export function isSignIn(name: string, domain: Domain): boolean {
  if (domain.rules.some((rule) => rule.rule === "authorize_first" && rule.tool === name)) return true;
  return SIGN_IN_NAME.test(domain.toolbox.resolve(name)?.tool ?? name);
}
