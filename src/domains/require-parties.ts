// Before a run: what its queries want beyond the dialogue can be had. The user's tools are there, and setups are made where
// they are seen by one rollout only.
import { atLocation, type Environment } from "../core/index.ts";
import type { Domain } from "./domain.ts";
import { requireTools, setupCalls } from "./open-task.ts";
import type { QueryFile } from "./query-file.ts";

type Asked = { queries: QueryFile; chosen: readonly number[] };

/** Told with the query's file and line. */
export async function requireParties(domain: Domain, asked: Asked): Promise<void> {
  const { queries } = asked;
  for (const index of asked.chosen.filter((each) => queries.hasParties(each))) {
    const patterns = queries.load(index).userTools ?? [];
    atLocation(queries.location(index), () => patterns.forEach((pattern) => void requireTools(domain, pattern)));
  }
  await requireOwnSetups(domain, asked);
}

export async function requireOwnSetups(domain: Domain, { queries, chosen }: Asked): Promise<void> {
  let environment: Environment | undefined;
  try {
    for (const index of domain.shared?.length || domain.stateless?.length
      ? chosen.filter((each) => queries.hasParties(each))
      : []) {
      const query = queries.load(index);
      if (!query.setup?.length) continue;
      const opened = environment ?? (await domain.openEnvironment({ seed: 0, query }));
      environment = opened;
      atLocation(queries.location(index), () => setupCalls(opened, domain, query));
    }
  } finally {
    await environment?.close();
  }
}
