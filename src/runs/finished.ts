// Which rollouts a run already has: read from the records themselves, quickly, without parsing whole lines.
import { isObject, parseJson, type RecordKey, type RolloutKey } from "../core/index.ts";
import { type Line, scanLines } from "../files/index.ts";

export type FinishedRecord = RolloutKey & { fingerprint: string };

/** Calls back for each record and returns where the last complete line ends. */
export function scanFinished(file: string, dataset: string, onRecord: (record: FinishedRecord) => void): number {
  return scanLines(file, (line) => {
    const record = readHead(line, dataset);
    if (record) onRecord(record);
  });
}

const HEAD_END = Buffer.from(',"success":');
const FINGERPRINT = Buffer.from('"fingerprint":"');

/** The key is at the start of a line, the fingerprint near its end; a line rewritten elsewhere is parsed whole. */
export function readHead({ bytes }: Pick<Line, "bytes">, dataset: string): FinishedRecord | undefined {
  const end = bytes.indexOf(HEAD_END);
  const head = end === -1 ? undefined : parseJson(`${bytes.toString("utf8", 0, end)}}`);
  const at = bytes.lastIndexOf(FINGERPRINT);
  const isOurs = isObject(head) && head.query_id !== undefined && at !== -1;
  const record = isOurs ? head : parseJson(bytes.toString("utf8"));
  if (!isObject(record) || typeof record.id !== "string") return undefined;
  const from = at + FINGERPRINT.length;
  return {
    dataset: typeof record.dataset === "string" ? record.dataset : dataset,
    queryId: typeof record.query_id === "string" ? record.query_id : record.id,
    rollout: typeof record.rollout === "number" ? record.rollout : 0,
    fingerprint: isOurs ? bytes.toString("utf8", from, bytes.indexOf(34, from)) : fingerprintOf(record),
  };
}

function fingerprintOf({ metadata }: Record<string, unknown>): string {
  return isObject(metadata) && typeof metadata.fingerprint === "string" ? metadata.fingerprint : "";
}

/** A key as text, for maps and sets. */
export function keyText(key: RolloutKey): string {
  return JSON.stringify([key.dataset, key.queryId, key.rollout]);
}

/** The same for a record's key. */
export function recordKeyText({ dataset, query_id, rollout }: Omit<RecordKey, "id">): string {
  return keyText({ dataset, queryId: query_id, rollout });
}
