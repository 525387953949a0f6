// Files of runs in the database, by content hash, in pieces: each is stored once, whoever needs it.
import type { PackedRun } from "./bundle/index.ts";
import type { Database } from "./database.ts";

/** Sends what the database does not have yet. */
export async function sendFiles(database: Database, run: string, packed: PackedRun): Promise<void> {
  const hashes = [...new Set(packed.files.map(({ hash }) => hash))];
  await database.query(
    `INSERT INTO rollout.run_files (run, hash) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`,
    [run, hashes],
  );
  const known = await database.query<{ hash: string }>(
    "SELECT hash FROM rollout.files WHERE hash = ANY($1::text[]) AND part = -1",
    [hashes],
  );
  const there = new Set(known.map(({ hash }) => hash));
  for (const hash of hashes) if (!there.has(hash)) await sendFile(database, hash, packed.read(hash));
}

/** Its last part, numbered -1, is empty and says that all others are there. */
async function sendFile(database: Database, hash: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const keep = (part: number, bytes: Uint8Array) =>
    database.query("INSERT INTO rollout.files (hash, part, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", [
      hash,
      part,
      Buffer.from(bytes),
    ]);
  let part = 0;
  for await (const piece of pieces) await keep(part++, piece);
  await keep(-1, new Uint8Array());
}

export async function* fetchFile(database: Database, hash: string): AsyncGenerator<Uint8Array> {
  for (let part = 0; ; part++) {
    const [row] = await database.query<{ bytes: Buffer }>(
      "SELECT bytes FROM rollout.files WHERE hash = $1 AND part = $2",
      [hash, part],
    );
    if (!row) return;
    yield row.bytes;
  }
}
