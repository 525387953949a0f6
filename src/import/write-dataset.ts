// An imported dataset on disk: query files, policy, the small server that serves its tools, and a config that runs it.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { isObject, type JsonObject, type ReferencePlan, UsageError, writeExact } from "../core/index.ts";
import { escapeLineEnds, fileName } from "../files/index.ts";

const SERVERS = fileURLToPath(new URL("./servers/", import.meta.url));
export const serverFile = (name: string) => join(SERVERS, name);

type ImportedServer = {
  command: string;
  args: string[];
  hidden_tools?: string[];
  state_tool?: string;
  reset_tool?: string;
  isolation?: "pool" | "shared";
  read_only?: true;
};

/** Queries that are offered the same tools. */
export type ImportedGroup = { name: string; queries: JsonObject[]; server: ImportedServer };

export type ImportedDataset = {
  folder: string;
  name: string;
  policy?: string;
  /** of `servers/`, each copied under its own name */
  servers: string[];
  groups: ImportedGroup[];
};

/** The files of an earlier import are replaced; a folder with anything else in it is left alone. */
export function makeFolder(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, REPORT)))
    throw new UsageError(`${folder} is there already, and not from an import: choose another folder with --out`);
  for (const made of ["queries", "tools"]) rmSync(join(folder, made), { recursive: true, force: true });
  mkdirSync(join(folder, "queries"), { recursive: true });
}

export const REPORT = "import-report.json";

export function writeDataset({ folder, name, policy, servers, groups }: ImportedDataset): void {
  for (const server of ["mcp_stdio.py", ...servers]) copyFileSync(serverFile(server), join(folder, server));
  if (policy !== undefined) writeFileSync(join(folder, "policy.md"), policy);
  const datasets = groups.map((group) => {
    const path = resolve(folder, "queries", `${fileName(group.name)}.jsonl`);
    writeFileSync(path, group.queries.map((query) => `${escapeLineEnds(writeExact(query))}\n`).join(""));
    const agent = policy === undefined ? {} : { agent: { system_prompt_file: resolve(folder, "policy.md") } };
    return [group.name, { path, ...agent, ...limitsOf(group.queries), mcpServers: { [name]: group.server } }];
  });
  const config = {
    output_dir: join("outputs", name),
    agent_model: "scripted/agent",
    user_model: "scripted/user",
    datasets: Object.fromEntries(datasets),
  };
  writeFileSync(join(folder, "rollout.yml"), `${HEADER}${stringify(config, { lineWidth: 0 })}`);
}

const HEADER = `# Made by rollout import: import again if this folder or the imported one moves.
# The scripted models play the reference plans; put your models here.
`;

/** Long enough for the longest reference. */
function limitsOf(queries: JsonObject[]): { max_turns: number; max_steps_per_turn: number } {
  const limits = { max_turns: 30, max_steps_per_turn: 30 };
  for (const { task_info: info } of queries) {
    const plan = (isObject(info) && Array.isArray(info.plan) ? info.plan : []) as ReferencePlan;
    limits.max_turns = Math.max(limits.max_turns, plan.length);
    for (const { steps = [], user_calls = [] } of plan)
      limits.max_steps_per_turn = Math.max(limits.max_steps_per_turn, steps.length + 1, user_calls.length + 1);
  }
  return limits;
}
