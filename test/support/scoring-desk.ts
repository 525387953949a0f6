// A loan desk for tests of checks: a domain with rules and volatile fields, a query with a plan, and contexts made from
// what a test says was said and called.
import {
  contentHash,
  findErrors,
  type Json,
  type JsonObject,
  type Query,
  type ReferencePlan,
  type ToolSpec,
  type Trajectory,
  type TrajectoryMessage,
} from "../../src/core/index.ts";
import type { Domain } from "../../src/domains/index.ts";
import type { CheckContext } from "../../src/scoring/index.ts";
import type { Judge } from "../../src/scoring/judge/judge.ts";
import { findReference } from "../../src/scoring/reference.ts";
import { replayCalls } from "../../src/scoring/replay.ts";
import { readTranscript } from "../../src/scoring/transcript.ts";
import { BaseTable, Database, type DomainServer, openInProcess, Toolbox } from "../../src/tools/index.ts";

const LOANS = [
  { loan_id: "L1", title: "Middlemarch", due: "2026-02-10", fee: 1180 },
  { loan_id: "L2", title: "Emma", due: "2026-02-11", fee: 10 },
];

const SERVER: DomainServer = {
  today: "2026-02-02",
  reads: {
    find_loan: ({ table }, { loan_id }: { loan_id: string }) =>
      table("Loan").get(loan_id) ?? { error: `There is no loan ${loan_id}` },
  },
  writes: {
    authorize: ({ session }, { card }: { card: string }): Json => {
      if (card !== "C100") return { error: "There is no such card" };
      session.card = card;
      return { success: true };
    },
    renew_loan: ({ table }, { loan_id, confirm }: { loan_id: string; confirm?: boolean }) => {
      if (!table("Loan").get(loan_id)) return { error: `There is no loan ${loan_id}` };
      if (!confirm) return { needs_confirmation: true, action_preview: `Renew ${loan_id}` };
      return table("Loan").update(loan_id, { due: "2026-03-10" });
    },
    reserve: ({ table, newId, now }, { title, note = "" }: { title: string; note?: string }) =>
      table("Reservation").insert({ reservation_id: newId("RES"), title, note, at: now() }),
    return_loan: ({ table }, { loan_id }: { loan_id: string }): Json => {
      if (!table("Loan").get(loan_id)) return { error: `There is no loan ${loan_id}` };
      table("Loan").remove(loan_id);
      return { success: true };
    },
    burn_book: () => ({ success: true }),
  },
};

function createDesk(): Domain {
  const text = { type: "string" };
  const tool = (name: string, properties: JsonObject): ToolSpec => ({
    name,
    description: "",
    parameters: { type: "object", properties },
    readOnly: name === "find_loan",
  });
  const tools = [
    tool("find_loan", { loan_id: text }),
    tool("authorize", { card: text }),
    tool("renew_loan", { loan_id: text, confirm: { type: "boolean" } }),
    tool("reserve", { title: text, note: text }),
    tool("return_loan", { loan_id: text }),
    tool("burn_book", {}),
  ];
  const toolbox = new Toolbox([{ server: "Desk", tools }]);
  const database = new Database([new BaseTable("Loan", structuredClone(LOANS))]);
  return {
    name: "Desk",
    servers: ["Desk"],
    policy: "Be kind.",
    toolbox,
    rules: [
      { id: "card-first", rule: "authorize_first", tool: "authorize" },
      { id: "ask-first", rule: "confirm_before", tools: ["renew_loan"] },
      { id: "no-fire", rule: "forbidden", tools: ["burn_book"] },
    ],
    volatile: { Reservation: ["note", "at"] },
    freeArguments: {},
    contentHash: "0",
    openEnvironment: async ({ seed }) =>
      openInProcess({ toolbox, servers: new Map([["Desk", SERVER]]), database }, seed),
  };
}

/** Renew L1 after asking, and tell the new date and the fee. */
export const RENEWAL: ReferencePlan = [
  { say: "Your card, please." },
  {
    user: "C100, it is about L1",
    steps: [
      { calls: [{ name: "authorize", arguments: { card: "C100" } }] },
      { calls: [{ name: "find_loan", arguments: { loan_id: "L1" } }] },
      { calls: [{ name: "renew_loan", arguments: { loan_id: "L1" } }] },
    ],
    say: "Shall I renew {{find_loan.title}}?",
  },
  {
    user: "Yes",
    steps: [{ calls: [{ name: "renew_loan", arguments: { loan_id: "L1", confirm: true } }] }],
    say: "Renewed until {{renew_loan.due}}; the fee is {{renew_loan.fee}}.",
  },
  { user: "Thanks ###STOP###" },
];

export function createQuery(plan: ReferencePlan | undefined, info: JsonObject = {}): Query {
  return {
    id: "q1",
    messages: [{ role: "user", content: "Hello" }],
    userSystemPrompt: "You have card C100 and want to renew L1.",
    taskInfo: { plan, ...info },
    hash: "0",
  };
}

/** `["user", "…"]`, `["agent", "…"]`, or a call: the tool's name and its arguments, as an object or as raw text. */
export type Step = ["user" | "agent", string] | { call: string; with?: JsonObject | string; answers?: string };

export type Scene = {
  query?: Query;
  domain?: Domain;
  metadata?: Partial<Trajectory["metadata"]>;
  judge?: Judge;
};

/** Plays the calls in a real environment (unless the step says what they answer), and puts it all into a context. */
export async function sceneOf(
  steps: Step[],
  { query = createQuery(RENEWAL), domain = createDesk(), metadata, judge }: Scene = {},
): Promise<CheckContext> {
  const seed = 7;
  const environment = await domain.openEnvironment({ seed });
  const signal = new AbortController().signal;
  const messages: TrajectoryMessage[] = [...query.messages];
  for (const [index, step] of steps.entries()) {
    if (Array.isArray(step)) {
      messages.push({ role: step[0] === "user" ? "user" : "assistant", content: step[1] });
      continue;
    }
    const text = typeof step.with === "string" ? step.with : JSON.stringify(step.with ?? {});
    const id = `c${index}`;
    const content = step.answers ?? (await environment.call({ id, name: step.call, arguments: text }, signal)).content;
    const call = { id, type: "function" as const, function: { name: step.call, arguments: text } };
    messages.push({ role: "assistant", content: "", tool_calls: [call] }, { role: "tool", content, tool_call_id: id });
  }
  const trajectory: Trajectory = {
    id: query.id,
    query_id: query.id,
    rollout: 0,
    dataset: "Desk",
    domains: ["Desk"],
    success: true,
    messages,
    metadata: {
      total_turns: 1,
      stop_reason: "user_stop",
      tool_call_count: 0,
      tool_errors: [...findErrors({ messages })],
      tool_error_count: 0,
      mode: "positive",
      usage: {},
      cost_usd: 0,
      models: { agent: "test/agent", user: "test/user" },
      scripted: false,
      seed,
      fingerprint: "f",
      system_hash: "",
      tools_hash: "",
      final_state_hash: contentHash(await environment.state()),
      faults: [],
      attempt: 1,
      timings: { started_at: "", ended_at: "", duration_ms: 0 },
      ...metadata,
    },
  };
  const dialogue = readTranscript(trajectory);
  return {
    trajectory,
    dialogue,
    query,
    domain,
    reference: () => findReference(query, domain, undefined),
    replay: () => replayCalls(trajectory, dialogue, () => domain.openEnvironment({ seed }), { signal }),
    judge,
    signal,
  };
}

/** The renewal as it should be. */
export const GOOD: Step[] = [
  ["agent", "Your card, please."],
  ["user", "C100, it is about L1"],
  { call: "authorize", with: { card: "C100" } },
  { call: "renew_loan", with: { loan_id: "L1" } },
  ["agent", "Shall I renew Middlemarch?"],
  ["user", "Yes"],
  { call: "renew_loan", with: { loan_id: "L1", confirm: true } },
  ["agent", "Renewed until March 10; the fee is $1,180.00."],
  ["user", "Thanks"],
];
