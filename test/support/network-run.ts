// Whole runs through real sockets: the rehearsal server with the scripted models behind it, a registry that names it, and
// the same wiring as the command line's.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Config, type ConfigPatch, type ResolvedRun, resolveConfig } from "../../src/config/index.ts";
import { canonicalJson, type RunEvent, type Trajectory } from "../../src/core/index.ts";
import { createScriptFinder } from "../../src/domains/index.ts";
import { preflight } from "../../src/estimates/index.ts";
import { type MockServer, startMockServer } from "../../src/models/index.ts";
import type { MockServerOptions } from "../../src/models/mock-server/server.ts";
import type { RegistryEntry } from "../../src/models/registry.ts";
import { type MakeOptions, makeRollouts, type RunResult } from "../../src/runner/index.ts";
import { readRecords, temporaryFolder } from "./play.ts";

export async function serveScripted(options: Partial<MockServerOptions> = {}): Promise<MockServer> {
  const server = await startMockServer({ findScript: createScriptFinder().find, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A run of bundled domains whose agent and user are served at `url`. */
export function networkRun(
  url: string,
  scene: { config?: Partial<Config>; entry?: RegistryEntry; folder?: string; patch?: ConfigPatch } = {},
): ResolvedRun {
  const entry: RegistryEntry = { provider: "openai", api_base: url, ...scene.entry };
  const config: Config = {
    datasets: ["StudentAcademicPortal"],
    limit: 3,
    sync: "never",
    models: { "scripted-agent": entry, "scripted-user": entry },
    agent_model: "openai/scripted-agent",
    user_model: "openai/scripted-user",
    ...scene.config,
  };
  const folder = scene.folder ?? join(temporaryFolder(), "run");
  return resolveConfig({ bundled: true, ...config }, { folder, patch: scene.patch });
}

export type NetworkRun = { result: RunResult; records: Trajectory[]; events: RunEvent[] };

export async function play(resolved: ResolvedRun, options: MakeOptions = {}): Promise<NetworkRun> {
  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent) => events.push(event);
  const result = await makeRollouts(resolved, { env: {}, onEvent, inspect: preflight, ...options });
  const records = Object.values(result.outputs).flatMap((file) => readRecords<Trajectory>(file));
  return { result, records, events };
}

/** Sorted by key and without timings: what must be equal between runs of the same plan. */
export function canonical(records: Trajectory[]): string[] {
  return records
    .map(({ metadata: { timings: _timings, ...metadata }, ...record }) => canonicalJson({ ...record, metadata }))
    .sort();
}

export function notes(events: RunEvent[]): string[] {
  return events.flatMap((event) => (event.type === "run-note" ? [event.message] : []));
}

export function failures(folder: string): { error: string }[] {
  return readFileSync(join(folder, "failures.jsonl"), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { error: string });
}
