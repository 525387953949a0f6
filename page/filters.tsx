// What the table is filtered by: values that the rollouts have, numbers, the id, and a text of the dialogue.
import type { TableView } from "../src/viewer/api.ts";
import { Address } from "./address.ts";
import { count, exactTime } from "./text.ts";

/** In this order; a facet without a title here is shown under its own name. */
const TITLES: { [member: string]: string } = {
  dataset: "Dataset",
  verdict: "Verdict",
  ended: "Regular end",
  stop: "Stop reason",
  failed: "Failed check",
  passed: "Passed check",
  blame: "Blame",
  fault: "Trouble",
  tool: "Tool used",
  annotation: "Annotation",
  tag: "Tag of an annotator",
  judge: "Judged by",
};

const RANGES: { [column: string]: string } = {
  score: "Score",
  turns: "Turns",
  steps: "Steps",
  calls: "Tool calls",
  errors: "Tool errors",
  tokens: "Tokens",
  cost: "Cost, $",
  seconds: "Seconds",
};

export function Filters({ table }: { table: TableView }) {
  const { facets, search } = table;
  const { params } = Address;
  const members = [...new Set([...Object.keys(TITLES), ...Object.keys(facets)])];
  const inUse = [...params.keys()].filter((name) => !["sort", "order", "offset", "limit"].includes(name)).length;
  const isSearching = search !== undefined && search.searched < search.total;
  const form = (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <Field id="search" name="text" type="search" title="Text in the dialogue" />
      {search && (
        <p role="status" class="small">
          {isSearching
            ? `Searched ${count(search.searched)} of ${count(search.total)} … `
            : `${(search.bytes / 1e6).toFixed(search.bytes < 1e7 ? 1 : 0)} MB searched in ${(search.milliseconds / 1000).toFixed(1)} s. `}
          {isSearching && (
            <button type="button" onClick={() => Address.go(Address.with({ text: null, offset: null }), true)}>
              Cancel
            </button>
          )}
        </p>
      )}
      <Field name="id" type="search" title="Id holds" />
      {inUse > 0 && (
        <p>
          <a href={unfiltered()}>Remove all filters</a>
        </p>
      )}
      {members.map((member) => (
        <Facet key={member} member={member} values={facets[member] ?? {}} />
      ))}
      <details
        open={Object.keys(RANGES).some((column) => params.has(`${column}.from`) || params.has(`${column}.below`))}
      >
        <summary>Numbers</summary>
        {Object.entries(RANGES).map(([column, title]) => (
          <fieldset key={column} class="range">
            <legend>{title}</legend>
            <Field name={`${column}.from`} type="number" label={`${title}, at least`} placeholder="at least" />
            <Field name={`${column}.below`} type="number" label={`${title}, below`} placeholder="below" />
          </fieldset>
        ))}
      </details>
      {(params.has("ended.from") || params.has("ended.below")) && (
        <p class="small">
          Ended {timeText("from", params.get("ended.from"))} {timeText("before", params.get("ended.below"))}{" "}
          <a href={Address.with({ "ended.from": null, "ended.below": null, offset: null })}>at any time</a>
        </p>
      )}
    </form>
  );
  return innerWidth > NARROW ? (
    form
  ) : (
    <details class="filters-fold">
      <summary>Filters and search{inUse > 0 && ` (${inUse} in use)`}</summary>
      {form}
    </details>
  );
}

/** The order stays. */
export function unfiltered(): string {
  const kept = new URLSearchParams([...Address.params].filter(([name]) => name === "sort" || name === "order"));
  return location.pathname + (kept.size > 0 ? `?${kept}` : "");
}

function timeText(word: string, milliseconds: string | null): string {
  const time = new Date(Number(milliseconds));
  return milliseconds === null || Number.isNaN(time.getTime()) ? "" : `${word} ${exactTime(time.getTime())}`;
}

type FieldProps = {
  name: string;
  type: "search" | "number";
  id?: string;
  /** above it; a field without one has a label that is not seen */
  title?: string;
  label?: string;
  placeholder?: string;
};

/** Goes into the address on Enter, or when the field is left. */
function Field({ name, type, id = name, title, label, placeholder }: FieldProps) {
  const value = Address.params.get(name) ?? "";
  const apply = (text: string) => {
    if (text !== (Address.params.get(name) ?? "")) Address.go(Address.with({ [name]: text || null, offset: null }));
  };
  return (
    <div>
      {title && <label for={id}>{title}</label>}
      <input
        key={value}
        id={id}
        type={type as "number"}
        step="any"
        aria-label={label}
        placeholder={placeholder}
        defaultValue={value}
        onKeyDown={(event) => event.key === "Enter" && apply(event.currentTarget.value)}
        onChange={(event) => apply(event.currentTarget.value)}
      />
    </div>
  );
}

const MAX_VALUES = 60;

/** Values of one facet are alternatives; several facets must all fit. */
function Facet({ member, values }: { member: string; values: { [value: string]: number } }) {
  const chosen = Address.params.getAll(member);
  const all = [...new Set([...chosen, ...Object.keys(values)])].slice(0, MAX_VALUES + chosen.length);
  if (all.length === 0) return null;
  const toggle = (value: string) => {
    const next = chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value];
    Address.go(Address.with({ [member]: next, offset: null }));
  };
  return (
    <details open={chosen.length > 0 || (OPEN.has(member) && innerWidth > NARROW)}>
      <summary>
        {TITLES[member] ?? member}
        {chosen.length > 0 && ` (${chosen.length})`}
      </summary>
      <fieldset>
        <legend class="hidden">{TITLES[member] ?? member}</legend>
        {all.map((value) => (
          <label key={value} class="value">
            <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
            <span>{value}</span>
            <span class="small">{count(values[value] ?? 0)}</span>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

const NARROW = 800;
/** Where there is room. */
const OPEN = new Set(["dataset", "verdict", "stop"]);
