// Environments whose tools are a dataset's Python servers.
import { resolve } from "node:path";
import type { Environment } from "../../core/index.ts";
import { openInChild } from "../children/environment.ts";
import type { Toolbox } from "../naming.ts";
import type { PythonPool } from "./pool.ts";

export type PythonDomain = {
  toolbox: Toolbox;
  /** in the combination's order: if several have a table, the first one's is used */
  servers: readonly { name: string; file: string }[];
  /** what the servers' constructors get: the server's name, or the fused name as the database folder writes it */
  domainName: string;
};

export function openPython(domain: PythonDomain, pool: PythonPool, seed: number): Promise<Environment> {
  const { toolbox, domainName } = domain;
  const servers = domain.servers.map(({ name, file }) => ({ name, file: resolve(file) }));
  const opening = { domain_name: domainName, servers };
  return openInChild({ toolbox, servers: servers.map(({ name }) => name), name: domainName, opening }, pool, seed);
}
