// The database behind a queue. The first connection fails at once, with one sentence; after that a database that is away is
// waited for, for as long as it takes, and that is said once. Work is repeated when its end is not known: it must bear that.
import pg from "pg";
import { messageOf, systemClock, UsageError } from "../core/index.ts";
import { type Address, readAddress } from "./address.ts";
import { describeFailure, isAway, isClash } from "./failures.ts";

export type Row = { [column: string]: unknown };
/** A connection with a transaction begun, or none. */
export type Connection = { query<R extends Row = Row>(text: string, values?: unknown[]): Promise<R[]> };

type DatabaseOptions = {
  /** one line for people */
  say(text: string): void;
  /** once aborted, a database that is away is no longer waited for */
  giveUp?: AbortSignal;
  /** connections at most */
  connections?: number;
};

const CONNECT_MS = 10_000;
const QUERY_MS = 60_000;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 3000;

export class Database {
  readonly address: Address;
  readonly #pool: pg.Pool;
  readonly #options: DatabaseOptions;
  #awaySince: number | undefined;
  #backSince = 0;

  private constructor(address: Address, options: DatabaseOptions) {
    this.address = address;
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: address.url,
      max: options.connections ?? 3,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      keepAlive: true,
      application_name: "rollout",
      allowExitOnIdle: true,
    });
    this.#pool.on("error", () => {}); // an idle connection broke: the next query finds out
  }

  static async open(url: string, options: DatabaseOptions): Promise<Database> {
    const address = readAddress(url);
    const database = new Database(address, options);
    try {
      await database.once((connection) => connection.query("SELECT 1"));
    } catch (error) {
      await database.close();
      throw new UsageError(describeFailure(address, error));
    }
    return database;
  }

  /** One statement, repeated until it is known to have been carried out. */
  query<R extends Row = Row>(text: string, values?: unknown[]): Promise<R[]> {
    return this.patiently(() => this.once((connection) => connection.query<R>(text, values)));
  }

  /** All or nothing, repeated until it is known to have been carried out. */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.patiently(() => this.tryTransaction(work));
  }

  async tryTransaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.once(async (connection) => {
      await connection.query("BEGIN");
      try {
        const result = await work(connection);
        await connection.query("COMMIT");
        return result;
      } catch (error) {
        if (!isAway(error)) await connection.query("ROLLBACK");
        throw error;
      }
    });
  }

  /** Not repeated. */
  async once<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    const onError = () => {}; // the query that is under way rejects
    client.on("error", onError);
    let broken = true;
    try {
      const query = async <R extends Row>(text: string, values?: unknown[]) =>
        rowsOf<R>(await client.query(text, values));
      const result = await work({ query });
      broken = false;
      return result;
    } finally {
      client.off("error", onError);
      client.release(broken);
    }
  }

  /** Milliseconds for which it has been reachable, as far as this process knows. */
  get reachableFor(): number {
    return this.#awaySince === undefined ? systemClock.elapsed() - this.#backSince : 0;
  }

  async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, MAX_WAIT_MS)) {
      const began = systemClock.elapsed();
      try {
        const result = await work();
        this.#isBack(began);
        return result;
      } catch (error) {
        if (isClash(error)) continue;
        if (!isAway(error)) throw error;
        // one connection that broke says little: the database is away if another cannot be had
        if (wait > FIRST_WAIT_MS) this.#isGone(error);
        await systemClock.sleep(wait * (0.5 + Math.random()), this.#options.giveUp);
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #isGone(error: unknown): void {
    if (this.#awaySince !== undefined) return;
    this.#awaySince = systemClock.elapsed();
    this.#options.say(`The database at ${this.address.place} cannot be reached (${messageOf(error)}); waiting`);
  }

  /** What began before it went away, and still got through, does not show that it is back. */
  #isBack(began: number): void {
    if (this.#awaySince === undefined || began < this.#awaySince) return;
    this.#awaySince = undefined;
    this.#backSince = systemClock.elapsed();
    this.#options.say(`The database at ${this.address.place} is back: going on`);
  }
}

/** Several statements in one text have several results. */
function rowsOf<R>(result: pg.QueryResult | pg.QueryResult[]): R[] {
  return (Array.isArray(result) ? result.flatMap(({ rows }) => rows) : result.rows) as R[];
}
