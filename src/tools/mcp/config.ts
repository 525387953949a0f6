// `mcpServers` as other tools write it, plus our own keys, and what it means once every `${VAR}` is known.
// A server's environment is minimal: it gets what the config names and nothing else, so no API key reaches it by accident.
import { isAbsolute, resolve } from "node:path";
import { z } from "zod";
import { fillVariables, learnSecret, learnSetting, learnUrl, type Variables } from "../../core/index.ts";
import { childEnvironment, isPassedOn } from "../child-environment.ts";
import {
  fillHeader,
  fillText,
  fillUrl,
  placesIn,
  requireUrl,
  type ServerWorld,
  type Template,
  toTemplate,
  valuesOf,
  withStart,
} from "./places.ts";

const MAX_CALL_SECONDS = 60;

const ISOLATIONS = ["shared", "pool", "fresh", "session"] as const;

const mcpServerSchema = z
  .strictObject({
    type: z.enum(["stdio", "http", "streamable-http"]).optional().describe("not needed: some tools write it"),
    command: z.string().min(1).optional().describe("the program of a stdio server"),
    args: z
      .array(z.string())
      .optional()
      .describe(
        `its arguments; \${WORK_FOLDER} stands for the server's own folder, \${QUERY_ID}, \${ROLLOUT}, \${SEED}, \${DATASET} and \${TASK.field} for whom it serves, also in env, url and headers`,
      ),
    env: z
      .record(z.string(), z.string())
      .optional()
      .describe("its environment; it gets no other variables but a few such as PATH"),
    cwd: z.string().optional().describe("default: an empty folder of the server's own, removed afterwards"),
    url: z.string().min(1).optional().describe("the address of a streamable HTTP server"),
    headers: z.record(z.string(), z.string()).optional().describe("sent with every request to it"),
    isolation: z
      .enum(ISOLATIONS)
      .optional()
      .describe(
        "shared: one connection for all rollouts; pool: one server per running rollout, reset or restarted in between; fresh: one per rollout; session: one session of a `url` server per rollout. Default: session with `url`, pool with `command`, fresh if it is started for one query",
      ),
    reset_tool: z
      .string()
      .optional()
      .describe("a tool that brings a pooled server back to its first state; hidden from the agent"),
    hidden_tools: z.array(z.string()).optional().describe("tools that nobody is offered; `setup` may call them"),
    state_tool: z
      .string()
      .min(1)
      .optional()
      .describe("a tool that answers with the server's whole state as JSON: called by us, never offered to the agent"),
    state_resource: z.string().min(1).optional().describe("the same as an MCP resource: its URI"),
    state_after_writes: z
      .boolean()
      .optional()
      .describe("the state is read after each call that may write, too: the record then has its hash for each"),
    timeout: z
      .number()
      .positive()
      .optional()
      .describe(`seconds for one call; default: tool_timeout, else ${MAX_CALL_SECONDS}`),
    read_only: z
      .union([z.literal(true), z.array(z.string())])
      .optional()
      .describe("tools that change nothing: all, or these; default: what the server's annotations say"),
  })
  .superRefine((server, context) => {
    const refuse = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
    const kind = server.command === undefined ? "url" : "command";
    if (server.command === undefined && server.url === undefined) refuse("command", 'needs "command" or "url"');
    if (server.command !== undefined && server.url !== undefined)
      refuse("url", '"command" and "url" exclude each other');
    for (const key of kind === "url" ? (["args", "env", "cwd"] as const) : (["headers"] as const)) {
      if (server[key] !== undefined) refuse(key, `does not go with "${kind}"`);
    }
    if (server.type && (server.type === "stdio") !== (kind === "command")) refuse("type", `does not go with "${kind}"`);
    const [place] = ownPlaces(server);
    if (place !== undefined && (server.isolation === "shared" || server.isolation === "pool"))
      refuse(
        "isolation",
        `"${server.isolation}" does not go with ${place}, which differs from rollout to rollout: each needs a server of its own ("fresh"${kind === "url" ? ' or "session"' : ""})`,
      );
    if (server.isolation === "session" && kind === "command") refuse("isolation", '"session" needs "url"');
    for (const key of ["command", "cwd"] as const) {
      const [misplaced] = placesIn(server[key] ?? "");
      if (misplaced !== undefined) refuse(key, `${misplaced} may stand in args, env, url and headers only`);
    }
    if (server.reset_tool !== undefined && (server.isolation ?? defaultIsolation(server)) !== "pool") {
      refuse("reset_tool", 'needs isolation "pool"');
    }
    const state = server.state_tool === undefined ? "state_resource" : "state_tool";
    if (server.state_tool !== undefined && server.state_resource !== undefined)
      refuse("state_resource", '"state_tool" and "state_resource" exclude each other');
    if (server[state] !== undefined && (server.isolation ?? defaultIsolation(server)) === "shared")
      refuse(state, 'does not go with isolation "shared": the state there is what all rollouts left');
    if (server.state_after_writes && server[state] === undefined)
      refuse("state_after_writes", 'needs "state_tool" or "state_resource"');
  });

/** The value of `mcpServers` in a config or in a separate file. */
export const mcpServersSchema = z.record(z.string().min(1), mcpServerSchema);

export type McpServerConfig = z.infer<typeof mcpServerSchema> & {
  /** how it is started where its files are elsewhere than the config says; what is written stays what it is known by */
  here?: { command?: string; args?: string[]; env?: Record<string, string>; cwd?: string };
};
export type McpServersConfig = { [name: string]: McpServerConfig };
type Isolation = (typeof ISOLATIONS)[number];

/** How a server is started or reached; texts may have places. */
type LaunchTemplate =
  | { kind: "stdio"; command: Template; args: Template[]; env: Record<string, Template>; cwd: Template | undefined }
  | { kind: "http"; url: Template; headers: Record<string, Template> };

export type Launch =
  | { kind: "stdio"; command: string; args: string[]; env: Record<string, string>; cwd: string | undefined }
  | { kind: "http"; url: URL; headers: Record<string, string> };

export type ResolvedServer = {
  name: string;
  launch: LaunchTemplate;
  /** it is started or reached differently for each rollout */
  hasPlaces: boolean;
  isolation: Isolation;
  resetTool: string | undefined;
  /** no party is offered these */
  hiddenTools: ReadonlySet<string>;
  stateTool?: string;
  stateResource?: string;
  stateAfterWrites?: boolean;
  timeoutMs: number;
  readOnly: true | string[] | undefined;
};

/**
 * `${VAR}` and `${VAR:-default}` are looked up in `variables`, everywhere in the entry; places are left for when a
 * server starts. A command or argument that starts with `./` or `../` is resolved against `baseFolder`, since the server
 * runs in its own folder.
 */
export function resolveServer(
  name: string,
  { here, ...written }: McpServerConfig,
  { variables, baseFolder, callSeconds }: { variables: Variables; baseFolder: string; callSeconds?: number },
): ResolvedServer {
  const config = { ...written, ...here };
  const fill = (written: string, where: string) => {
    const options = { env: variables, where: `mcpServers.${name}.${where}`, allowOthers: true };
    const { text, values } = fillVariables(written, options);
    return { text, values: new Map([...values].filter(([variable]) => !isPassedOn(variable))) };
  };
  const expand = (written: string, where: string, setting: string) =>
    toTemplate(written, (text) => {
      const filled = fill(text, where);
      learnSetting(setting, filled);
      learnUrl(filled);
      return filled.text;
    });
  const expandAll = (values: Record<string, string> = {}, where: string) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, expand(value, `${where}.${key}`, key)]));
  // what comes after a folder's `/` may be a place
  const inBase = (path: string) =>
    isAbsolute(path) ? path : `${resolve(baseFolder, path)}${path.endsWith("/") ? "/" : ""}`;
  const fromBase = (template: Template) => withStart(template, (path) => (/^\.\.?\//.test(path) ? inBase(path) : path));

  const launch = (): LaunchTemplate => {
    if (config.command === undefined) {
      const headers = expandAll(config.headers, "headers");
      for (const value of Object.values(headers)) if (typeof value === "string") learnSecret(value, "setting");
      const url = toTemplate(config.url ?? "", (text) => {
        const filled = fill(text, "url");
        learnUrl(filled);
        return filled.text;
      });
      requireUrl(url, `mcpServers.${name}.url`);
      return { kind: "http", url, headers };
    }
    const own = expandAll(config.env, "env");
    const cwd = config.cwd === undefined ? undefined : toTemplate(config.cwd, (text) => fill(text, "cwd").text);
    const args = (config.args ?? []).map((written, index, all) => {
      const [, flag = all[index - 1] ?? "", value] = /^([\w-]+)(?:=|:\s*)(.+)$/s.exec(written) ?? [];
      if (value !== undefined) expand(value, `args.${index}`, flag); // `--token=…`, `KEY=…`, `Authorization: …`
      return expand(written, `args.${index}`, value === undefined && flag.startsWith("-") ? flag : "");
    });
    return {
      kind: "stdio",
      command: fromBase(toTemplate(config.command, (text) => fill(text, "command").text)),
      args: args.map(fromBase),
      env: { ...childEnvironment(variables), ...own },
      cwd: cwd === undefined || (typeof cwd !== "string" && cwd[0] === "") ? cwd : withStart(cwd, inBase),
    };
  };

  const launched = launch();
  return {
    name,
    launch: launched,
    hasPlaces: ownPlaces(config).length > 0,
    isolation: config.isolation ?? defaultIsolation(config),
    resetTool: config.reset_tool,
    hiddenTools: new Set(
      [...(config.hidden_tools ?? []), config.reset_tool, config.state_tool].filter((tool) => tool !== undefined),
    ),
    stateTool: config.state_tool,
    stateResource: config.state_resource,
    stateAfterWrites: config.state_after_writes,
    timeoutMs: (config.timeout ?? callSeconds ?? MAX_CALL_SECONDS) * 1000,
    readOnly: config.read_only,
  };
}

/** As it is for one world. Throws a UsageError if the world's query lacks a field, or has one that cannot be used. */
export function launchFor({ name, launch }: ResolvedServer, world: ServerWorld, folder: string): Launch {
  const at = (key: string) => `mcpServers.${name}.${key}`;
  const fill = (template: Template, key: string) => fillText(template, valuesOf(world, folder, at(key)), at(key));
  const fillAll = <T>(templates: Record<string, T>, one: (template: T, key: string) => string) =>
    Object.fromEntries(Object.entries(templates).map(([key, template]) => [key, one(template, key)]));
  if (launch.kind === "http") {
    const { url, headers } = launch;
    return {
      kind: "http",
      url: fillUrl(url, valuesOf(world, folder, at("url")), at("url")),
      headers: fillAll(headers, (template, key) => fillHeader(template, valuesOf(world, folder, at(`headers.${key}`)))),
    };
  }
  return {
    kind: "stdio",
    command: fill(launch.command, "command"),
    args: launch.args.map((template, index) => fill(template, `args.${index}`)),
    env: fillAll(launch.env, (template, key) => fill(template, `env.${key}`)),
    cwd: launch.cwd && fill(launch.cwd, "cwd"),
  };
}

type Launched = Pick<McpServerConfig, "command" | "args" | "env" | "url" | "headers">;

function defaultIsolation(config: Launched): Isolation {
  return config.command === undefined ? "session" : ownPlaces(config).length > 0 ? "fresh" : "pool";
}

/** Those that make a server one rollout's. */
function ownPlaces({ args = [], env = {}, url = "", headers = {} }: Launched): string[] {
  return [...args, ...Object.values(env), url, ...Object.values(headers)].flatMap(placesIn);
}
