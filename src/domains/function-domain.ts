// Files of plain functions, a corpus, and the tools that come along, each as a domain without policy, tables or state.
import { readFileSync, statSync } from "node:fs";
import { basename, extname } from "node:path";
import { contentHash, type ToolSpec, UsageError, type World } from "../core/index.ts";
import {
  calculatorServer,
  corpusServer,
  Database,
  type DomainServer,
  loadFunctions,
  openInNode,
  openInProcess,
  openPython,
  Toolbox,
} from "../tools/index.ts";
import type { Domain, DomainResources } from "./domain.ts";

const LANGUAGES = /\.(py|[cm]?[jt]s)$/;

/** A file's functions are never called again for what is already recorded: they may cost, and answer differently. */
export async function loadFunctionDomain(file: string, server: string, resources: DomainResources): Promise<Domain> {
  requireFile(file);
  const hash = contentHash([basename(file), readFileSync(file, "utf8")]);
  const servers = [{ name: server, file, functions: true }];
  if (file.endsWith(".py")) {
    const pool = resources.functions?.();
    if (!pool) throw new UsageError("its functions are written in Python, and Python is not allowed here", { file });
    const toolbox = new Toolbox([{ server, tools: await pool.describe(file) }]);
    const domain = { toolbox, servers, domainName: server, stateless: true };
    return toDomain(server, toolbox, hash, ({ seed }) => openPython(domain, pool, seed));
  }
  if (resources.isolation === "process") {
    const pool = resources.node?.();
    if (!pool)
      throw new UsageError("its functions are to run in a process of their own, which is not allowed here", { file });
    const [shape] = await pool.describe(servers);
    const toolbox = new Toolbox([{ server, tools: shape?.tools ?? [] }]);
    const domain = { toolbox, servers, name: server, tableFolders: [], stateless: true };
    return toDomain(server, toolbox, hash, ({ seed }) => openInNode(domain, pool, seed));
  }
  resources.watch?.([file]);
  const loaded = await loadFunctions(file);
  const toolbox = new Toolbox([{ server, tools: loaded.tools }]);
  const open = opener(server, loaded.server, toolbox, resources);
  return toDomain(server, toolbox, hash, async (world) => Object.assign(await open(world), { trust: () => true }));
}

function requireFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`There is no file ${file}`);
  if (!stats.isFile()) throw new UsageError(`${file} is a folder, not a file of functions`);
  if (!LANGUAGES.test(extname(file)))
    throw new UsageError("a file of tools is Python, TypeScript or JavaScript", { file });
}

export async function loadCorpusDomain(
  path: string,
  wanted: readonly string[],
  resources: DomainResources,
): Promise<Domain> {
  const corpus = await resources.corpus?.(path);
  if (!corpus) throw new UsageError(`The corpus ${path} cannot be read here`);
  return fromServer("corpus", corpusServer(corpus, wanted), corpus.hash, resources);
}

export function loadCalculator(resources: DomainResources): Domain {
  return fromServer("calculator", calculatorServer(), "calculator 1", resources);
}

type Source = { tools: ToolSpec[]; server: DomainServer };

function fromServer(name: string, { tools, server }: Source, content: string, resources: DomainResources): Domain {
  const toolbox = new Toolbox([{ server: name, tools }]);
  const hash = contentHash([content, tools]);
  // no time limit: the first search waits for the index
  return toDomain(name, toolbox, hash, opener(name, server, toolbox, { ...resources, callTimeLimit: undefined }));
}

function opener(name: string, server: DomainServer, toolbox: Toolbox, { callTimeLimit: timeLimit }: DomainResources) {
  const options = { toolbox, servers: new Map([[name, server]]), database: new Database([]), timeLimit };
  return async ({ seed }: World) => openInProcess(options, seed);
}

function toDomain(server: string, toolbox: Toolbox, hash: string, open: Domain["openEnvironment"]): Domain {
  return {
    name: server,
    servers: [server],
    policy: undefined,
    toolbox,
    rules: [],
    volatile: {},
    freeArguments: {},
    stateless: [server],
    contentHash: hash,
    openEnvironment: open,
  };
}
