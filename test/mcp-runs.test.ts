import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { type Config, resolveConfig } from "../src/config/index.ts";
import type { Trajectory } from "../src/core/index.ts";
import { bundledFolder } from "../src/domains/index.ts";
import { makeRollouts } from "../src/runner/index.ts";

const PROGRAM = resolve("bin/rollout.js");
const DOMAIN = "StudentAcademicPortal";

/** The bundled queries, with the tools behind a real MCP server: what `rollout mcp serve` is for. */
async function runOver(mcpServers: Config["mcpServers"], config: Config = {}): Promise<Trajectory[]> {
  const folder = mkdtempSync(join(tmpdir(), "rollout-mcp-run-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = bundledFolder().find([DOMAIN]).queryFiles[0] as string;
  const scripted = { agent_model: "scripted/agent", user_model: "scripted/user" };
  const whole: Config = { ...scripted, datasets: { portal: { path } }, mcpServers, limit: 4, ...config };
  const resolved = resolveConfig(whole, { folder: join(folder, "run") });
  const result = await makeRollouts(resolved, { env: process.env });
  expect(result).toMatchObject({ failed: 0, left: 0 });
  const lines = readFileSync(result.outputs.portal as string, "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as Trajectory);
}

const stdio = { command: process.execPath, args: [PROGRAM, "mcp", "serve", DOMAIN] };

function expectWellPlayed(trajectories: Trajectory[]): void {
  expect(trajectories).toHaveLength(4);
  for (const { metadata, domains } of trajectories) {
    expect(domains).toEqual(["portal"]);
    expect(metadata.stop_reason).toMatch(/^user_/);
    expect(metadata.tool_call_count).toBeGreaterThan(0);
    expect(metadata.faults).toEqual([]);
  }
}

test("a dataset's tools may be a stdio server, one for each rollout", async () => {
  expectWellPlayed(await runOver({ portal: { ...stdio, isolation: "fresh" } }, { max_workers: 2 }));
});

test("a dataset's tools may be a server at a URL", async () => {
  const server = spawn(process.execPath, [PROGRAM, "mcp", "serve", DOMAIN, "--http", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void server.kill());
  const url = await servedAt(server);
  expectWellPlayed(await runOver({ portal: { url, isolation: "fresh" } }));
  server.kill("SIGINT");
  const [code] = await once(server, "exit");
  expect(code).toBe(0);
});

test("servers may come from a file of their own, in the form that other tools write", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollout-mcp-file-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { portal: { ...stdio, isolation: "pool" } }, other: true }));
  expectWellPlayed(await runOver(undefined, { mcp_config_file: file, max_workers: 1 }));
});

test("the official client lists and calls the tools of a served combination", async () => {
  const client = new Client({ name: "test", version: "1" });
  const args = [PROGRAM, "mcp", "serve", "StudentHealthServices+StudentAcademicPortal"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  try {
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain("sap__search_courses");
    expect(tools.find((tool) => tool.name === "sap__search_courses")?.annotations?.readOnlyHint).toBe(true);
    const result = await client.callTool({ name: "shs__get_clinic_fees", arguments: {} });
    expect(result.isError ?? false).toBe(false);
    const refused = await client.callTool({ name: "sap__list_holds", arguments: {} });
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toContain("authorize_student");
  } finally {
    await client.close();
  }
});

async function servedAt(server: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of server.stderr as NodeJS.ReadableStream) {
    text += chunk;
    const url = /http:\/\/\S+/.exec(text)?.[0];
    if (url) return url;
  }
  throw new Error(`the server did not start: ${text}`);
}
