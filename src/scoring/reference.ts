// What a flawless agent would have called and left behind: from the query's plan, from the dataset's validated tasks, or
// just from the list of tool names. How much is known differs, and checks say so.
import {
  fillPlaceholders,
  type Json,
  type JsonObject,
  listPlannedCalls,
  type PlanCall,
  type Query,
  type ReferencePlan,
  type StateChanges,
} from "../core/index.ts";
import { type Domain, expectedState, type PlayedPlan, playPlan } from "../domains/index.ts";
import { isPreviewText } from "./transcript.ts";
import type { ValidatedTask } from "./validated-tasks.ts";
import { isHardValue } from "./values.ts";

/** What the call did when the reference was played; `unplayed` if it could not be. */
type CallKind = "read" | "write" | "preview" | "refused" | "unplayed";

export type ReferenceCall = {
  /** on the wire */
  name: string;
  arguments: JsonObject;
  /** arguments whose value is not known beforehand: an earlier result gives it */
  open: string[];
  kind: CallKind;
};

export type Reference = {
  source: "plan" | "validated_tasks" | "trajectory";
  calls: ReferenceCall[];
  /** undefined if the calls could not be played */
  state: StateChanges | undefined;
  /** what the user has to be told, as far as the plan says */
  facts: (string | number)[];
};

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
    return { source: "trajectory", calls, state: expectedState(query, []), facts: [] };
  }
  return "the query has no reference (task_info.plan, task_info.trajectory, validated_tasks)";
}

async function fromPlan(query: Query, plan: ReferencePlan, domain: Domain): Promise<Reference> {
  const played = await playPlan(domain, query);
  const planned = listPlannedCalls(plan);
  const calls = played.calls.map((call, index) => toCall(call, planned[index] as PlanCall, domain, played.state));
  return { source: "plan", calls, state: played.state, facts: factsOf(plan, played, calls, domain) };
}

/** Values that only an earlier call can supply make the reference unplayable; names and other arguments still count. */
async function fromValidated(query: Query, task: ValidatedTask, domain: Domain): Promise<Reference> {
  const calls = task.calls;
  if (calls.some(({ open }) => open.length > 0)) {
    return {
      source: "validated_tasks",
      calls: calls.map((call) => toUnplayed(call, domain, call.open)),
      state: expectedState(query, []),
      facts: [],
    };
  }
  const plan: ReferencePlan = [
    { steps: calls.map(({ name, arguments: args }) => ({ calls: [{ name, arguments: args }] })) },
  ];
  const played = await playPlan(domain, { ...query, taskInfo: { ...query.taskInfo, plan } });
  const kinds = played.calls.map((call, index) => toCall(call, calls[index] as PlanCall, domain, played.state));
  const works = kinds.every(({ kind }) => kind === "read" || kind === "write");
  return { source: "validated_tasks", calls: kinds, state: works ? played.state : undefined, facts: [] };
}

function toCall(
  { name, arguments: text, content, result }: PlayedPlan["calls"][number],
  planned: PlanCall,
  domain: Domain,
  state: StateChanges,
): ReferenceCall {
  const args = JSON.parse(text) as JsonObject;
  const open = Object.entries(planned.arguments).flatMap(([key, value]) =>
    isGivenOut(value, args[key] ?? null, domain, state) ? [key] : [],
  );
  const wire = domain.toolbox.resolve(name)?.spec.name ?? name;
  const kind: CallKind = result.isError
    ? "refused"
    : isPreviewText(content)
      ? "preview"
      : isRead(wire, domain)
        ? "read"
        : "write";
  return { name: wire, arguments: args, open, kind };
}

function toUnplayed(call: PlanCall, domain: Domain, open: string[] = []): ReferenceCall {
  const name = domain.toolbox.resolve(call.name)?.spec.name ?? call.name;
  return { name, arguments: call.arguments, open, kind: "unplayed" };
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

/**
 * Hard values (numbers, dates, identifiers) that the plan tells the user from the turn of the last write on: its
 * outcome. If nothing is written, the answer is the task, so all turns count. Ids generated during play are left
 * out: every environment generates its own.
 */
function factsOf(
  plan: ReferencePlan,
  played: PlayedPlan,
  calls: readonly ReferenceCall[],
  domain: Domain,
): (string | number)[] {
  const givenOut = new Set(newIds(played.state));
  const authorizing = new Set(domain.rules.flatMap((rule) => (rule.rule === "authorize_first" ? [rule.tool] : [])));
  let position = 0;
  let from = 0;
  const upTo: number[] = [];
  for (const [turn, { steps = [] }] of plan.entries()) {
    const made = calls.slice(position, position + listPlannedCalls([{ steps }]).length);
    position += made.length;
    upTo.push(position);
    if (made.some(({ kind, name }) => kind === "write" && !authorizing.has(name))) from = turn;
  }
  const facts = plan.flatMap(({ say = "" }, turn) => {
    if (turn < from) return [];
    return [...say.matchAll(/\{\{[^{}]+\}\}/g)].flatMap(([reference]) => {
      const value = fillPlaceholders(reference as Json, played.calls.slice(0, upTo[turn]));
      return isFact(value, givenOut) ? [value] : [];
    });
  });
  return [...new Set(facts)];
}

function isFact(value: Json, known: ReadonlySet<string>): value is string | number {
  if (typeof value === "string" && (value.startsWith("{{") || known.has(value))) return false;
  return isHardValue(value);
}

/** What the query itself says must be told, regardless of the plan. */
export function listStatedFacts(query: Query): (string | number)[] | undefined {
  const { communicate, communicate_info: info } = query.taskInfo;
  const list = communicate ?? info;
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((item) => (typeof item === "string" || typeof item === "number" ? [item] : []));
}
