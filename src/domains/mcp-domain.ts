// Real MCP servers as a domain: the tools they list, without policy, tables or rules.
import { contentHash, type Location, RolloutError, UsageError, type World } from "../core/index.ts";
import { type McpHub, type McpServersConfig, ServerTrouble, type SharedServer, StateTrouble } from "../tools/index.ts";
import type { Domain } from "./domain.ts";

/** Where the config says how to start a server, by its name. */
export type ServerLocations = { [server: string]: Location | undefined };

export type McpSource = {
  servers: McpServersConfig;
  hub: McpHub;
  locations?: ServerLocations;
  /** whose servers are started to see their tools: a server may need a query to start */
  example?: World | undefined;
};

/** Before a run: a server that does not start is a mistake of the user's. */
export async function requireMcpDomain(name: string, source: McpSource): Promise<Domain> {
  const { servers, hub, locations = {}, example } = source;
  try {
    const domain = await loadMcpDomain(name, servers, hub, example);
    for (const { server } of domain.shared ?? []) requireNoState(server, servers, locations);
    return domain;
  } catch (error) {
    if (error instanceof RolloutError && error.cause instanceof UsageError) throw error.cause;
    if (!(error instanceof RolloutError) || !(error.cause instanceof ServerTrouble)) throw error;
    const { server } = error.cause;
    const url = error.cause instanceof StateTrouble ? undefined : servers[server]?.url;
    const advice = url === undefined ? "" : `. Is a server running at ${url}?`;
    throw new UsageError(`${error.message}${advice}`, locations[server]);
  }
}

/** With `isolation: shared` the config says so; here only the server did. */
function requireNoState(server: string, servers: McpServersConfig, locations: ServerLocations): void {
  const { state_tool, state_resource } = servers[server] ?? {};
  if ((state_tool ?? state_resource) === undefined) return;
  const key = state_tool === undefined ? "state_resource" : "state_tool";
  throw new UsageError(
    `MCP server "${server}" gives no session ids, so ${key} does not go with it: the state there is what all rollouts left`,
    locations[server],
  );
}

export async function loadMcpDomain(
  name: string,
  servers: McpServersConfig,
  hub: McpHub,
  example: World = { seed: 0 },
): Promise<Domain> {
  const toolbox = await hub.toolbox({ ...example, dataset: name });
  return {
    name,
    servers: Object.keys(servers),
    policy: undefined,
    toolbox,
    rules: [],
    volatile: {},
    freeArguments: {},
    unseen: hub.unseen,
    perRollout: /\$\{(?:SEED|ROLLOUT)\b/.test(JSON.stringify(servers)),
    contentHash: contentHash([
      Object.entries(servers).map(([server, config]) => [server, launchOf(config)]),
      toolbox.tools,
    ]),
    shared: hub.shared(),
    openEnvironment: (world) => hub.open({ ...world, dataset: name }),
  };
}

/** Of servers whose tools write while all rollouts share their state: a sentence for each. */
export function describeSharedWrites({ name, shared = [] }: Pick<Domain, "name" | "shared">): string[] {
  return shared
    .filter(({ writes }) => writes.length > 0)
    .map(
      (server) =>
        `${name}: MCP server "${server.server}" ${reasonOf(server)}; its tools write (${list(server.writes)}), so rollouts see each other's writes, and every record is marked shared_state. If they change nothing, say so with read_only`,
    );
}

function reasonOf({ lacksSessions }: SharedServer): string {
  return lacksSessions ? "gives no session ids, so all rollouts share its state" : "is shared by all rollouts";
}

function list(names: string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
}

/** A server without its environment and headers: those may hold keys and do not shape a dialogue. */
function launchOf({ command, args, url, isolation, state_tool, state_resource }: McpServersConfig[string]) {
  return { command, args, url, isolation, state_tool, state_resource };
}
