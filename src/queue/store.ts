// Where a worker's rollouts record what happens: the queue. Everything that a tick brings goes into one statement; what it
// resolves to has been committed. A rollout that somebody else holds by now is refused, and lost here.
import type { RolloutKey, RunEvent, Trajectory } from "../core/index.ts";
import { redactWritten } from "../core/index.ts";
import { LostRollout, type RolloutStore } from "../runner/index.ts";
import { type FailureRecord, keyText, PromptKeeper } from "../runs/index.ts";
import type { Connection, Database } from "./database.ts";
import { isOrphaned } from "./failures.ts";
import type { Jobs } from "./jobs.ts";
import type { Taken } from "./take.ts";

/** What a worker has of a rollout that it holds. */
type Held = Pick<Taken, "id" | "fence" | "job"> & {
  /** events written under this fence */
  written: number;
  /** its record or its failure, which is kept with its end */
  last?: Line;
};
type Line = { type: string; body: string };
type Write = {
  held?: Held;
  lines: Line[];
  end?: "ended" | "parked" | "put off";
  resolve(): void;
  reject(error: unknown): void;
};

/** Rows in one statement at most. */
const MAX_ROWS = 500;

export class QueueStore implements RolloutStore {
  readonly prompts: PromptKeeper;
  readonly #place: { database: Database; jobs: Jobs; run: string };
  readonly #onFree: (isFinished: boolean) => void;
  readonly #held = new Map<string, Held>();
  #waiting: Write[] = [];
  #flushing: Promise<void> | undefined;

  /** `onFree`: a rollout is no longer held. */
  constructor(place: { database: Database; jobs: Jobs; run: string }, onFree: (isFinished: boolean) => void) {
    this.#place = place;
    this.#onFree = onFree;
    this.prompts = new PromptKeeper((line) => this.#write({ lines: [{ type: "prompt", body: line }] }));
  }

  get held(): string[] {
    return [...this.#held.values()].map(({ id }) => id);
  }

  /**
   * False if this worker still plays it from an earlier time, when it was thought dead: what that writes must not pass for
   * the new. Somebody else takes it, or this worker once the old is gone.
   */
  hold({ id, fence, job, task }: Taken): boolean {
    const held: Held = { id, fence, job, written: 0 };
    const key = keyText(task.key);
    if (this.#held.has(key)) {
      this.#write({ held, lines: [], end: "parked" }).catch(() => {});
      return false;
    }
    this.#held.set(key, held);
    return true;
  }

  async record(event: RunEvent): Promise<void> {
    const line = toLine(event.type, event);
    if (!("queryId" in event)) return this.#write({ lines: [line] });
    const held = this.#find(event);
    if (event.type !== "rollout-end") return this.#write({ held, lines: [line] });
    await this.#write({ held, lines: held.last ? [held.last, line] : [line], end: "ended" });
  }

  async finish(trajectory: Trajectory): Promise<void> {
    const { dataset, query_id: queryId, rollout } = trajectory;
    this.#find({ dataset, queryId, rollout }).last = toLine("record", trajectory);
  }

  async fail(failure: FailureRecord): Promise<void> {
    const { dataset, query_id: queryId, rollout } = failure;
    this.#find({ dataset, queryId, rollout }).last = toLine("failure", failure);
  }

  /** One that is to go on later, by whoever takes it. */
  giveBack(key: RolloutKey, isLast: boolean): void {
    const held = this.#held.get(keyText(key));
    if (held) this.#write({ held, lines: [], end: isLast ? "put off" : "parked" }).catch(() => {});
  }

  giveBackAll(): void {
    for (const key of this.#held.keys()) {
      const [dataset, queryId, rollout] = JSON.parse(key) as [string, string, number];
      this.giveBack({ dataset, queryId, rollout }, false);
    }
  }

  /** For people at the collector; nobody waits for it. */
  tell(event: RunEvent): void {
    this.#write({ lines: [toLine(event.type, event)] }).catch(() => {});
  }

  /** Resolves when everything is written. */
  async settled(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  #find(key: RolloutKey): Held {
    const held = this.#held.get(keyText(key));
    if (!held) throw new LostRollout("the rollout is no longer held");
    return held;
  }

  #write(write: Omit<Write, "resolve" | "reject">): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...write, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  async #flush(): Promise<void> {
    await new Promise(setImmediate); // what else this tick brings goes along
    while (this.#waiting.length > 0) {
      const writes = this.#waiting.splice(0, MAX_ROWS);
      try {
        this.#settle(writes, await this.#commit(writes));
      } catch (error) {
        // the whole run was dropped: nobody holds anything of it
        if (isOrphaned(error)) this.#settle(writes, new Set());
        else for (const { reject } of writes) reject(error);
      }
    }
    this.#flushing = undefined;
  }

  #settle(writes: Write[], kept: ReadonlySet<string>): void {
    for (const { held, end, resolve, reject } of writes) {
      const isKept = !held || kept.has(nameOf(held));
      if (held && (end || !isKept)) this.#release(held, end === "ended" && isKept);
      if (isKept) resolve();
      else reject(new LostRollout("another worker has the rollout"));
    }
  }

  #release(held: Held, isFinished: boolean): void {
    for (const [key, other] of this.#held)
      if (other === held) {
        this.#held.delete(key);
        this.#onFree(isFinished);
      }
  }

  /** Returns which rollouts are still this worker's. Events carry numbers: a repetition adds nothing. */
  async #commit(writes: Write[]): Promise<Set<string>> {
    const { database, run } = this.#place;
    const rows = writes.flatMap(({ held, lines }) =>
      held ? lines.map((line) => ({ ...line, held, n: held.written++ })) : [],
    );
    const loose = writes.flatMap(({ held, lines }) => (held ? [] : lines));
    const ids = [...new Set(writes.flatMap(({ held }) => held?.id ?? []))];
    const values = [
      run,
      rows.map(({ held }) => held.id),
      rows.map(({ held }) => held.fence),
      rows.map(({ n }) => n),
      rows.map(({ type }) => type),
      rows.map(({ body }) => body),
      ids,
    ];
    const keep = async (connection: Connection) => {
      const found = ids.length > 0 ? await connection.query<{ id: string; fence: number }>(KEEP, values) : [];
      return new Set(found.map(nameOf));
    };
    const ends = writes.filter(({ end }) => end);
    if (ends.length === 0 && loose.length === 0) return database.patiently(() => database.once(keep));
    return database.transaction(async (connection) => {
      if (loose.length > 0)
        await connection.query(
          `INSERT INTO rollout.events (run, type, body) SELECT $1, * FROM unnest($2::text[], $3::text[])`,
          [run, loose.map(({ type }) => type), loose.map(({ body }) => body)],
        );
      const kept = await keep(connection);
      await this.#end(
        ends.filter(({ held }) => held && kept.has(nameOf(held))),
        connection,
      );
      return kept;
    });
  }

  /** A record, the end of its rollout and the end of its job are one. */
  async #end(writes: Write[], connection: Connection): Promise<void> {
    const { jobs, run } = this.#place;
    const of = (end: Write["end"]) => writes.flatMap((write) => (write.end === end && write.held ? [write.held] : []));
    const [ended, parked, putOff] = [of("ended"), of("parked"), of("put off")];
    if (writes.length === 0) return;
    const free = `UPDATE rollout.rollouts SET worker = NULL, is_ended = is_ended OR id = ANY($2::bigint[]) WHERE id = ANY($1::bigint[])`;
    await connection.query(free, [writes.map(({ held }) => held?.id), ended.map(({ id }) => id)]);
    const idsOf = (rollouts: Held[]) => rollouts.map(({ job }) => job);
    await jobs.complete(run, idsOf(ended), connection);
    await jobs.giveBack(run, idsOf(parked), connection);
    await jobs.remove(run, idsOf(putOff), connection);
    if (putOff.length > 0) await jobs.add(run, idsOf(putOff), connection, { isLast: true });
  }
}

/** Locks the rollouts first: nobody else can take them until this is committed, and whoever took them before has won. */
const KEEP = `
WITH held AS (
  SELECT id, fence FROM rollout.rollouts WHERE id = ANY($7::bigint[]) ORDER BY id FOR NO KEY UPDATE
), kept AS (
  INSERT INTO rollout.events (run, rollout, fence, n, type, body)
  SELECT $1, g.id, g.fence, g.n, g.type, g.body
  FROM unnest($2::bigint[], $3::integer[], $4::integer[], $5::text[], $6::text[])
    WITH ORDINALITY AS g (id, fence, n, type, body, place)
  JOIN held ON held.id = g.id AND held.fence = g.fence
  ORDER BY g.place
  ON CONFLICT (rollout, fence, n) DO NOTHING
)
SELECT id, fence FROM held`;

/** A rollout as it was taken once. */
function nameOf({ id, fence }: Pick<Held, "id" | "fence">): string {
  return `${id} ${fence}`;
}

function toLine(type: string, value: object): Line {
  return { type, body: redactWritten(JSON.stringify(value)) };
}
