// No two rollouts of a dataset share an id: query `a#1` and rollout 1 of query `a` would.
import { formatLocation, namesakeOf, type RolloutKey, rolloutId, UsageError } from "../core/index.ts";
import type { QueryFile } from "../domains/index.ts";

type Dataset = { name: string; queries: QueryFile };

/** Before anything is written: among the queries themselves. */
export function requireOwnIds({ name, queries }: Dataset, rounds: number): void {
  const twin = queries.twins.find(({ rollout }) => rollout < rounds);
  if (!twin) return;
  const { id, place, other, otherPlace, rollout } = twin;
  throw new UsageError(
    `${name}: the id "${id}" of this query is also that of rollout ${rollout} of query "${other}" (${formatLocation(otherPlace)}). Rename one of the two, or make no more than ${rollout} rollout${rollout === 1 ? "" : "s"} of each query`,
    place,
  );
}

export type MadeRollouts = {
  has(key: Omit<RolloutKey, "dataset">): boolean;
  /** queries with a first rollout there whose ids may be those of other queries' rollouts */
  odd: readonly string[];
};

/** Among the queries and what the run folder holds, which may be of queries or rounds that are no longer asked for. */
export function requireIdsApart({ name, queries }: Dataset, rounds: number, made: MadeRollouts): void {
  const ids = new Set(made.odd.length > 0 ? queries.ids : []);
  const clash =
    queries.ids.map(namesakeOf).find((twin) => twin && made.has(twin)) ??
    made.odd
      .map(namesakeOf)
      .find((twin) => twin && (made.has(twin) || (ids.has(twin.queryId) && twin.rollout < rounds)));
  if (!clash) return;
  const id = rolloutId(clash);
  throw new UsageError(
    `${name}: query "${id}" and rollout ${clash.rollout} of query "${clash.queryId}" would both have the id "${id}" in this run. Rename the query, or start a new run with --no-resume`,
  );
}
