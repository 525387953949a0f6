// Before a run: servers that are started for one query each can be started for all of them.
import { atLocation } from "../core/index.ts";
import type { McpHub } from "../tools/index.ts";
import type { QueryFile } from "./query-file.ts";

type Asked = { queries: QueryFile; chosen: readonly number[] };

/** Told with the query's file and line. */
export function requireWorlds(dataset: string, hub: McpHub, { queries, chosen }: Asked): void {
  for (const index of hub.hasPlaces ? chosen : [])
    atLocation(queries.location(index), () => hub.requireWorld({ dataset, seed: 0, query: queries.load(index) }));
}
