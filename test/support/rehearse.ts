// Whole runs against the rehearsal server, through real sockets: the server's faults go in, what the run folder holds
// comes out. Waits are skipped but recorded.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Config, resolveConfig } from "../../src/config/index.ts";
import type { Clock, RunEvent, Trajectory } from "../../src/core/index.ts";
import { createScriptFinder } from "../../src/domains/index.ts";
import { type RequestCounts, startMockServer } from "../../src/models/index.ts";
import type { MockServerOptions, ServedRequest } from "../../src/models/mock-server/server.ts";
import type { RegistryEntry } from "../../src/models/registry.ts";
import { makeRollouts, type RunResult } from "../../src/runner/index.ts";
import { readRecords, temporaryFolder } from "./play.ts";

const DATASET = "StudentFinancialServices";
const scripts = createScriptFinder();

export type Rehearsal = {
  faults?: string;
  server?: Partial<MockServerOptions>;
  /** queries of the dataset; one by default */
  ids?: string[];
  /** settings of both parties */
  party?: { timeout?: number; max_retries?: number; recover_text_calls?: boolean; send_seed?: boolean };
  entry?: Partial<RegistryEntry>;
  config?: Partial<Config>;
  env?: { [name: string]: string };
  folder?: string;
};

type Failure = { id: string; error: string; boundary: string; attempt: number };

export type Rehearsed = {
  result: RunResult;
  records: Trajectory[];
  failures: Failure[];
  events: RunEvent[];
  counts: RequestCounts;
  seen: ServedRequest[];
  slept: number[];
};

export async function rehearse(rehearsal: Rehearsal = {}): Promise<Rehearsed> {
  const seen: ServedRequest[] = [];
  const server = await startMockServer({
    findScript: scripts.find,
    onRequest: (request) => seen.push(request),
    faults: rehearsal.faults,
    ...rehearsal.server,
  });
  const events: RunEvent[] = [];
  const { clock, slept } = createHurriedClock();
  try {
    const resolved = resolveConfig(configFor(server.url, rehearsal), {
      folder: rehearsal.folder ?? temporaryFolder(),
      patch: { bundled: true, ids: rehearsal.ids ?? ["sfs-001"] },
    });
    const result = await makeRollouts(resolved, {
      env: rehearsal.env ?? {},
      clock,
      onEvent: (event) => events.push(event),
    });
    const output = join(result.folder, "trajectories", `${DATASET}.jsonl`);
    const records = existsSync(output) ? readRecords<Trajectory>(output) : [];
    const failureFile = join(result.folder, "failures.jsonl");
    const failures = existsSync(failureFile) ? readRecords<Failure>(failureFile) : [];
    return { result, records, failures, events, counts: server.requests(), seen, slept };
  } finally {
    await server.close();
  }
}

function configFor(url: string, { party = {}, entry = {}, config = {} }: Rehearsal): Config {
  const served: RegistryEntry = { provider: "openai", api_base: url, ...entry };
  return {
    sync: "never",
    max_workers: 1,
    datasets: {
      [DATASET]: {
        agent: { model: "openai/scripted-agent", ...party },
        user: { model: "openai/scripted-user", ...party },
      },
    },
    models: { "scripted-agent": served, "scripted-user": served },
    ...config,
  };
}

/** How many replies of models a record counts, rejected ones included. */
export function callsIn(records: readonly Trajectory[]): number {
  const calls = records.flatMap(({ metadata }) => Object.values(metadata.usage).map((usage) => usage.calls));
  return calls.reduce((sum, count) => sum + count, 0);
}

function createHurriedClock(): { clock: Clock; slept: number[] } {
  let skipped = 0;
  const slept: number[] = [];
  const clock: Clock = {
    now: () => Date.now() + skipped,
    elapsed: () => performance.now() + skipped,
    sleep: async (milliseconds, signal) => {
      signal?.throwIfAborted();
      slept.push(milliseconds);
      skipped += milliseconds;
    },
  };
  return { clock, slept };
}
