// The tables of a queue, in a schema of their own. Jobs are in another one, which belongs to pg-boss.
import { UsageError } from "../core/index.ts";
import type { Connection, Database } from "./database.ts";
import { describeFailure, isAway } from "./failures.ts";
import { Jobs } from "./jobs.ts";

/** Of the tables below. A program that meets a newer one says so. */
const SCHEMA_VERSION = 1;

/** Any number that nobody else uses: whoever comes first makes the tables. */
const LOCK = 7_215_804;

const TABLES = `
CREATE SCHEMA IF NOT EXISTS rollout;
CREATE TABLE rollout.meta (schema_version integer NOT NULL);
CREATE TABLE rollout.runs (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  folder text NOT NULL,
  host text NOT NULL,
  program_version text NOT NULL,
  bundle text NOT NULL,
  bundle_hash text NOT NULL,
  needs text[] NOT NULL,
  fleet_limit integer,
  has_budget boolean NOT NULL,
  planned integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  state text NOT NULL,
  revision integer NOT NULL DEFAULT 1,
  stamp integer NOT NULL DEFAULT 1,
  is_published boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  collector_pid integer,
  collector_start text,
  collector_since timestamptz,
  collector_until timestamptz
);
CREATE TABLE rollout.files (
  hash text NOT NULL,
  part integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (hash, part)
);
CREATE TABLE rollout.run_files (
  run uuid NOT NULL REFERENCES rollout.runs ON DELETE CASCADE,
  hash text NOT NULL,
  PRIMARY KEY (run, hash)
);
CREATE TABLE rollout.rollouts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run uuid NOT NULL REFERENCES rollout.runs ON DELETE CASCADE,
  key text NOT NULL,
  fingerprint text NOT NULL,
  task text NOT NULL,
  job uuid NOT NULL,
  stamp integer NOT NULL,
  fence integer NOT NULL DEFAULT 0,
  worker uuid,
  is_ended boolean NOT NULL DEFAULT false,
  UNIQUE (run, key)
);
CREATE INDEX rollouts_job ON rollout.rollouts (run, job);
CREATE INDEX rollouts_held ON rollout.rollouts (worker, run) WHERE worker IS NOT NULL;
CREATE TABLE rollout.events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run uuid NOT NULL REFERENCES rollout.runs ON DELETE CASCADE,
  rollout bigint,
  fence integer,
  n integer,
  type text NOT NULL,
  body text NOT NULL,
  is_collected boolean NOT NULL DEFAULT false,
  UNIQUE (rollout, fence, n)
);
CREATE INDEX events_waiting ON rollout.events (run, seq) WHERE NOT is_collected;
CREATE TABLE rollout.workers (
  id uuid PRIMARY KEY,
  host text NOT NULL,
  pid integer NOT NULL,
  program_version text NOT NULL,
  in_flight integer NOT NULL DEFAULT 0,
  finished bigint NOT NULL DEFAULT 0,
  per_second float8 NOT NULL DEFAULT 0,
  runs uuid[] NOT NULL DEFAULT '{}',
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz NOT NULL
);
INSERT INTO rollout.meta (schema_version) VALUES (${SCHEMA_VERSION});`;

/** Makes the tables if there are none yet; whoever may not, or is too old for them, is told. One after the other. */
export async function openQueue(database: Database): Promise<Jobs> {
  return explain(database, () =>
    database.tryTransaction(async (connection) => {
      await connection.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
      if (await hasTables(connection)) await requireKnown(database, connection);
      else await connection.query(TABLES);
      return Jobs.open(database);
    }),
  );
}

/** Whether anybody has made the tables yet. */
export async function findTables(database: Database): Promise<boolean> {
  return explain(database, () =>
    database.once(async (connection) => {
      if (!(await hasTables(connection))) return false;
      await requireKnown(database, connection);
      return true;
    }),
  );
}

/** Turns what the database objects to into one sentence. */
export async function explain<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isDatabases = isAway(error) || typeof (error as { severity?: unknown }).severity === "string";
    throw isDatabases ? new UsageError(describeFailure(database.address, error)) : error;
  }
}

async function hasTables(connection: Connection): Promise<boolean> {
  const [row] = await connection.query("SELECT to_regclass('rollout.meta') IS NOT NULL AS found");
  return row?.found === true;
}

async function requireKnown({ address }: Database, connection: Connection): Promise<void> {
  const [meta] = await connection.query<{ schema_version: number }>("SELECT schema_version FROM rollout.meta");
  const version = meta?.schema_version ?? 0;
  if (version > SCHEMA_VERSION)
    throw new UsageError(
      `The tables at ${address.place} are of a newer version of rollout (schema ${version}, this one knows ${SCHEMA_VERSION}): update rollout`,
    );
}
