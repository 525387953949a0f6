// The processes of a run that keep TypeScript and JavaScript servers away from the program (`isolation: process`).
import { createRequire } from "node:module";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment, JsonObject, ToolSpec, Variables } from "../../core/index.ts";
import { childEnvironment } from "../child-environment.ts";
import { loadError, openInChild } from "../children/environment.ts";
import { ChildPool, type ChildPoolOptions } from "../children/pool.ts";
import type { PolicyRule } from "../domain-server.ts";
import type { Toolbox } from "../naming.ts";
import { WATCHED } from "../supervised.ts";

export type NodePoolOptions = ChildPoolOptions & {
  /** This process's environment: the children get a short list of its variables, never a key. */
  environment: Variables;
};

export type NodeDomain = {
  toolbox: Toolbox;
  servers: readonly { name: string; file: string; functions?: boolean }[];
  name: string;
  tableFolders: readonly string[];
  stateless?: boolean;
};

/** What a server's file says about its tools. */
export type ServerShape = {
  reads: string[];
  writes: string[];
  rules: PolicyRule[];
  volatile: { [table: string]: string[] };
  /** of a file of plain functions, which has no list of them anywhere else */
  tools?: ToolSpec[];
};

export class NodePool extends ChildPool {
  constructor(options: NodePoolOptions) {
    const environment = childEnvironment(options.environment);
    const node = [process.execPath, ...transpiler(), BRIDGE];
    const command = (folder: string): [string, ...string[]] => ["/bin/sh", "-c", WATCHED, "sh", folder, ...node];
    super("Node", async () => ({ command, environment, kind: "node" }), options);
  }

  /** Loads the servers in a process and says what they have. Throws a UsageError if they cannot be loaded. */
  async describe(servers: NodeDomain["servers"]): Promise<ServerShape[]> {
    const child = await this.takeSeat(servers.map(({ file }) => file).join());
    child.arrive();
    try {
      const reply = await child.request({ op: "describe", servers: absolute(servers) }, this.loadTimeLimit);
      if (reply.unusable !== undefined) throw loadError(reply);
      return reply.shapes as unknown as ServerShape[];
    } finally {
      child.sessions--;
    }
  }
}

export function openInNode(domain: NodeDomain, pool: NodePool, seed: number): Promise<Environment> {
  const { toolbox, name, stateless } = domain;
  const opening: JsonObject = {
    servers: absolute(domain.servers),
    tables: domain.tableFolders.map((folder) => resolve(folder)),
  };
  const servers = domain.servers.map((server) => server.name);
  return openInChild({ toolbox, servers, name, opening, stateless }, pool, seed);
}

function absolute(servers: NodeDomain["servers"]): { name: string; file: string; functions?: boolean }[] {
  return servers.map((server) => ({ ...server, file: resolve(server.file) }));
}

/** This file's own kind: TypeScript where the program runs from its sources. */
const BRIDGE = fileURLToPath(new URL(`./bridge${extname(import.meta.url)}`, import.meta.url));

function transpiler(): string[] {
  if (!BRIDGE.endsWith(".ts")) return [];
  const jiti = dirname(createRequire(import.meta.url).resolve("jiti/package.json"));
  return ["--import", join(jiti, "lib", "jiti-register.mjs")];
}
