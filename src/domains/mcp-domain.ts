// Real MCP servers as a domain: the tools they list, without policy, tables or rules.
import { contentHash, type Location, RolloutError, UsageError } from "../core/index.ts";
import { type McpHub, type McpServersConfig, ServerTrouble, StateTrouble } from "../tools/index.ts";
import type { Domain } from "./domain.ts";

/** Where the config says how to start a server, by its name. */
export type ServerLocations = { [server: string]: Location | undefined };

export type McpSource = { servers: McpServersConfig; hub: McpHub; locations?: ServerLocations };

/** Before a run: a server that does not start is a mistake of the user's. */
export async function requireMcpDomain(name: string, { servers, hub, locations = {} }: McpSource): Promise<Domain> {
  try {
    return await loadMcpDomain(name, servers, hub);
  } catch (error) {
    if (!(error instanceof RolloutError) || !(error.cause instanceof ServerTrouble)) throw error;
    const { server } = error.cause;
    const url = error.cause instanceof StateTrouble ? undefined : servers[server]?.url;
    const advice = url === undefined ? "" : `. Is a server running at ${url}?`;
    throw new UsageError(`${error.message}${advice}`, locations[server]);
  }
}

export async function loadMcpDomain(name: string, servers: McpServersConfig, hub: McpHub): Promise<Domain> {
  const tools = await hub.tools();
  return {
    name,
    servers: Object.keys(servers),
    policy: undefined,
    toolbox: hub.toolbox,
    rules: [],
    volatile: {},
    freeArguments: {},
    unseen: hub.unseen,
    perRollout: /\$\{(?:SEED|ROLLOUT)\}/.test(JSON.stringify(servers)),
    contentHash: contentHash([Object.entries(servers).map(([server, config]) => [server, launchOf(config)]), tools]),
    openEnvironment: (world) => hub.open(world),
  };
}

/** A server without its environment and headers: those may hold keys and do not shape a dialogue. */
function launchOf({ command, args, url, isolation, state_tool, state_resource }: McpServersConfig[string]) {
  return { command, args, url, isolation, state_tool, state_resource };
}
