// A query's reference plan: the dialogue a flawless agent would have. Texts and arguments may hold references to earlier
// tool results, `{{tool_name.path.to.value}}`, since generated ids are known only while the plan is played.
import { writeExact } from "./exact-json.ts";
import { isObject, type Json, type JsonObject, parseExact } from "./json.ts";

/** Numbers in the arguments, and those that replace references, are as they were written. */
export type PlanCall = { name: string; arguments: JsonObject };
/** One agent reply that calls tools. */
type PlanStep = { think?: string; text?: string; calls: PlanCall[] };
/**
 * What the user does with its own tools, one user message (the first turn's is the query's own opening), and what the
 * agent does until it answers with `say`.
 */
export type PlanTurn = { user_calls?: PlanCall[]; user?: string; steps?: PlanStep[]; think?: string; say?: string };
export type ReferencePlan = PlanTurn[];

/** A finished call, for references: its name as the plan writes it and the text of its result. */
export type PlayedCall = { name: string; content: string };

/** The agent's. */
export function listPlannedCalls(plan: ReferencePlan): PlanCall[] {
  return listAllCalls(plan).filter(({ by }) => by === undefined);
}

export type PartyCall = PlanCall & { by?: "user" };

/** Both parties', in the order of the plan. */
export function listAllCalls(plan: ReferencePlan): PartyCall[] {
  return plan.flatMap(({ user_calls = [], steps = [] }) => [
    ...user_calls.map((call) => ({ ...call, by: "user" as const })),
    ...steps.flatMap((step) => step.calls),
  ]);
}

const REFERENCE = /\{\{([^{}]+)\}\}/g;

/** As it is written, and how many of the plan's calls have been answered where it is filled. */
export type PlanReference = { written: string; after: number };

export function listReferences(plan: ReferencePlan): PlanReference[] {
  const found: PlanReference[] = [];
  let after = 0;
  const see = (...values: unknown[]) => {
    if (!mayRefer(values)) return;
    for (const [written] of (JSON.stringify(values) ?? "").matchAll(REFERENCE)) found.push({ written, after });
  };
  for (const { user_calls = [], user, steps = [], think, say } of plan) {
    see(...user_calls.map((call) => call.arguments));
    after += user_calls.length;
    see(user);
    for (const step of steps) {
      see(step.think, step.text, ...step.calls.map((call) => call.arguments));
      after += step.calls.length;
    }
    see(think, say);
  }
  return found;
}

/** Most values hold none, and to look is much less than to write them down. */
function mayRefer(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(mayRefer);
  return Object.entries(value).some(([key, member]) => key.includes("{{") || mayRefer(member));
}

/** The first reference that means no call before it. */
export function findUnnamed(plan: ReferencePlan): PlanReference | undefined {
  const calls = listAllCalls(plan);
  const named = new Set<string>();
  return listReferences(plan).find(({ written, after }) => {
    // what was named once stays named: calls only come to be more
    if (named.has(written)) return false;
    if (callsOf(written, calls.slice(0, after)).length === 0) return true;
    named.add(written);
    return false;
  });
}

/** The calls among these that a reference may mean, latest last. */
export function callsOf<Call extends { name: string }>(written: string, calls: readonly Call[]): Call[] {
  const { name, nth } = readReference(written.slice(2, -2));
  const named = calls.filter((call) => call.name === name || call.name.endsWith(`.${name}`));
  return nth === undefined ? named : named.slice(nth - 1, nth);
}

/** Fills references in a value, at any depth. A text that is a single reference keeps the value's type, and a number's text. */
export function fillPlaceholders<T extends Json>(value: T, played: readonly PlayedCall[]): T {
  return fill(value, played) as T;
}

function fill(value: Json, played: readonly PlayedCall[]): Json {
  if (typeof value === "string") return fillText(value, played);
  if (Array.isArray(value)) return value.map((item) => fill(item, played));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [String(fillText(key, played)), fill(member as Json, played)]),
  );
}

function fillText(text: string, played: readonly PlayedCall[]): Json {
  if (!text.includes("{{")) return text;
  const whole = /^\{\{([^{}]+)\}\}$/.exec(text);
  if (whole) {
    const value = lookUp(whole[1] as string, played);
    return value === undefined ? text : value;
  }
  return text.replace(REFERENCE, (reference, path: string) => {
    const value = lookUp(path, played);
    return value === undefined ? reference : typeof value === "object" ? writeExact(value) : String(value);
  });
}

/** `tool.path`, `Server.tool.path`, or `tool#2.path` for the second call of that tool; the latest call otherwise. */
function lookUp(reference: string, played: readonly PlayedCall[]): Json | undefined {
  const call = callsOf(`{{${reference}}}`, played).at(-1);
  let value = call && parseExact(call.content);
  for (const part of readReference(reference).path) {
    if (Array.isArray(value)) value = value[Number(part)];
    else if (isObject(value)) value = value[part];
    else return undefined;
  }
  return value;
}

function readReference(reference: string): { name: string; nth?: number; path: string[] } {
  const path = reference.trim().split(".");
  const qualified = /^[A-Z]/.test(path[0] ?? "") ? path.splice(0, 2).join(".") : (path.shift() ?? "");
  const [name = "", nth] = qualified.split("#");
  return { name, nth: nth === undefined ? undefined : Number(nth), path };
}
