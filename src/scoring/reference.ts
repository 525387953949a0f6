// What a flawless agent would have called and left behind: from the query's plan, from the dataset's validated tasks, or
// just from the list of tool names. How much is known differs, and checks say so.
import {
  isObject,
  type Json,
  type JsonObject,
  listPlannedCalls,
  type PlanCall,
  type PlayedCall,
  parseJson,
  type Query,
  type ReferencePlan,
  type StateChanges,
  toPlain,
} from "../core/index.ts";
import { type Domain, expectedState, type PlayedPlan, playCalls, playPlan } from "../domains/index.ts";
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
  /** it changed records; false if that is unknown */
  changes: boolean;
};

export type Reference = {
  source: "plan" | "validated_tasks" | "trajectory";
  calls: ReferenceCall[];
  /** undefined if the calls could not be played */
  state: StateChanges | undefined;
  /** the played calls, for references in the query to what they returned */
  played: readonly PlayedCall[];
};

/** Of a query of a dataset, whose tools can be played again or not. */
export async function findReferenceIn(
  { domain, validated, openEnvironment }: StoredDataset,
  query: Query,
): Promise<Reference | string> {
  if (typeof openEnvironment === "string") return openEnvironment;
  return domain ? findReference(query, domain, validated?.(query)) : "the domain is not there";
}

export async function findReference(
  query: Query,
  domain: Domain,
  validated: ValidatedTask | undefined,
): Promise<Reference | string> {
  const { plan, trajectory } = query.taskInfo;
  if (plan) return fromPlan(query, plan, domain);
  if (validated) return fromValidated(query, validated, domain);
  if (Array.isArray(trajectory) && trajectory.length > 0) {
    const calls = trajectory.map((name) => toUnplayed({ name: String(name), arguments: {} }, domain));
    return { source: "trajectory", calls: withoutRepeats(calls), state: expectedState(query, []), played: [] };
  }
  return "the query has no reference (task_info.plan, task_info.trajectory, validated_tasks)";
}

async function fromPlan(query: Query, plan: ReferencePlan, domain: Domain): Promise<Reference> {
  const played = await playPlan(domain, query);
  const planned = listPlannedCalls(plan);
  const calls = played.calls.map((call, index) => {
    const args = JSON.parse(call.arguments) as JsonObject;
    const open = Object.entries((planned[index] as PlanCall).arguments).flatMap(([key, value]) =>
      isGivenOut(value, args[key] ?? null, domain, played.state) ? [key] : [],
    );
    return toCall(call, open, domain);
  });
  return { source: "plan", calls, state: played.state, played: played.calls };
}

/**
 * `confirm` is part of playing a call. A value that an earlier result gives is taken from there; if there is none, or
 * several, or a call is refused, the reference cannot be played: its names and known values still count.
 */
async function fromValidated(query: Query, task: ValidatedTask, domain: Domain): Promise<Reference> {
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
  const played = await playCalls(domain, planned, fill, { seed: 0, query });
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
  /^(get|list|search|find|check|view|read|look_?up|query|count|show|fetch|describe|calculate|estimate)_/;

/** Python servers do not say which of their tools are read-only: there the name decides. */
export function isRead(name: string, domain: Domain): boolean {
  const named = domain.toolbox.resolve(name);
  if (!named) return true;
  const isDeclared = domain.toolbox.tools.some((tool) => tool.readOnly);
  return isDeclared ? named.spec.readOnly : READ_NAME.test(named.tool);
}

const SIGN_IN_NAME = /^(authori[sz]e|authenticate|verify|identify|log_?in|sign_?in)(_|$)/;

/** It only says who is speaking: how often and when is the policy's affair. */
export function isSignIn(name: string, domain: Domain): boolean {
  if (domain.rules.some((rule) => rule.rule === "authorize_first" && rule.tool === name)) return true;
  return SIGN_IN_NAME.test(domain.toolbox.resolve(name)?.tool ?? name);
}
