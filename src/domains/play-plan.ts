// A query's reference plan, executed: what a flawless agent's calls return and leave behind.
import {
  contentHash,
  fillPlaceholders,
  type JsonObject,
  listAllCalls,
  type PartyCall,
  type PlayedCall,
  type Query,
  type StateChanges,
  type ToolResult,
  toPlain,
  type World,
  writeExact,
} from "../core/index.ts";
import type { Domain } from "./domain.ts";
import { openTask } from "./open-task.ts";

export type PlayedPlan = {
  /** `changes`: whether the call changed any record */
  calls: (PlayedCall & { arguments: string; by?: "user"; result: ToolResult; changes: boolean })[];
  state: StateChanges;
};

/** A planned call has effects that others share, so it cannot be made for trying it out. */
export class SharedEffects extends Error {
  override name = "SharedEffects";
}

export function playPlan(
  domain: Domain,
  query: Query,
  world: Pick<World, "seed" | "rollout"> = { seed: 0 },
): Promise<PlayedPlan> {
  const calls = listAllCalls(query.taskInfo.plan ?? []);
  const fill = ({ arguments: args }: PartyCall, played: readonly PlayedCall[]) => fillPlaceholders(args, played);
  return playCalls(domain, calls, fill, { ...world, query });
}

/** Throws SharedEffects. `fill` gives a call's real arguments, from what earlier calls returned. */
export async function playCalls<Call extends PartyCall>(
  domain: Domain,
  planned: readonly Call[],
  fill: (call: Call, played: readonly PlayedCall[]) => JsonObject,
  world: World = { seed: 0 },
): Promise<PlayedPlan> {
  const environment = await openTask(domain, world);
  const calls: PlayedPlan["calls"] = [];
  try {
    let state = await environment.state();
    for (const [index, call] of planned.entries()) {
      const args = writeExact(fill(call, calls));
      const wire = domain.toolbox.wireName(call.name);
      const made = { id: `ref_${index}`, name: wire, arguments: args, by: call.by };
      if (environment.trust?.(made, { content: "", isError: false })) throw new SharedEffects(call.name);
      const result = await environment.call(made, AbortSignal.any([]));
      const before = state;
      if (!environment.isReadOnly(wire)) state = await environment.state();
      const changes = state !== before && contentHash(state) !== contentHash(before);
      calls.push({ name: call.name, arguments: args, by: call.by, content: result.content, result, changes });
    }
    return { calls, state };
  } finally {
    await environment.close();
  }
}

/** The expected final state with its references filled from the played calls; undefined if the query has none. */
export function expectedState(query: Query, played: readonly PlayedCall[]): StateChanges | undefined {
  const expected = query.taskInfo.expected_state;
  return expected && toPlain(fillPlaceholders(expected, played));
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
