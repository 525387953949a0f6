// What a run's records add up to. Reads only the end of each line, where the metadata is.
import {
  addCosts,
  type CostRecord,
  isScriptedParty,
  NO_COST,
  parseJson,
  type RolloutKey,
  readCost,
  type Trajectory,
  toCostRecord,
  toTrajectory,
  UsageError,
} from "../core/index.ts";
import { scanLines, writeWhole } from "../files/index.ts";
import { bodyOf, isBlank } from "./examine-record.ts";
import { readHead } from "./finished.ts";

const NOTHING = {
  rollouts: 0,
  /** came to a regular end */
  success: 0,
  turns: 0,
  tool_calls: 0,
  tool_errors: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  /** estimates of scripts, which are not in the counts above */
  scripted_tokens: 0,
  duration_ms: 0,
  scripted: 0,
};

export type DatasetSummary = typeof NOTHING & CostRecord & { stop_reasons: { [reason: string]: number } };

export function summarise(file: string): DatasetSummary {
  const summary = { ...NOTHING, stop_reasons: {} as DatasetSummary["stop_reasons"] };
  let cost = NO_COST;
  scanLines(file, ({ bytes, number }) => {
    if (isBlank(bodyOf(bytes))) return;
    const metadata = readMetadata(bodyOf(bytes));
    if (!metadata) throw new UsageError("this line is not a trajectory", { file, line: number });
    summary.rollouts++;
    const { stop_reason } = metadata;
    summary.stop_reasons[stop_reason] = (summary.stop_reasons[stop_reason] ?? 0) + 1;
    summary.success += SUCCESS.some((text) => bytes.includes(text)) ? 1 : 0;
    summary.turns += metadata.total_turns ?? 0;
    summary.tool_calls += metadata.tool_call_count ?? 0;
    summary.tool_errors += metadata.tool_error_count ?? 0;
    for (const [party, usage] of Object.entries(metadata.usage ?? {})) {
      if (isScriptedParty(metadata.models, party)) {
        summary.scripted_tokens += (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0);
        continue;
      }
      summary.input_tokens += usage.input_tokens ?? 0;
      summary.output_tokens += usage.output_tokens ?? 0;
      summary.cached_tokens += usage.cached_tokens ?? 0;
      summary.reasoning_tokens += usage.reasoning_tokens ?? 0;
    }
    cost = addCosts(cost, readCost(metadata));
    summary.duration_ms += metadata.timings?.duration_ms ?? 0;
    summary.scripted += metadata.scripted ? 1 : 0;
  });
  return { ...summary, ...toCostRecord(cost) };
}

/** `more`: what else a summary holds. */
export function writeSummary(path: string, datasets: { [name: string]: DatasetSummary }, more: object = {}): void {
  const cost = Object.values(datasets).map(readCost).reduce(addCosts, NO_COST);
  writeWhole(path, `${JSON.stringify({ ...toCostRecord(cost), datasets, ...more }, null, 2)}\n`);
}

/** Calls back for each record with its key and its metadata, without parsing what is between them. */
export function scanMetadata(
  file: string,
  dataset: string,
  onRecord: (record: RolloutKey & { metadata: Trajectory["metadata"] }) => void,
): void {
  scanLines(file, ({ bytes }) => {
    if (isBlank(bodyOf(bytes))) return;
    const key = readHead({ bytes: bodyOf(bytes) }, dataset);
    const metadata = key?.dataset === dataset ? readMetadata(bodyOf(bytes)) : undefined;
    if (key && metadata) onRecord({ ...key, metadata });
  });
}

const METADATA = Buffer.from('"metadata":{');
/** The original system writes a space after the colon. */
const SUCCESS = [Buffer.from(',"success":true,'), Buffer.from(', "success": true,')];

/** Quotes inside texts are escaped, so this sequence cannot occur in a message. */
function readMetadata(bytes: Buffer): Trajectory["metadata"] | undefined {
  const at = bytes.lastIndexOf(METADATA);
  const tail = at === -1 ? undefined : parseJson(`{${bytes.toString("utf8", at)}`);
  const record = tail ?? parseJson(bytes.toString("utf8"));
  return toTrajectory(record, "")?.metadata;
}
