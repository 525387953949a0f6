// Jobs: which rollout may be taken next. pg-boss keeps them, one queue per run, one job per planned rollout; each change
// here is part of the caller's transaction, so that a job and what it stands for cannot differ.
import type { PgBoss } from "pg-boss";
import type { Connection, Database } from "./database.ts";

const SCHEMA = "rollout_jobs";
/** A job is given back as often as workers come and go: what failed is counted elsewhere. */
const RETRIES = 2_000_000_000;

export class Jobs {
  readonly #boss: PgBoss;

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  static async open(database: Database): Promise<Jobs> {
    const { PgBoss } = await import("pg-boss");
    const db = adapt({ query: (text, values) => database.once((connection) => connection.query(text, values)) });
    // leases are ours, and nothing is done at set times: neither supervisor nor schedule is needed
    const boss = new PgBoss({ db, schema: SCHEMA, supervise: false, schedule: false });
    boss.on("error", () => {}); // of its own housekeeping, which is tried again
    await boss.start();
    return new Jobs(boss);
  }

  async createQueue(run: string): Promise<void> {
    if (!(await this.#boss.getQueue(run)))
      await this.#boss.createQueue(run, {
        policy: "standard",
        retryLimit: RETRIES,
        retryDelay: 0,
        retryBackoff: false,
      });
  }

  async dropQueue(run: string): Promise<void> {
    if (await this.#boss.getQueue(run)) await this.#boss.deleteQueue(run);
  }

  async add(run: string, ids: string[], connection: Connection, { isLast = false } = {}): Promise<void> {
    const priority = isLast ? -1 : 0;
    await this.#boss.insert(
      run,
      ids.map((id) => ({ id, priority })),
      { db: adapt(connection) },
    );
  }

  /** Up to so many jobs that nobody has. */
  async take(run: string, count: number, connection: Connection): Promise<string[]> {
    const jobs = await this.#boss.fetch(run, { batchSize: count, db: adapt(connection) });
    return jobs.map(({ id }) => id);
  }

  async complete(run: string, ids: string[], connection: Connection): Promise<void> {
    if (ids.length > 0) await this.#boss.complete(run, ids, null, { db: adapt(connection) });
  }

  /** For whoever comes next; they come before those that nobody has begun. */
  async giveBack(run: string, ids: string[], connection: Connection): Promise<void> {
    if (ids.length > 0) await this.#boss.fail(run, ids, null, { db: adapt(connection) });
  }

  async remove(run: string, ids: string[], connection: Connection): Promise<void> {
    if (ids.length > 0) await this.#boss.deleteJob(run, ids, { db: adapt(connection) });
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false }).catch(() => {});
  }
}

function adapt(connection: Connection) {
  return { executeSql: async (text: string, values?: unknown[]) => ({ rows: await connection.query(text, values) }) };
}
