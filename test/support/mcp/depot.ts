// Tasks for the depot server, runs of them through the built program, and what the server itself says of them.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Json, JsonObject, Trajectory } from "../../../src/core/index.ts";
import type { Finished, WorkFolder } from "../cli.ts";

export const SERVER = fileURLToPath(new URL("depot_server.py", import.meta.url));

type Call = { name: string; arguments: string };
type Task = { id: string; calls: Call[] };

const call = (name: string, args: string): Call => ({ name, arguments: args });

/** Arguments as text: how a number is written matters. The last call of each is its last write. */
export const TASKS: Task[] = [
  { id: "price", calls: [call("look", '{"order_id":"O1"}'), call("set_price", '{"order_id":"O1","price":2.0}')] },
  { id: "cancel", calls: [call("cancel", '{"order_id":"O2"}')] },
  {
    id: "new",
    calls: [
      call("place", '{"item":"vase","price":7}'),
      call("set_price", '{"order_id":"{{place.order_id}}","price":8.50}'),
    ],
  },
  { id: "two", calls: [call("set_price", '{"order_id":"O2","price":99.0}'), call("cancel", '{"order_id":"O1"}')] },
  { id: "move", calls: [call("move", '{"order_id":"O1","to":{"city":"Riga","street":"Sea 2","floor":1.0}}')] },
  {
    id: "refused",
    calls: [
      call("cancel", '{"order_id":"O3"}'),
      call("credit", '{"customer_id":"C2","amount":60.00}'),
      call("note", '{"text":"O3 was sent; 60 credited"}'),
    ],
  },
];

export const withoutLastWrite = (tasks: readonly Task[]): Task[] =>
  tasks.map(({ id, calls }) => ({ id, calls: calls.slice(0, -1) }));

/** One line for each; the dialogue ends with a look at the server's own hash of its database. */
export function taskLines(tasks: readonly Task[]): string {
  const line = ({ id, calls }: Task) => {
    const steps = [...calls, call("fingerprint", "{}")].map(
      ({ name, arguments: args }) => `{"calls":[{"name":"${name}","arguments":${args}}]}`,
    );
    const plan = `[{"steps":[${steps.join(",")}],"say":"That is done."},{"user":"Thanks. ###STOP###"}]`;
    return `{"id":"${id}","messages":[{"role":"user","content":"Task ${id}"}],"task_info":{"plan":${plan}}}\n`;
  };
  return tasks.map(line).join("");
}

/** What is undefined is left out. */
type Settings = { [key: string]: Json | undefined };
export type DepotConfig = { server?: Settings; servers?: JsonObject; env?: JsonObject; config?: JsonObject };

export function writeDepot(
  work: WorkFolder,
  tasks: readonly Task[],
  { server, servers, env = {}, config }: DepotConfig = {},
): void {
  work.write("tasks.jsonl", taskLines(tasks));
  const depot = { command: "python3", args: [SERVER], env, isolation: "fresh", state_tool: "dump", ...server };
  const whole = {
    agent_model: "scripted/agent",
    user_model: "scripted/user",
    output_dir: "out",
    max_workers: 3,
    datasets: { depot: { path: "tasks.jsonl", mcpServers: { depot, ...servers } } },
    ...config,
  };
  work.write(
    "run.yml",
    JSON.stringify(whole, (_, value) => value ?? undefined),
  );
}

/** A server of `serving.py` at an address, for the rest of the test; in a config, in place of a command. */
export async function serveOverHttp(file: string, env: JsonObject = {}, ...flags: string[]): Promise<Settings> {
  const server = spawn("python3", [file, "--http", ...flags], {
    env: { ...process.env, ...(env as NodeJS.ProcessEnv) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void server.kill());
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  return { command: undefined, args: undefined, env: undefined, isolation: undefined, url: String(line).trim() };
}

export async function evaluate(work: WorkFolder, ...flags: string[]): Promise<EvalResult> {
  const { code, stdout, stderr } = await work.run(["eval", "out", "--json", ...flags]);
  if (code !== 0) throw new Error(stderr);
  return { ...JSON.parse(stdout), stderr };
}

type Outcomes = { passed: number; failed: number; "not scored": number; infrastructure: number };
type Facts = { passed: number; failed: number; undecided: number };
export type EvalResult = {
  stderr: string;
  report: { overall: { success_rate: number | null }; outcomes: Outcomes; checks: { [name: string]: Facts } };
};

export const depotRecords = (work: WorkFolder): Trajectory[] => work.records("out/trajectories/depot.jsonl");

/** By task: the server's hash at the end of each rollout's dialogue. */
export function finalHashes(work: WorkFolder): { [id: string]: string } {
  return Object.fromEntries(
    depotRecords(work).map(({ id, messages }) => {
      const last = messages.findLast(({ role }) => role === "tool");
      return [id, (JSON.parse(last?.content ?? "{}") as { hash: string }).hash];
    }),
  );
}

/** By task: what the server's own replay of its plan comes to. */
export function expectedHashes(work: WorkFolder): { [id: string]: string } {
  const lines = execFileSync("python3", [SERVER, "--replay", `${work.path}/tasks.jsonl`], { encoding: "utf8" });
  const read = lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; hash: string });
  return Object.fromEntries(read.map(({ id, hash }) => [id, hash]));
}

export function expectDone({ code, stderr }: Finished): void {
  if (code !== 0) throw new Error(stderr);
}
