// What calls did to the tools' data: after one call, and at the end beside what was expected.
import type { StateChange, StateView } from "../../src/viewer/api.ts";

const SIGNS = { added: "+", changed: "~", deleted: "−", "as before": "=" } as const;

export function ChangeList({ changes }: { changes: StateChange[] }) {
  if (changes.length === 0) return <p class="small">Nothing.</p>;
  return (
    <ul class="changes">
      {changes.map(({ table, id, kind, fields }, at) => (
        <li key={at}>
          <span class={`change ${kind === "deleted" ? "bad" : kind === "added" ? "good" : "odd"}`}>
            {SIGNS[kind]} {kind}
          </span>{" "}
          {table} <strong>{id}</strong>
          {Object.keys(fields).length > 0 && (
            <dl>
              {Object.entries(fields).map(([field, value]) => (
                <div key={field}>
                  <dt>{field}</dt>
                  <dd>{JSON.stringify(value)}</dd>
                </div>
              ))}
            </dl>
          )}
        </li>
      ))}
    </ul>
  );
}

export function FinalState({ states }: { states: StateView }) {
  const { note, final, expected, differences } = states;
  return (
    <section aria-labelledby="state-title" class="final-state">
      <h2 id="state-title">State at the end</h2>
      {note && <p class="small">{note}</p>}
      {differences && differences.length > 0 && (
        <ul class="differences">
          {differences.map((line, at) => (
            <li key={at} class="bad">
              {line}
            </li>
          ))}
        </ul>
      )}
      {final && expected && (
        <>
          {!differences?.length && <p class="good">As expected.</p>}
          <div class="beside">
            <div>
              <h3>As it is</h3>
              <ChangeList changes={final} />
            </div>
            <div>
              <h3>As expected</h3>
              <ChangeList changes={expected} />
            </div>
          </div>
        </>
      )}
    </section>
  );
}
