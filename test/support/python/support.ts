// Opening the servers of this folder in tests, with every tool taking any arguments.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Environment, ToolResult } from "../../../src/core/index.ts";
import { findPython, openPython, PythonPool, Toolbox } from "../../../src/tools/index.ts";
import type { PythonDomain } from "../../../src/tools/python/environment.ts";
import type { PythonPoolOptions } from "../../../src/tools/python/pool.ts";

const SERVERS = fileURLToPath(new URL("./mcp_servers/", import.meta.url));

/** Without Python these tests cannot run; that is reported where it cannot be overlooked. */
export async function havePython(): Promise<boolean> {
  try {
    await findPython(undefined, process.env);
    return true;
  } catch (error) {
    process.stderr.write(`\n*** PYTHON TESTS SKIPPED: ${error instanceof Error ? error.message : error} ***\n\n`);
    return false;
  }
}

export function createPool(options: Partial<PythonPoolOptions> = {}): PythonPool {
  return new PythonPool({ environment: process.env, size: 1, ...options });
}

export function domainOf(...names: string[]): PythonDomain {
  return domainAt(SERVERS, ...names);
}

/** The tools of a server are the methods `tool_*` or the words compared with `tool_name` in its text. */
export function domainAt(folder: string, ...names: string[]): PythonDomain {
  const servers = names.map((name) => ({ name, file: `${folder}${name}.py` }));
  const toolsOf = (file: string) => {
    const text = readFileSync(file, "utf8");
    const found = text.matchAll(/def tool_(\w+)|tool_name == "(\w+)"|"(\w+)": self\.\w+/g);
    const tools = [...new Set([...found].map(([, a, b, c]) => (a ?? b ?? c) as string)), "no_such_tool"];
    return tools.map((name) => ({ name, description: "", parameters: { type: "object" }, readOnly: false }));
  };
  const toolbox = new Toolbox(servers.map(({ name, file }) => ({ server: name, tools: toolsOf(file) })));
  return { toolbox, servers, domainName: names.join("_") };
}

export function open(pool: PythonPool, name: string, seed = 1): Promise<Environment> {
  return openPython(domainOf(name), pool, seed);
}

let ids = 0;

export function call(environment: Environment, name: string, args: object | string = {}): Promise<ToolResult> {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return environment.call({ id: `call-${ids++}`, name, arguments: text }, new AbortController().signal);
}

export async function answer(environment: Environment, name: string, args: object | string = {}): Promise<unknown> {
  return JSON.parse((await call(environment, name, args)).content);
}
