// Opening the server of this folder in a process of its own.
import { fileURLToPath } from "node:url";
import type { Environment } from "../../../src/core/index.ts";
import { NodePool, openInNode, Toolbox } from "../../../src/tools/index.ts";
import type { NodePoolOptions } from "../../../src/tools/node/pool.ts";

const FILE = fileURLToPath(new URL("./Trouble.mjs", import.meta.url));

export function createNodePool(options: Partial<NodePoolOptions> = {}): NodePool {
  return new NodePool({ environment: process.env, size: 1, ...options });
}

export async function openTrouble(pool: NodePool, seed = 1): Promise<Environment> {
  const servers = [{ name: "Trouble", file: FILE }];
  const [shape] = await pool.describe(servers);
  const tools = [...(shape?.reads ?? []), ...(shape?.writes ?? [])].map((name) => ({
    ...{ name, description: "", parameters: { type: "object" }, readOnly: shape?.reads.includes(name) ?? false },
  }));
  const toolbox = new Toolbox([{ server: "Trouble", tools }]);
  return openInNode({ toolbox, servers, name: "Trouble", tableFolders: [] }, pool, seed);
}
