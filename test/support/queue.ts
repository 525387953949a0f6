// Runs on a queue, as users have them: a real PostgreSQL, real workers and collectors as processes of the built program,
// and a model server that counts.
import type { ChildProcess } from "node:child_process";
import pg from "pg";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { createScriptFinder } from "../../src/domains/index.ts";
import { type MockServer, startMockServer } from "../../src/models/index.ts";
import { type Finished, type Running, type WorkFolder, workFolder } from "./cli.ts";
import { type Postgres, startPostgres } from "./postgres.ts";

/** Short enough for tests, and the collector's too. */
const LEASE_SECONDS = "4";

const NO_TABLE = "42P01";

const scripts = createScriptFinder();
let server: Promise<Postgres> | undefined;
let databases = 0;

/** One server for all tests of a file; each test has a database of its own. */
function sharedPostgres(): Promise<Postgres> {
  server ??= startPostgres();
  return server;
}

export async function closePostgres(): Promise<void> {
  await (await server)?.close();
  server = undefined;
}

export type Spawned = Running & { said(): string };

export class QueueScene {
  readonly folder: WorkFolder = workFolder();
  readonly url: string;
  readonly postgres: Postgres;
  readonly #running = new Set<ChildProcess>();

  private constructor(postgres: Postgres, url: string) {
    this.postgres = postgres;
    this.url = url;
    onTestFinished(async () => {
      for (const child of this.#running) {
        child.kill("SIGCONT");
        child.kill("SIGKILL");
      }
    });
  }

  static async open(postgres?: Postgres): Promise<QueueScene> {
    const own = postgres ?? (await sharedPostgres());
    return new QueueScene(own, await own.createDatabase(`queue_${process.pid}_${databases++}`));
  }

  start(args: string[], env: NodeJS.ProcessEnv = {}): Spawned {
    const running = this.folder.start(args, {
      env: { ROLLOUT_LEASE_SECONDS: LEASE_SECONDS, XDG_CACHE_HOME: `${this.folder.path}/cache`, ...env },
    });
    this.#running.add(running.child);
    running.child.on("close", () => this.#running.delete(running.child));
    let said = "";
    for (const stream of [running.child.stdout, running.child.stderr])
      stream?.on("data", (text: string) => {
        said += text;
      });
    return { ...running, said: () => said };
  }

  /** A command that runs rollouts, on the queue. */
  collect(args: string[], env?: NodeJS.ProcessEnv): Spawned {
    return this.start([...args, "--queue", this.url, "--quiet"], env);
  }

  worker(args: string[] = [], env?: NodeJS.ProcessEnv): Spawned {
    return this.start(["worker", this.url, ...args], env);
  }

  async run(args: string[]): Promise<Finished> {
    return this.start(args).finished;
  }

  /** How many rows; none before anybody has made the tables. */
  async count(what: string): Promise<number> {
    try {
      const [row] = await this.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${what}`);
      return row?.n ?? 0;
    } catch (error) {
      if ((error as { code?: string }).code !== NO_TABLE) throw error;
      return 0;
    }
  }

  async query<R>(text: string, values: unknown[] = []): Promise<R[]> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(text, values)).rows as R[];
    } finally {
      await client.end();
    }
  }
}

/** Until something can be seen. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export type Counted = MockServer & {
  /** bodies of requests that were asked more than once, and how often beyond the first time */
  repeated(): number;
};

/** The scripted models behind a socket. Every query is asked once: a body that comes twice was paid for twice. */
export async function serveCounted(latency = { least: 10, most: 40 }): Promise<Counted> {
  const asked = new Map<string, number>();
  const mock = await startMockServer({
    findScript: scripts.find,
    latency,
    onRequest: ({ body }) => asked.set(body, (asked.get(body) ?? 0) + 1),
  });
  onTestFinished(() => mock.close());
  return { ...mock, repeated: () => [...asked.values()].reduce((sum, count) => sum + count - 1, 0) };
}

/** A config of a bundled domain whose models are served at this address. */
export function servedConfig(url: string, more: object = {}): string {
  const entry = { provider: "openai", api_base: url };
  return stringify({
    ...{ datasets: ["StudentAcademicPortal"], bundled: true, limit: 6, sync: "never", output_dir: "out" },
    models: { "scripted-agent": entry, "scripted-user": entry },
    ...{ agent_model: "openai/scripted-agent", user_model: "openai/scripted-user" },
    ...more,
  });
}

export const RECORDS = "out/trajectories/StudentAcademicPortal.jsonl";
