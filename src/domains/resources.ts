// Shared by a run's rollouts besides models: the processes that tools run in and MCP servers, started when needed, ended
// with the run.
import { resolve } from "node:path";
import type { Variables } from "../core/index.ts";
import { removeDeadFolders } from "../files/index.ts";
import {
  CALL_SECONDS,
  Corpus,
  McpHub,
  type McpServersConfig,
  type NameStyle,
  NodePool,
  type PoolSize,
  PythonPool,
  ServerSlots,
  type StrayWatch,
  watchStrays,
} from "../tools/index.ts";
import type { DomainResources } from "./domain.ts";

export type RunResources = DomainResources & {
  mcp(servers: McpServersConfig): McpHub;
  close(): Promise<void>;
};

export type ResourceOptions = {
  /** this process's variables; children get a short list of them, never a key */
  env: Variables;
  nameStyle: NameStyle;
  python?: string;
  /** processes for Python servers; default: as many as their calls need */
  pythonProcesses?: PoolSize;
  /** whether rollouts have a time limit, which waiting for another's call uses up */
  timed?: boolean;
  /** for one call of any kind of tool; default: each kind's own */
  toolSeconds?: number;
  /** rollouts at once: MCP servers that are started for one each are never more */
  maxWorkers?: number;
  onNotice(message: string): void;
};

/** Where nobody says how many: evaluation, checks. */
const MAX_WORKERS = 8;
const MAX_FUNCTION_PROCESSES = 16;

export function openResources(options: ResourceOptions): RunResources {
  const {
    env,
    nameStyle,
    python,
    pythonProcesses = "auto",
    timed,
    toolSeconds,
    maxWorkers = MAX_WORKERS,
    onNotice,
  } = options;
  const callTimeLimit = (toolSeconds ?? CALL_SECONDS) * 1000;
  const shared = { environment: env, callTimeLimit, notice: onNotice };
  let pythonPool: PythonPool | undefined;
  let functionPool: PythonPool | undefined;
  const corpora = new Map<string, Promise<Corpus>>();
  let nodePool: NodePool | undefined;
  const hubs: McpHub[] = [];
  const slots = new ServerSlots({ workers: maxWorkers });
  const watches: StrayWatch[] = [];
  void removeDeadFolders();
  const said = new Set<string>();
  const sayOnce = (message: string) => {
    if (!said.has(message)) onNotice(message);
    said.add(message);
  };
  return {
    nameStyle,
    callTimeLimit,
    python: () => {
      pythonPool ??= new PythonPool({ ...shared, onShortage: sayOnce, python, size: pythonProcesses, timed });
      return pythonPool;
    },
    functions: () => {
      const size = Math.min(maxWorkers, MAX_FUNCTION_PROCESSES);
      functionPool ??= new PythonPool({ ...shared, onShortage: sayOnce, python, size });
      return functionPool;
    },
    corpus: (path) => {
      const opened = corpora.get(resolve(path)) ?? Corpus.open(path, onNotice);
      corpora.set(resolve(path), opened);
      return opened;
    },
    node: () => {
      nodePool ??= new NodePool({ ...shared, onShortage: sayOnce });
      return nodePool;
    },
    watch: (files) => {
      const watch = watchStrays(files, onNotice);
      watches.push(watch);
      return watch;
    },
    mcp: (servers) => {
      const hub = new McpHub({
        servers,
        variables: env,
        baseFolder: process.cwd(),
        style: nameStyle,
        callSeconds: toolSeconds,
        notice: onNotice,
        onShortage: sayOnce,
        slots,
      });
      hubs.push(hub);
      return hub;
    },
    close: async () => {
      await Promise.all([
        pythonPool?.close(),
        functionPool?.close(),
        nodePool?.close(),
        ...hubs.map((hub) => hub.close()),
      ]);
      for (const watch of watches) watch.close();
    },
  };
}
