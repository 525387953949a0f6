// Shared by a run's rollouts besides models: Python processes and MCP servers, started when needed, ended with the run.
import type { Variables } from "../core/index.ts";
import { removeDeadFolders } from "../files/index.ts";
import { McpHub, type McpServersConfig, type NameStyle, PythonPool } from "../tools/index.ts";
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
  onNotice(message: string): void;
};

export function openResources({ env, nameStyle, python, onNotice }: ResourceOptions): RunResources {
  let pool: PythonPool | undefined;
  const hubs: McpHub[] = [];
  void removeDeadFolders();
  const said = new Set<string>();
  const sayOnce = (message: string) => {
    if (!said.has(message)) onNotice(message);
    said.add(message);
  };
  return {
    nameStyle,
    python: () => {
      pool ??= new PythonPool({ environment: env, python, notice: sayOnce });
      return pool;
    },
    mcp: (servers) => {
      const hub = new McpHub({
        servers,
        variables: env,
        baseFolder: process.cwd(),
        style: nameStyle,
        notice: onNotice,
        onShortage: sayOnce,
      });
      hubs.push(hub);
      return hub;
    },
    close: async () => {
      await Promise.all([pool?.close(), ...hubs.map((hub) => hub.close())]);
    },
  };
}
