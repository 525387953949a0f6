// `mcpServers` as other tools write it, plus our own keys, and what it means once every `${VAR}` is known.
// A server's environment is minimal: it gets what the config names and nothing else, so no API key reaches it by accident.
import { isAbsolute, resolve } from "node:path";
import { z } from "zod";
import { fillVariables, learnSecret, learnSetting, learnUrl, UsageError, type Variables } from "../../core/index.ts";
import { childEnvironment, isPassedOn } from "../child-environment.ts";

const MAX_CALL_SECONDS = 60;

const mcpServerSchema = z
  .strictObject({
    type: z.enum(["stdio", "http", "streamable-http"]).optional().describe("not needed: some tools write it"),
    command: z.string().min(1).optional().describe("the program of a stdio server"),
    args: z.array(z.string()).optional().describe(`its arguments; \${WORK_FOLDER} stands for the server's own folder`),
    env: z
      .record(z.string(), z.string())
      .optional()
      .describe("its environment; it gets no other variables but a few such as PATH"),
    cwd: z.string().optional().describe("default: an empty folder of the server's own, removed afterwards"),
    url: z.string().min(1).optional().describe("the address of a streamable HTTP server"),
    headers: z.record(z.string(), z.string()).optional().describe("sent with every request to it"),
    isolation: z
      .enum(["shared", "pool", "fresh"])
      .optional()
      .describe(
        "shared: one connection for all rollouts; pool: one per running rollout, reset or restarted in between; fresh: one per rollout. Default: pool with `command`, shared with `url`",
      ),
    reset_tool: z.string().optional().describe("a tool that brings a pooled server back to its first state"),
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

export type McpServerConfig = z.infer<typeof mcpServerSchema>;
export type McpServersConfig = z.infer<typeof mcpServersSchema>;
type Isolation = "shared" | "pool" | "fresh";

export type Launch =
  | { kind: "stdio"; command: string; args: string[]; env: Record<string, string>; cwd: string | undefined }
  | { kind: "http"; url: URL; headers: Record<string, string> };

export type ResolvedServer = {
  name: string;
  launch: Launch;
  isolation: Isolation;
  resetTool: string | undefined;
  stateTool?: string;
  stateResource?: string;
  stateAfterWrites?: boolean;
  timeoutMs: number;
  readOnly: true | string[] | undefined;
};

/** Stands for the server's own folder in `args` and `env`; filled in when the server starts. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: this is how the config writes it
export const WORK_FOLDER = "${WORK_FOLDER}";

/**
 * `${VAR}` and `${VAR:-default}` are looked up in `variables`, everywhere in the entry. A command or argument that starts
 * with `./` or `../` is resolved against `baseFolder`, since the server runs in its own folder.
 */
export function resolveServer(
  name: string,
  config: McpServerConfig,
  { variables, baseFolder, callSeconds }: { variables: Variables; baseFolder: string; callSeconds?: number },
): ResolvedServer {
  const fill = (written: string, where: string) => {
    const options = { env: variables, where: `mcpServers.${name}.${where}`, skip: ["WORK_FOLDER"], allowOthers: true };
    const { text, values } = fillVariables(written, options);
    return { text, values: new Map([...values].filter(([variable]) => !isPassedOn(variable))) };
  };
  const expand = (written: string, where: string, setting: string) => {
    const filled = fill(written, where);
    learnSetting(setting, filled);
    learnUrl(filled);
    return filled.text;
  };
  const expandAll = (values: Record<string, string> = {}, where: string) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, expand(value, `${where}.${key}`, key)]));
  const fromBase = (path: string) => (/^\.\.?\//.test(path) ? resolve(baseFolder, path) : path);

  const launch = (): Launch => {
    if (config.command === undefined) {
      const headers = expandAll(config.headers, "headers");
      for (const value of Object.values(headers)) learnSecret(value, "setting");
      const url = fill(config.url ?? "", "url");
      learnUrl(url);
      return { kind: "http", url: parseUrl(url.text, name), headers };
    }
    const own = expandAll(config.env, "env");
    const cwd = config.cwd === undefined ? undefined : fill(config.cwd, "cwd").text;
    const args = (config.args ?? []).map((written, index, all) => {
      const [, flag = all[index - 1] ?? "", value] = /^([\w-]+)(?:=|:\s*)(.+)$/s.exec(written) ?? [];
      if (value !== undefined) expand(value, `args.${index}`, flag); // `--token=…`, `KEY=…`, `Authorization: …`
      return expand(written, `args.${index}`, value === undefined && flag.startsWith("-") ? flag : "");
    });
    return {
      kind: "stdio",
      command: fromBase(fill(config.command, "command").text),
      args: args.map(fromBase),
      env: { ...childEnvironment(variables), ...own },
      cwd: cwd === undefined || isAbsolute(cwd) ? cwd : resolve(baseFolder, cwd),
    };
  };

  const launched = launch();
  return {
    name,
    launch: launched,
    isolation: config.isolation ?? defaultIsolation(config),
    resetTool: config.reset_tool,
    stateTool: config.state_tool,
    stateResource: config.state_resource,
    stateAfterWrites: config.state_after_writes,
    timeoutMs: (config.timeout ?? callSeconds ?? MAX_CALL_SECONDS) * 1000,
    readOnly: config.read_only,
  };
}

function defaultIsolation(config: { command?: string | undefined }): Isolation {
  return config.command === undefined ? "shared" : "pool";
}

function parseUrl(text: string, name: string): URL {
  if (!URL.canParse(text)) throw new UsageError(`mcpServers.${name}.url: not a URL`);
  return new URL(text);
}
