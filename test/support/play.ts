// Dialogues for tests: models that say what a test writes down, a small loan desk as their tools, the real loop. `run`
// does the same through a config into a run folder.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Config, type ConfigPatch, type ResolvedRun, resolveConfig } from "../../src/config/index.ts";
import {
  type Clock,
  type Entry,
  type Environment,
  type JsonObject,
  type ModelClient,
  type ModelReply,
  type ModelRequest,
  NO_USAGE,
  type Outcome,
  type Query,
  type RunEvent,
  type ToolSpec,
  type Trajectory,
} from "../../src/core/index.ts";
import { type DialogueSetup, playDialogue } from "../../src/dialogue/index.ts";
import { type MakeOptions, makeRollouts, type RunResult } from "../../src/runner/index.ts";
import { BaseTable, Database, type DomainServer, openInProcess, Toolbox } from "../../src/tools/index.ts";

export const STOP = "###STOP###";

/** What a scripted model does next: says a text, replies as given, or throws. */
export type Line = string | Partial<ModelReply> | Error;
export type ScriptedModel = ModelClient & { requests: ModelRequest[] };

/** Says its lines in order, starting over in each rollout, and keeps what it was asked. */
export function scripted(...lines: Line[]): ScriptedModel {
  const requests: ModelRequest[] = [];
  return {
    id: "test/scripted",
    requests,
    complete: async (request) => {
      requests.push(request);
      const { party, position } = request.origin;
      const line = lines[position];
      if (line === undefined) throw new Error(`call ${position + 1} of the ${party} has no line`);
      if (line instanceof Error) throw line;
      return toReply(line, position + 1);
    },
  };
}

/** The same line again and again. */
export function always(line: Line): ScriptedModel {
  return scripted(...Array.from({ length: 50 }, () => line));
}

/** A reply with one tool call; arguments given as text are sent as they are. Merge several with `calls`. */
export function call(name: string, args: JsonObject | string = {}, id?: string): Partial<ModelReply> {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return { toolCalls: [{ id: id ?? UNNAMED, name, arguments: text }] };
}

export function calls(...replies: Partial<ModelReply>[]): Partial<ModelReply> {
  return { toolCalls: replies.flatMap((reply) => reply.toolCalls ?? []) };
}

const UNNAMED = "(unnamed)";

function toReply(line: string | Partial<ModelReply>, position: number): ModelReply {
  const reply = typeof line === "string" ? { content: line } : line;
  const toolCalls = (reply.toolCalls ?? []).map((made, index) =>
    made.id === UNNAMED ? { ...made, id: `c${position}_${index}` } : made,
  );
  const finish = toolCalls.length > 0 ? "tool-calls" : "stop";
  return { content: "", usage: NO_USAGE, finish, ...reply, toolCalls };
}

export type Scene = Partial<Omit<DialogueSetup, "agent" | "user" | "query">> & {
  agent: ScriptedModel;
  user?: ScriptedModel;
  /** without them the user speaks first */
  opening?: Query["messages"];
};

export type PlayedScene = { entries: Entry[]; outcome: Outcome; query: Query };

export async function play({ agent, user, opening = [], ...rest }: Scene): Promise<PlayedScene> {
  const query: Query = { id: "q1", messages: opening, userSystemPrompt: "You owe books.", taskInfo: {}, hash: "0" };
  const entries: Entry[] = [];
  const setup: DialogueSetup = {
    query,
    origin: { dataset: "Desk", queryId: query.id, rollout: 0, seed: 1, mode: "positive" },
    environment: openDesk(),
    agent: { client: agent, system: "You lend books." },
    user: user && { client: user, system: query.userSystemPrompt },
    maxStepsPerTurn: 10,
    stopPolicy: () => undefined,
    clock: createTickingClock(),
    signal: new AbortController().signal,
    ...rest,
  };
  const outcome = await playDialogue(setup, (entry) => {
    entries.push(entry);
    return undefined;
  });
  return { entries, outcome, query };
}

/** One second passes each time it is read. */
export function createTickingClock(): Clock {
  let time = Date.UTC(2026, 0, 1);
  const tick = () => {
    time += 1000;
    return time;
  };
  return {
    now: tick,
    elapsed: tick,
    sleep: async () => {},
  };
}

const LOANS = [{ loan_id: "7", title: "Middlemarch", due: "2026-02-10", renewals: 0 }];

const DESK: DomainServer = {
  today: "2026-02-02",
  reads: {
    find_loan: ({ table }, { id }: { id: number }) =>
      table("Loan").get(String(id)) ?? { error: `There is no loan ${id}` },
  },
  writes: {
    renew_loan: ({ table }, { id }: { id: number }) => {
      const loan = table("Loan").get(String(id));
      if (!loan) return { error: `There is no loan ${id}` };
      return table("Loan").update(String(id), { renewals: Number(loan.renewals) + 1 });
    },
  },
};

/** A desk with one loan: `find_loan` reads it, `renew_loan` writes it. */
export function openDesk(): Environment {
  const parameters = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
  const tool = (name: string, readOnly: boolean): ToolSpec => ({ name, description: "", parameters, readOnly });
  const toolbox = new Toolbox([{ server: "Desk", tools: [tool("find_loan", true), tool("renew_loan", false)] }]);
  const database = new Database([new BaseTable("Loan", structuredClone(LOANS))]);
  return openInProcess({ toolbox, servers: new Map([["Desk", DESK]]), database }, 1);
}

export type RunScene = {
  config: Config;
  /** models by the name used in the config */
  models?: { [name: string]: ModelClient };
  /** on top of the config, as flags are */
  patch?: ConfigPatch;
  options?: MakeOptions;
  folder?: string;
};

export type PlayedRun = { result: RunResult; records: Trajectory[]; events: RunEvent[]; run: ResolvedRun };

/** A whole run into a temporary folder; the records of all datasets, in the order of their files. */
export async function run({ config, models = {}, patch = {}, options = {}, folder }: RunScene): Promise<PlayedRun> {
  const resolved = resolveConfig(
    { sync: "never", bundled: true, ...config },
    { folder: folder ?? temporaryFolder(), patch },
  );
  const events: RunEvent[] = [];
  const result = await makeRollouts(resolved, {
    createNetworkClient: ({ model }) => {
      const client = models[model];
      if (!client) throw new Error(`the test has no model ${model}`);
      return client;
    },
    onEvent: (event) => events.push(event),
    ...options,
  });
  const records = Object.values(result.outputs).flatMap((file) => readRecords<Trajectory>(file));
  return { result, records, events, run: resolved };
}

export function readRecords<T>(file: string): T[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
