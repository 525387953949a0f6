// Real MCP servers as a domain: the tools they list, without policy, tables or rules.
import { contentHash } from "../core/index.ts";
import { type McpHub, type McpServersConfig, Toolbox } from "../tools/index.ts";
import type { Domain } from "./domain.ts";

export async function loadMcpDomain(name: string, servers: McpServersConfig, hub: McpHub): Promise<Domain> {
  const tools = await hub.tools();
  return {
    name,
    servers: Object.keys(servers),
    policy: undefined,
    toolbox: new Toolbox([{ server: name, tools }]),
    rules: [],
    volatile: {},
    freeArguments: {},
    contentHash: contentHash([Object.entries(servers).map(([server, config]) => [server, launchOf(config)]), tools]),
    openEnvironment: (seed) => hub.open(seed),
  };
}

/** A server without its environment and headers: those may hold keys and do not shape a dialogue. */
function launchOf({ command, args, url, isolation }: McpServersConfig[string]) {
  return { command, args, url, isolation };
}
