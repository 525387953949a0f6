// What the tests of MCP tools share: hubs on the faulty server, calls, logs and processes.
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment, ToolResult } from "../../../src/core/index.ts";
import { processStart } from "../../../src/files/process-start.ts";
import { McpHub } from "../../../src/tools/index.ts";
import type { McpServerConfig } from "../../../src/tools/mcp/config.ts";
import type { McpHubOptions } from "../../../src/tools/mcp/hub.ts";

export const FAULTY_SERVER = fileURLToPath(new URL("faulty-server.mjs", import.meta.url));

/** Runs the work with a hub on one faulty server, and closes the hub in any case. */
export async function withHub(
  config: Omit<McpServerConfig, "command"> & { flags?: string[] },
  work: (hub: McpHub) => Promise<void>,
  options: Partial<McpHubOptions> = {},
): Promise<void> {
  const { flags = [], ...rest } = config;
  const server = { command: process.execPath, args: [FAULTY_SERVER, ...flags], ...rest };
  const hub = new McpHub({ servers: { faulty: server }, variables: {}, baseFolder: tmpdir(), ...options });
  try {
    await work(hub);
  } finally {
    await hub.close();
  }
}

export function call(environment: Environment, name: string, args: object = {}): Promise<ToolResult> {
  return environment.call({ id: "1", name, arguments: JSON.stringify(args) }, new AbortController().signal);
}

export async function contentOf(result: Promise<ToolResult>): Promise<string> {
  return (await result).content;
}

export function temporaryFile(): string {
  return join(mkdtempSync(join(tmpdir(), "rollout-test-")), "file");
}

/** The lines of a server's log: every call it got. */
export function callsIn(log: string): string[] {
  return linesOf(log).filter((line) => !line.startsWith("pid "));
}

/** The processes that wrote to a server's log when they started. */
export function processesIn(log: string): number[] {
  return linesOf(log).flatMap((line) => (line.startsWith("pid ") ? [Number(line.slice(4))] : []));
}

/** Whether a process is alive; one that is dead but not yet reaped by init is not. */
export function isRunning(pid: number): boolean {
  return processStart(pid) !== undefined;
}

/** Waits for a condition; the test's own time limit says when to give up. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function linesOf(log: string): string[] {
  return existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : [];
}
