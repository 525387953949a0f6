// Collecting: what workers recorded goes into the run folder, in its order, and to the watchers; then it is marked. What
// was written and not marked before a kill is found in the folder again, and not written twice.
import type { RolloutKey, RunEvent, Trajectory } from "../core/index.ts";
import { type FailureRecord, type RunFolder, readFailures, recordKeyText } from "../runs/index.ts";
import type { Database } from "./database.ts";

/** Events at a time. */
const MAX_EVENTS = 500;

type EventRow = { seq: string; rollout: string | null; type: string; body: string; stamp: number | null };
/** `stamp`: of the latest plan that the rollout was in */
type Ended = { stamp: number | null; isFailed: boolean };

type Sink = {
  folder: RunFolder;
  /** into the journal, then to the watchers */
  record(event: RunEvent): Promise<void>;
  /** for people: in no file */
  tell(event: RunEvent): void;
};

/** What the folder may have already: asked before anything is written. */
export type Before = {
  hasRecord(key: string): boolean;
  hasFailure(failure: FailureRecord): boolean;
  hasEvent(event: RunEvent): boolean;
};

const NOTHING: Before = { hasRecord: () => false, hasFailure: () => false, hasEvent: () => false };

export class Collecting {
  readonly #database: Database;
  readonly #run: string;
  readonly #sink: Sink;
  readonly #before: Before;

  constructor(database: Database, run: string, sink: Sink, before: Before = NOTHING) {
    this.#database = database;
    this.#run = run;
    this.#sink = sink;
    this.#before = before;
  }

  /** Collects what is there, up to a certain amount; returns how many events. `onEnd` hears of each rollout that ended. */
  async collect(onEnd: (ended: Ended) => void = () => {}): Promise<number> {
    const rows = await this.#database.query<EventRow>(
      `SELECT seq, rollout, type, body, r.stamp FROM rollout.events e LEFT JOIN rollout.rollouts r ON r.id = e.rollout
       WHERE e.run = $1 AND NOT is_collected ORDER BY seq LIMIT ${MAX_EVENTS}`,
      [this.#run],
    );
    if (rows.length === 0) return 0;
    const ends = rows.filter(({ type }) => type === "rollout-end");
    // a record is on disk before its rollout's end is in the journal
    await Promise.all(rows.filter(({ type }) => type !== "rollout-end").map((row) => this.#write(row)));
    await Promise.all(ends.map((row) => this.#write(row)));
    await this.#mark(rows, ends);
    for (const { body, stamp } of ends) {
      const { outcome } = JSON.parse(body) as RunEvent & { type: "rollout-end" };
      onEnd({ stamp, isFailed: outcome.stopReason === "infrastructure" });
    }
    return rows.length;
  }

  async #write({ type, body }: EventRow): Promise<void> {
    const { folder, record, tell } = this.#sink;
    if (type === "prompt") return folder.prompts.keepLine(body);
    const value: unknown = JSON.parse(body);
    if (type === "record") {
      const trajectory = value as Trajectory;
      if (!this.#before.hasRecord(recordKeyText(trajectory))) await folder.finish(trajectory);
    } else if (type === "failure") {
      if (!this.#before.hasFailure(value as FailureRecord)) await folder.fail(value as FailureRecord);
    } else if (type === "run-note" || type === "endpoint-wait") tell(value as RunEvent);
    else if (!this.#before.hasEvent(value as RunEvent)) await record(value as RunEvent);
  }

  /** What has ended is no longer needed; of the rest somebody may yet have to go on from it. */
  async #mark(rows: EventRow[], ends: EventRow[]): Promise<void> {
    const ended = ends.flatMap(({ rollout }) => rollout ?? []);
    const over = new Set(ended);
    const loose = rows.filter(({ rollout }) => rollout === null).map(({ seq }) => seq);
    const others = rows.filter(({ rollout }) => rollout !== null && !over.has(rollout)).map(({ seq }) => seq);
    await this.#database.transaction(async (connection) => {
      if (others.length > 0)
        await connection.query("UPDATE rollout.events SET is_collected = true WHERE seq = ANY($1::bigint[])", [others]);
      if (ended.length + loose.length === 0) return;
      await connection.query(
        "DELETE FROM rollout.events WHERE rollout = ANY($1::bigint[]) OR seq = ANY($2::bigint[])",
        [ended, loose],
      );
      await connection.query("DELETE FROM rollout.rollouts WHERE id = ANY($1::bigint[])", [ended]);
    });
  }
}

/** What a collector that was killed may have left: its last events, written and not marked. */
export async function examineFolder(
  database: Database,
  run: string,
  folder: RunFolder,
  records: ReadonlySet<string>,
): Promise<Before> {
  const rows = await database.query<{ body: string }>(
    "SELECT DISTINCT ON (rollout) body FROM rollout.events WHERE run = $1 AND NOT is_collected AND rollout IS NOT NULL",
    [run],
  );
  const keys = rows.map(({ body }) => keyIn(JSON.parse(body)));
  const failures = new Set(readFailures(folder.path).map(failureText));
  return {
    hasRecord: (key) => records.has(key),
    hasFailure: (failure) => failures.has(failureText(failure)),
    hasEvent: folder.findJournaled(keys),
  };
}

function failureText(failure: FailureRecord): string {
  return `${recordKeyText(failure)} ${failure.attempt} ${failure.at}`;
}

/** Events and records spell it differently. */
function keyIn({ dataset, queryId, query_id, rollout }: { [member: string]: unknown }): RolloutKey {
  return { dataset: String(dataset), queryId: String(queryId ?? query_id), rollout: Number(rollout) };
}
