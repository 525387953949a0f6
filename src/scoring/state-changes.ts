// What happened between two looks at the tools' data.
import { canonicalJson, type StateChanges } from "../core/index.ts";

/** In the form of a state: fields that are other than before, null for what was deleted, {} for what is as it first was. */
export function subtractStates(after: StateChanges, before: StateChanges): StateChanges {
  const changes: StateChanges = {};
  for (const table of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[table] ?? {}, after[table] ?? {}];
    for (const id of new Set([...Object.keys(was), ...Object.keys(is)])) {
      const change = subtractRows(is[id], was[id]);
      if (change !== undefined) changes[table] = { ...changes[table], [id]: change };
    }
  }
  return changes;
}

type Row = StateChanges[string][string];

function subtractRows(is: Row | undefined, was: Row | undefined): Row | undefined {
  if (is === undefined || is === null) {
    if (is === was) return undefined;
    return is === null ? null : {};
  }
  if (was === undefined || was === null) return is;
  const fields = Object.keys(is).filter((field) => !isSame(is[field], was[field]));
  const isUndone = Object.keys(was).some((field) => !(field in is));
  if (fields.length === 0 && !isUndone) return undefined;
  return Object.fromEntries(fields.map((field) => [field, is[field] ?? null]));
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
