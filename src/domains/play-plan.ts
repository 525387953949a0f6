// A query's reference plan, executed: what a flawless agent's calls return and leave behind.
import {
  fillPlaceholders,
  listPlannedCalls,
  type PlayedCall,
  type Query,
  type StateChanges,
  type ToolResult,
} from "../core/index.ts";
import type { Domain } from "./domain.ts";

export type PlayedPlan = {
  calls: (PlayedCall & { arguments: string; result: ToolResult })[];
  state: StateChanges;
};

export async function playPlan(domain: Domain, query: Query, seed = 0): Promise<PlayedPlan> {
  const environment = await domain.openEnvironment(seed);
  const calls: PlayedPlan["calls"] = [];
  try {
    for (const [index, call] of listPlannedCalls(query.taskInfo.plan ?? []).entries()) {
      const args = JSON.stringify(fillPlaceholders(call.arguments, calls));
      const wire = domain.toolbox.resolve(call.name)?.spec.name ?? call.name;
      const result = await environment.call({ id: `ref_${index}`, name: wire, arguments: args }, AbortSignal.any([]));
      calls.push({ name: call.name, arguments: args, content: result.content, result });
    }
    return { calls, state: await environment.state() };
  } finally {
    await environment.close();
  }
}

/** The expected final state with its references filled from the played calls; undefined if the query has none. */
export function expectedState(query: Query, played: readonly PlayedCall[]): StateChanges | undefined {
  const expected = query.taskInfo.expected_state;
  return expected && fillPlaceholders(expected, played);
}

/** A state without the fields that the domain declares volatile. */
export function withoutVolatile(state: StateChanges, volatile: { [table: string]: string[] }): StateChanges {
  const kept: StateChanges = {};
  for (const [table, rows] of Object.entries(state)) {
    const fields = volatile[table] ?? [];
    const entries = Object.entries(rows).map(([id, row]) => [
      id,
      row && Object.fromEntries(Object.entries(row).filter(([field]) => !fields.includes(field))),
    ]);
    kept[table] = Object.fromEntries(entries);
  }
  return kept;
}
