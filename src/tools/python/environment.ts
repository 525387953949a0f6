// Environments whose tools are a dataset's Python servers.
import { resolve } from "node:path";
import type { Environment } from "../../core/index.ts";
import { openInChild } from "../children/environment.ts";
import type { Toolbox } from "../naming.ts";
import type { PythonPool } from "./pool.ts";

export type PythonDomain = {
  toolbox: Toolbox;
  /** in the combination's order: if several have a table, the first one's is used */
  servers: readonly { name: string; file: string; functions?: boolean }[];
  /** what the servers' constructors get: the server's name, or the fused name as the database folder writes it */
  domainName: string;
  stateless?: boolean;
};

export function openPython(domain: PythonDomain, pool: PythonPool, seed: number): Promise<Environment> {
  const { toolbox, domainName, stateless } = domain;
  const servers = domain.servers.map((server) => ({ ...server, file: resolve(server.file) }));
  const opening = { domain_name: domainName, servers };
  const names = servers.map(({ name }) => name);
  return openInChild({ toolbox, servers: names, name: domainName, opening, stateless }, pool, seed);
}
