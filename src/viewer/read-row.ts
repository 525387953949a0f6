// What the table shows of one record, read without parsing its dialogue: the key at the start of the line, the metadata
// at its end, and the names of the tools that were called.
import { countUsedTokens, isObject, parseJson, type Trajectory, toTrajectory } from "../core/index.ts";
import { bodyOf, isBlank, readHead } from "../runs/index.ts";

export type RolloutRow = {
  dataset: string;
  id: string;
  queryId: string;
  rollout: number;
  stopReason: string;
  /** it came to a regular end */
  ended: boolean;
  blame: string;
  turns: number;
  toolCalls: number;
  toolErrors: number;
  tokens: number;
  /** null: not known */
  costUsd: number | null;
  seconds: number;
  /** milliseconds since 1970; 0 if it is not known */
  endedAt: number;
  scripted: boolean;
  /** each kind once */
  faults: readonly string[];
  tools: readonly string[];
};

/** The row, or a sentence about the line; undefined for a blank one. */
export function readRow(line: Buffer, dataset: string, names: Names): RolloutRow | string | undefined {
  const bytes = bodyOf(line);
  if (isBlank(bytes)) return undefined;
  const head = readHead({ bytes }, dataset);
  const metadata = head && readMetadata(bytes);
  if (!metadata) return "is not a record";
  const { queryId, rollout } = head;
  return {
    dataset: names.one(head.dataset),
    id: rollout === 0 ? queryId : `${queryId}#${rollout}`,
    queryId,
    rollout,
    stopReason: names.one(String(metadata.stop_reason)),
    ended: SUCCESS.some((text) => bytes.includes(text)),
    blame: names.one(metadata.blame ?? ""),
    turns: metadata.total_turns ?? 0,
    toolCalls: metadata.tool_call_count ?? 0,
    toolErrors: metadata.tool_error_count ?? 0,
    tokens: countUsedTokens(metadata).tokens,
    costUsd: metadata.cost_usd ?? null,
    seconds: (metadata.timings?.duration_ms ?? 0) / 1000,
    endedAt: Date.parse(metadata.timings?.ended_at ?? "") || 0,
    scripted: metadata.scripted === true,
    faults: names.list(faultsOf(metadata)),
    tools: names.list(toolsIn(bytes)),
  };
}

/** Texts that many rows share are kept once. */
export class Names {
  readonly #names = new Map<string, string>();
  readonly #lists = new Map<string, readonly string[]>();

  one(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, name);
    return name;
  }

  list(names: Iterable<string>): readonly string[] {
    const list = [...new Set(names)].sort();
    const key = list.join("\n");
    const known = this.#lists.get(key) ?? list.map((name) => this.one(name));
    this.#lists.set(key, known);
    return known;
  }
}

const METADATA = Buffer.from('"metadata":{');
const CALLED = Buffer.from('"function":{"name":"');
/** The original system writes a space after the colon. */
const SUCCESS = [Buffer.from(',"success":true,'), Buffer.from(', "success": true,')];
const QUOTE = 34;

/** Quotes inside texts are escaped, so neither mark can be part of a message. */
function readMetadata(bytes: Buffer): Trajectory["metadata"] | undefined {
  const at = bytes.lastIndexOf(METADATA);
  const tail = at === -1 ? undefined : parseJson(`{${bytes.toString("utf8", at)}`);
  return toTrajectory(tail ?? parseJson(bytes.toString("utf8")), "")?.metadata;
}

function* toolsIn(bytes: Buffer): Generator<string> {
  for (let at = bytes.indexOf(CALLED); at !== -1; at = bytes.indexOf(CALLED, at)) {
    at += CALLED.length;
    const end = bytes.indexOf(QUOTE, at);
    if (end === -1) return;
    yield bytes.toString("utf8", at, end);
    at = end;
  }
}

function faultsOf({ faults }: Trajectory["metadata"]): string[] {
  return (Array.isArray(faults) ? faults : []).flatMap((fault) =>
    isObject(fault) && typeof fault.type === "string" ? [fault.type] : [],
  );
}
