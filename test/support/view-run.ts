// A run folder made by hand, and its index: for tests of the page's parts.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type MadeRecord = {
  dataset?: string;
  queryId: string;
  rollout?: number;
  success?: boolean;
  messages?: { role: string; content: string; [member: string]: unknown }[];
  metadata?: object;
};

const METADATA = {
  ...{ total_turns: 1, stop_reason: "user_stop", tool_call_count: 0, tool_error_count: 0, tool_errors: [] },
  ...{ mode: "positive", usage: {}, cost_usd: 0, models: { agent: "m/agent" }, scripted: false, seed: 0 },
  ...{ fingerprint: "f", system_hash: "s", tools_hash: "t", final_state_hash: "h", faults: [], attempt: 1 },
  timings: { started_at: "2026-03-01T00:00:00.000Z", ended_at: "2026-03-01T00:00:01.000Z", duration_ms: 1000 },
};

/** One line, as this program writes it. */
export function recordLine({ dataset = "Desk", queryId, rollout = 0, ...record }: MadeRecord): string {
  const id = rollout === 0 ? queryId : `${queryId}#${rollout}`;
  return `${JSON.stringify({
    ...{ id, query_id: queryId, rollout, dataset, domains: [dataset], success: record.success ?? true },
    messages: record.messages ?? [{ role: "user", content: "Hello." }],
    metadata: { ...METADATA, ...record.metadata },
  })}\n`;
}

export function scoreLine(
  { dataset = "Desk", queryId, rollout = 0 }: MadeRecord,
  check: string,
  pass: boolean | null,
): string {
  const id = rollout === 0 ? queryId : `${queryId}#${rollout}`;
  const score = pass === null ? null : pass ? 1 : 0;
  return `${JSON.stringify({ id, dataset, query_id: queryId, rollout, check, version: 1, record: "r", pass, score, reason: "why" })}\n`;
}

/** `records` by dataset, as lines; no journal. */
export function writeRun(
  folder: string,
  records: { [dataset: string]: string },
  files: { [name: string]: string } = {},
) {
  mkdirSync(join(folder, "trajectories"), { recursive: true });
  const outputOf = (dataset: string) => join(folder, "trajectories", `${dataset}.jsonl`);
  const datasets = Object.fromEntries(
    Object.keys(records).map((name) => [
      name,
      { output: outputOf(name), parts: { "agent model": "m/agent" }, base: "b" },
    ]),
  );
  const now = new Date().toISOString();
  const manifest = {
    ...{ format_version: 2, program_version: "0", node_version: "v20", created_at: now, updated_at: now, seed: 0 },
    ...{ config: {}, datasets },
  };
  for (const [name, lines] of Object.entries(records)) writeFileSync(outputOf(name), lines);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
}
