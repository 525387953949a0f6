// A checkout of tau2-bench: each of its domains becomes a dataset, its tools served by the benchmark's own Python.
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { groupBy, isObject, type Json, type JsonObject, UsageError } from "../../core/index.ts";
import { readExactJson } from "../../files/index.ts";
import type { ImportFormat, ImportOptions } from "../format.ts";
import { askServer, choosePython } from "../run-python.ts";
import { type DatasetReport, Tally } from "../tally.ts";
import { type ImportedGroup, makeFolder, writeDataset } from "../write-dataset.ts";
import { type FoundDomain, findDomains, taskFiles } from "./find-domains.ts";
import { type ServedTools, toQuery, userToolsOf } from "./to-query.ts";

export const tau2: ImportFormat = {
  read: async (options) => {
    const source = resolve(options.source);
    const found = statSync(source).isDirectory() ? findDomains(source) : [];
    const domains = found.filter(({ name }) => options.domains?.includes(name) ?? true);
    if (domains.length === 0) throw new UsageError(describeNothing(options, found));
    const python = await choosePython(source, options.python, options.env);
    const reports: DatasetReport[] = [];
    for (const domain of domains) reports.push(await readDomain(domain, python, options));
    return reports;
  },
};

function describeNothing({ source, domains = [] }: ImportOptions, found: FoundDomain[]): string {
  if (found.length > 0)
    return `${source} has no domain ${domains.join(", ")}. It has: ${found.map(({ name }) => name).join(", ")}`;
  return `${source} is no checkout of tau2-bench. Looked for: domains/NAME/tasks.json (or domains/NAME/tasks/*.json), as in data/tau2/domains, and domains/NAME/environment.py, as in src/tau2/domains`;
}

async function readDomain(domain: FoundDomain, python: string, options: ImportOptions): Promise<DatasetReport> {
  const { name, code, dataRoot } = domain;
  const tally = new Tally(name);
  const tasks = chooseTasks(domain, options);
  const ids = tasks.map(({ id }) => String(id));
  if (!code) return tally.refuseAll(ids, `there is no domains/${name}/environment.py, which has its tools`);
  const args = [code.root, code.module, dataRoot];
  const answer = await askServer(python, "tau2_server.py", args, options.env);
  if ("problem" in answer)
    return tally.refuseAll(
      ids,
      `${python} could not load ${code.module}: ${answer.problem} (install the benchmark's packages for it, or name another with --python)`,
    );
  const { policy, ...served } = answer.described as unknown as ServedTools & { policy: string };
  const folder = resolve(options.out, name);
  makeFolder(folder);
  const queries = tasks.flatMap((task) => tally.convert(String(task.id), () => toQuery(task, served, tally)));
  const server = { command: python, args: [join(folder, "tau2_server.py"), ...args] };
  const groups = toGroups(name, queries, tasks, served).map(
    ({ hidden, ...group }): ImportedGroup => ({
      ...group,
      server: {
        ...server,
        isolation: "pool",
        reset_tool: "rollout_reset",
        state_tool: "rollout_state",
        hidden_tools: ["rollout_setup", ...hidden],
      },
    }),
  );
  writeDataset({ folder, name, policy, servers: ["tau2_server.py"], groups });
  return tally.report(folder);
}

/** Tasks that give the user only some of its tools are a dataset of their own: what is hidden is a server's setting. */
function toGroups(name: string, queries: JsonObject[], tasks: JsonObject[], served: ServedTools) {
  const allowed = new Map(tasks.map((task) => [String(task.id), userToolsOf(task, served)]));
  const all = Object.values(served.user);
  const hiddenOf = ({ id }: JsonObject) => all.filter((tool) => !allowed.get(String(id))?.includes(tool));
  const groups = [...groupBy(queries, (query) => hiddenOf(query).join(" ")).values()];
  return groups.map((members, index) => ({
    name: index === 0 ? name : `${name}-${index + 1}`,
    queries: members,
    hidden: hiddenOf(members[0] as JsonObject),
  }));
}

/** Of the split that the benchmark takes if nothing is said, `base`; all where it has none. */
function chooseTasks({ folder, name }: FoundDomain, { split }: ImportOptions): JsonObject[] {
  const tasks = taskFiles(folder).flatMap((file) => {
    const value = readExactJson(file);
    const list = isObject(value) && Array.isArray(value.tasks) ? value.tasks : Array.isArray(value) ? value : [value];
    return list.filter((task: Json): task is JsonObject => isObject(task) && task.id !== undefined) as JsonObject[];
  });
  const file = join(folder, "split_tasks.json");
  const splits = (existsSync(file) ? readExactJson(file) : {}) as { [split: string]: string[] };
  const wanted = split ?? ("base" in splits ? "base" : "all");
  if (wanted === "all") return tasks;
  const ids = splits[wanted];
  if (!ids)
    throw new UsageError(`${name} has no split "${wanted}". It has: ${[...Object.keys(splits), "all"].join(", ")}`);
  return tasks.filter(({ id }) => ids.map(String).includes(String(id)));
}
