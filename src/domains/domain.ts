// A loaded domain or combination: its tools, its policy, its data, and fresh environments for rollouts.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { type Environment, isObject, type JsonObject, type ToolSpec, UsageError, type World } from "../core/index.ts";
import { readExactJson } from "../files/index.ts";
import {
  type Corpus,
  Database,
  type DomainServer,
  listTableFiles,
  loadDefaultExport,
  type NameStyle,
  type NodePool,
  openInNode,
  openInProcess,
  openPython,
  type PolicyRule,
  type PythonPool,
  readTables,
  requireServer,
  type SharedServer,
  type StrayWatch,
  Toolbox,
} from "../tools/index.ts";
import { readFreeParts } from "./blueprints.ts";
import { BUNDLED_PATH } from "./bundled.ts";
import type { DomainFiles } from "./folder.ts";
import { readPolicy } from "./policy.ts";

export type Domain = {
  name: string;
  servers: string[];
  /** without the markers that delimit its parts; undefined if the folder has none */
  policy: string | undefined;
  toolbox: Toolbox;
  /** checkable rules of all its servers, tools under their wire names */
  rules: PolicyRule[];
  /** fields that may differ between equally good dialogues, by table; `*` for all tables */
  volatile: { [table: string]: string[] };
  /** arguments that may have any value, by wire name of the tool */
  freeArguments: { [tool: string]: string[] };
  /** servers that keep nothing: what their tools are asked changes no state */
  stateless?: string[];
  /** servers that may write and do not show what; without any, an environment's `state` is all that changed */
  unseen?: string[];
  /** each rollout may find another world: its reference is then played in that one */
  perRollout?: boolean;
  /** of everything that shapes a dialogue besides queries and prompts: tools, data, code */
  contentHash: string;
  /** MCP servers whose state all rollouts share */
  shared?: SharedServer[];
  openEnvironment(world: World): Promise<Environment>;
};

/** Where servers in TypeScript or JavaScript run: with the program, or in processes of their own, as Python's do. */
export type Isolation = "none" | "process";

/** What domains of a run share. A pool is requested only if a domain's servers are to run in it. */
export type DomainResources = {
  nameStyle?: NameStyle;
  isolation?: Isolation;
  python?: () => PythonPool;
  /** for plain functions, which wait for the network more than they compute: as many processes as rollouts at once */
  functions?: () => PythonPool;
  /** read once, whoever asks for it */
  corpus?: (path: string) => Promise<Corpus>;
  node?: () => NodePool;
  /** told which files are about to run in this process */
  watch?: (files: readonly string[]) => StrayWatch;
  /** milliseconds for one call of a tool in this process; the pools have their own */
  callTimeLimit?: number;
};

export async function loadDomain(files: DomainFiles, resources: DomainResources = {}): Promise<Domain> {
  for (const server of files.servers) {
    if (!files.serverFiles[server]) {
      throw new UsageError(`${files.name} cannot run: mcp_servers/${server} (.py, .ts or .js) is missing`);
    }
  }
  const python = Object.values(files.serverFiles).filter((file) => file.endsWith(".py"));
  if (python.length > 0 && python.length < files.servers.length) {
    throw new UsageError(`${files.name}: servers in Python and in JavaScript cannot share one dialogue`);
  }
  const { modules, createOpener } =
    python.length > 0
      ? await loadPython(files, resources)
      : resources.isolation === "process"
        ? await loadInNode(files, resources)
        : await loadHere(files, resources);
  const specs = files.servers.map((server) => ({ server, tools: readToolList(server, files, modules.get(server)) }));
  const toolbox = new Toolbox(specs, resources.nameStyle);
  const free = readFreeParts(files.servers, files.serverFiles);
  return {
    name: files.name,
    servers: files.servers,
    policy: readPolicy(files),
    toolbox,
    rules: [...modules].flatMap(([server, module]) => rulesOf(server, module, toolbox)),
    volatile: mergeLists([...[...modules.values()].map((module) => module.volatile ?? {}), free.fields]),
    freeArguments: Object.fromEntries(
      Object.entries(free.arguments).map(([tool, names]) => [toolbox.wireName(tool), names]),
    ),
    contentHash: hashFiles(files, resources.nameStyle ?? "prefixed"),
    openEnvironment: createOpener(toolbox),
  };
}

/** What a server's file says, apart from its functions. */
type ServerShape = Pick<DomainServer, "rules" | "volatile"> & { reads: object; writes: object };

type Loaded = { modules: Map<string, ServerShape>; createOpener(toolbox: Toolbox): Domain["openEnvironment"] };

async function loadHere(files: DomainFiles, resources: DomainResources): Promise<Loaded> {
  // knowing whose errors are whose costs a little at every promise; ours start nothing that they forget
  const others = Object.values(files.serverFiles).filter((file) => !file.startsWith(BUNDLED_PATH));
  if (others.length > 0) resources.watch?.(others);
  const servers = new Map<string, DomainServer>();
  for (const { name, file } of listServers(files))
    servers.set(name, requireServer(await loadDefaultExport(file), file));
  const { callTimeLimit: timeLimit } = resources;
  const createOpener: Loaded["createOpener"] = (toolbox) => {
    const database = new Database(readTables(files.tableFolders));
    return async ({ seed }) => openInProcess({ toolbox, servers, database, timeLimit }, seed);
  };
  return { modules: servers, createOpener };
}

async function loadInNode(files: DomainFiles, resources: DomainResources): Promise<Loaded> {
  const pool = resources.node?.();
  if (!pool)
    throw new UsageError(`${files.name}: its servers are to run in a process of their own, which is not allowed here`);
  const servers = listServers(files);
  const shapes = await pool.describe(servers);
  const modules = shapes.map(({ reads, writes, rules, volatile }, index): [string, ServerShape] => [
    files.servers[index] as string,
    { reads: namesOf(reads), writes: namesOf(writes), rules, volatile },
  ]);
  const { name, tableFolders } = files;
  return {
    modules: new Map(modules),
    createOpener:
      (toolbox) =>
      ({ seed }) =>
        openInNode({ toolbox, servers, name, tableFolders }, pool, seed),
  };
}

function namesOf(tools: string[]): object {
  return Object.fromEntries(tools.map((tool) => [tool, true]));
}

/** If Python is missing on this machine, it shows here, before anything runs. */
async function loadPython(files: DomainFiles, resources: DomainResources): Promise<Loaded> {
  const pool = resources.python?.();
  if (!pool) throw new UsageError(`${files.name}: its servers are written in Python, and Python is not allowed here`);
  await pool.ready();
  const [servers, domainName] = [listServers(files), files.databaseName];
  return {
    modules: new Map(),
    createOpener:
      (toolbox) =>
      ({ seed }) =>
        openPython({ toolbox, servers, domainName }, pool, seed),
  };
}

function listServers({ servers, serverFiles }: DomainFiles): { name: string; file: string }[] {
  return servers.map((name) => ({ name, file: serverFiles[name] as string }));
}

export function readToolList(server: string, files: DomainFiles, module?: ServerShape): ToolSpec[] {
  const file = files.toolListFiles[server];
  if (!file) throw new UsageError(`${files.name} cannot run: tool_lists/${server}.json is missing`);
  const specs = toToolSpecs(
    readExactJson(file),
    file,
    (tool) => module !== undefined && Object.hasOwn(module.reads, tool),
  );
  if (!module) return specs;
  const listed = new Set(specs.map((spec) => spec.name));
  const written = [...Object.keys(module.reads), ...Object.keys(module.writes)];
  const unwritten = [...listed].filter((tool) => !written.includes(tool));
  const unlisted = written.filter((tool) => !listed.has(tool));
  if (unwritten.length > 0) throw new UsageError(`mcp_servers/${server} has no ${unwritten.join(", ")}`, { file });
  if (unlisted.length > 0)
    throw new UsageError(`${unlisted.join(", ")} of mcp_servers/${server} is not in this list`, { file });
  return specs;
}

/** From OpenAI function tools, as files and queries hold them. */
export function toToolSpecs(list: unknown, file: string, isRead: (tool: string) => boolean = () => false): ToolSpec[] {
  if (!Array.isArray(list)) throw new UsageError("a tool list must be a JSON array", { file });
  return list.map((item, index) => {
    const { type: _type, ...flat } = isObject(item) ? item : {};
    const tool = isObject(flat.function) ? flat.function : flat;
    if (typeof tool.name !== "string") throw new UsageError(`tool ${index + 1} has no name`, { file });
    const { name, description, parameters, ...others } = tool as JsonObject & { name: string };
    return {
      name,
      description: typeof description === "string" ? description : "",
      parameters: (isObject(parameters) ? parameters : { type: "object", properties: {} }) as JsonObject,
      readOnly: isRead(name),
      ...(Object.keys(others).length > 0 ? { others } : {}),
    };
  });
}

function hashFiles(files: DomainFiles, nameStyle: NameStyle): string {
  const hash = createHash("sha256").update(nameStyle);
  const tables = files.tableFolders.flatMap(listTableFiles);
  for (const file of [...Object.values(files.toolListFiles), ...Object.values(files.serverFiles), ...tables]) {
    hash.update(`\n${basename(file)}\n`).update(readFileSync(file));
  }
  return hash.digest("hex").slice(0, 16);
}

function rulesOf(server: string, module: ServerShape, toolbox: Toolbox): PolicyRule[] {
  const wire = (tool: string) => toolbox.resolve(`${server}.${tool}`)?.spec.name ?? tool;
  return (module.rules ?? []).map((rule) => renameRule(rule, wire));
}

export function renameRule(rule: PolicyRule, wire: (tool: string) => string): PolicyRule {
  switch (rule.rule) {
    case "authorize_first":
      return { ...rule, tool: wire(rule.tool), except: rule.except?.map(wire) };
    case "one_person":
      return { ...rule, tool: wire(rule.tool) };
    case "transfer":
      return { ...rule, tools: rule.tools?.map(wire), locked_by: rule.locked_by && wire(rule.locked_by) };
    default:
      return { ...rule, tools: rule.tools.map(wire) };
  }
}

export function mergeLists(lists: { [key: string]: string[] }[]): { [key: string]: string[] } {
  const merged: { [key: string]: string[] } = {};
  for (const list of lists) {
    for (const [key, values] of Object.entries(list)) merged[key] = [...new Set([...(merged[key] ?? []), ...values])];
  }
  return merged;
}
