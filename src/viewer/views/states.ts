// What the calls did to the tools' data. Nothing is run for it: a look at a dialogue starts no process and no code of a
// dataset. Scoring has made the calls again, and its `state` check keeps what it saw.
import { isObject, type JsonObject, PROGRAM_COMMAND, type StateChanges } from "../../core/index.ts";
import type { ScoreRecord } from "../../scoring/index.ts";
import type { StateChange, StateView } from "../api.ts";

export function statesIn(results: readonly ScoreRecord[], folder: string): StateView {
  const result = results.find(({ check }) => check === "state");
  const command = `${PROGRAM_COMMAND} eval ${folder}`;
  if (!result) return { changes: {}, note: `What the calls changed is known once the run is scored: ${command}` };
  const { state, expected, changes, diff } = isObject(result.details) ? result.details : {};
  const differences = Array.isArray(diff) ? diff.map(String) : undefined;
  if (!isObject(state) && !isObject(changes)) {
    const why =
      result.pass === null
        ? result.reason
        : `too large to be kept, or scored by an earlier version: ${command} --force`;
    return { changes: {}, differences, note: `What the calls changed is not known (${why})` };
  }
  return {
    changes: Object.fromEntries(
      Object.entries(isObject(changes) ? changes : {}).map(([call, made]) => [call, listRecords(made)]),
    ),
    ...endOf(isObject(changes) ? addUp(Object.values(changes)) : state, expected),
    differences,
  };
}

/** A state that passed is the expected one, but for ids and fields that may differ. */
function endOf(state: unknown, expected: unknown): Pick<StateView, "final" | "expected"> {
  const final = listRecords(state);
  return { final, expected: isObject(expected) ? listRecords(expected) : final };
}

/** What all calls together left behind. */
function addUp(changes: readonly unknown[]): StateChanges {
  const sum: StateChanges = Object.create(null); // a table may have any name
  for (const { table, id, kind, fields } of changes.flatMap(listRecords)) {
    sum[table] ??= Object.create(null);
    const own = sum[table] as StateChanges[string];
    if (kind === "as before") delete own[id];
    else own[id] = kind === "deleted" ? null : { ...own[id], ...fields };
  }
  return sum;
}

function listRecords(state: unknown): StateChange[] {
  return Object.entries(isObject(state) ? (state as StateChanges) : {}).flatMap(([table, rows]) =>
    Object.entries(isObject(rows) ? rows : {}).map(([id, row]) => {
      const fields = isObject(row) ? (row as JsonObject) : {};
      return { table, id, kind: row === null ? "deleted" : kindOf(fields, id), fields };
    }),
  );
}

/** A new record holds all of its fields, its id among them. */
function kindOf(row: JsonObject, id: string): StateChange["kind"] {
  if (Object.keys(row).length === 0) return "as before";
  return Object.values(row).includes(id) ? "added" : "changed";
}
