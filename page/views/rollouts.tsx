// The table of a run's rollouts. What it shows is all in the address.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { TableRow, TableView } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { PickButton } from "../compare/pick.tsx";
import { writePlace } from "../compare/place.ts";
import { Filters, unfiltered } from "../filters.tsx";
import { useKeys } from "../keys.ts";
import { rememberTable } from "../last-table.ts";
import { focused, focusNext } from "../rows.ts";
import { useServer } from "../server.ts";
import { ago, count, dollars, duration, exactTime, scoreText } from "../text.ts";
import { AnnotationCell } from "./annotate.tsx";
import { ReviewLink } from "./review.tsx";
import "./rollouts.css";

const PAGE = 100;

export function RolloutsView({ name }: { name: string }) {
  rememberTable(name, Address.params.toString());
  const answer = useServer<TableView>(
    `/api${pathTo("run", name, "rollouts")}?${Address.params}`,
    name,
    ({ search }) => search !== undefined && search.searched < search.total,
  );
  // with other filters the old table stays until the new one is there
  const last = useRef<{ name: string; value: TableView }>(undefined);
  if (answer.value) last.current = { name, value: answer.value };
  const table = answer.value ?? (last.current?.name === name && !answer.error ? last.current.value : undefined);
  useKeys(keysFor(table), "Table");
  if (answer.error !== undefined) return <p role="alert">{answer.error}</p>;
  if (!table) return <p role="status">Reading …</p>;
  return (
    <>
      <div class="page-head">
        <h1>
          {count(table.chosen)} of {count(table.total)} rollouts
        </h1>
        {table.chosen > 0 && <ReviewLink name={name} />}
      </div>
      {!table.isWhole && <p role="status">Reading … {Math.floor(table.progress * 100)} %; more will come.</p>}
      <div class="with-filters">
        <Filters table={table} />
        <div>
          <Pages table={table} />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard */}
          <section class="scrolled" aria-label="Rollouts" aria-busy={answer.value === undefined} tabIndex={0}>
            {table.rows.length > 0 && <Table table={table} name={name} />}
          </section>
          {table.rows.length === 0 && table.isWhole && <Nothing table={table} />}
          {table.rows.length > 20 && <Pages table={table} />}
        </div>
      </div>
    </>
  );
}

function Nothing({ table: { total, chosen, search } }: { table: TableView }) {
  if (total === 0) return <p>No rollout has been finished yet; each appears here as soon as it is.</p>;
  if (search && search.searched < search.total) return null;
  return (
    <p>
      {chosen === 0 ? "No rollout fits all of these filters. " : "There are no more rollouts on this page. "}
      {chosen === 0 ? (
        <a href={unfiltered()}>Show all {count(total)}</a>
      ) : (
        <a href={Address.with({ offset: null })}>Back to the first page</a>
      )}
    </p>
  );
}

type Column = { sort: string; title: string; isNumber?: boolean; show: (row: TableRow) => ComponentChildren };

/** The first column, the id, is a link. */
const COLUMNS: readonly Column[] = [
  { sort: "dataset", title: "dataset", show: (row) => <Short text={row.dataset} /> },
  { sort: "verdict", title: "verdict", show: (row) => row.verdict },
  {
    sort: "score",
    title: "score",
    isNumber: true,
    show: (row) => (row.score === null ? "–" : scoreText(row.score)),
  },
  { sort: "stop", title: "stop reason", show: (row) => <Short text={row.stopReason} /> },
  { sort: "blame", title: "blame", show: (row) => row.blame },
  { sort: "turns", title: "turns", isNumber: true, show: (row) => count(row.turns) },
  { sort: "steps", title: "steps", isNumber: true, show: (row) => count(row.steps) },
  { sort: "calls", title: "calls", isNumber: true, show: (row) => count(row.toolCalls) },
  { sort: "errors", title: "errors", isNumber: true, show: (row) => count(row.toolErrors) },
  { sort: "tokens", title: "tokens", isNumber: true, show: (row) => count(row.tokens) },
  { sort: "cost", title: "cost", isNumber: true, show: (row) => dollars(row.costUsd) },
  { sort: "seconds", title: "time", isNumber: true, show: (row) => duration(row.seconds) },
  {
    sort: "ended",
    title: "ended",
    show: (row) => <span title={exactTime(row.endedAt)}>{ago(row.endedAt)}</span>,
  },
  { sort: "annotation", title: "annotation", show: (row) => <AnnotationCell {...row} /> },
];

/** Cut where it is long; whole on hover, and to whoever listens. */
function Short({ text }: { text: string }) {
  return (
    <span class="short" title={text}>
      {text}
    </span>
  );
}

function Table({ table: { rows, facets }, name }: { table: TableView; name: string }) {
  const isAnnotated = Object.keys(facets.annotation ?? {}).some((word) => word !== "none");
  const columns = COLUMNS.filter(({ sort }) => sort !== "annotation" || isAnnotated);
  return (
    <table class="rollouts">
      <thead>
        <tr>
          <Head sort="id" title="rollout" />
          {columns.map(({ sort, title, isNumber }) => (
            <Head key={sort} sort={sort} title={title} isNumber={isNumber} />
          ))}
          <th scope="col">compare</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.dataset} ${row.id}`}>
            <th scope="row">
              <a class="rollout" href={pathTo("run", name, "rollout", row.dataset, row.id)}>
                {row.id}
              </a>
              {row.excerpt !== undefined && <div class="small excerpt">{row.excerpt}</div>}
            </th>
            {columns.map(({ sort, isNumber, show }) => (
              <td key={sort} class={`${isNumber ? "number" : ""} ${sort === "verdict" ? classOf(row.verdict) : ""}`}>
                {show(row)}
              </td>
            ))}
            <td class="last">
              <PickButton place={writePlace(name, row.dataset, row.id)} name={row.id} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf(verdict: string): string {
  return verdict === "solved" ? "good" : verdict === "failed" ? "bad" : "";
}

function Head({ sort, title, isNumber = false }: { sort: string; title: string; isNumber?: boolean }) {
  const { params } = Address;
  const isSorted = (params.get("sort") ?? "ended") === sort;
  const isUp = params.get("order") === "up";
  // texts begin with the first, numbers with the largest
  const order = isSorted ? (isUp ? null : "up") : isNumber || sort === "ended" ? null : "up";
  return (
    <th
      scope="col"
      class={isNumber ? "number" : ""}
      aria-sort={isSorted ? (isUp ? "ascending" : "descending") : "none"}
    >
      <a href={Address.with({ sort, order, offset: null })}>
        {title}
        {isSorted && <span class={`sorted ${isUp ? "up" : "down"}`} />}
      </a>
    </th>
  );
}

function Pages({ table: { chosen, offset, rows } }: { table: TableView }) {
  if (chosen <= rows.length && offset === 0) return null;
  const to = (start: number) => Address.with({ offset: start <= 0 ? null : String(start) });
  const last = Math.floor((chosen - 1) / PAGE) * PAGE;
  return (
    <nav class="pages" aria-label="Pages">
      {offset > 0 && <a href={to(0)}>first</a>}
      {offset > 0 && <a href={to(offset - PAGE)}>previous</a>}
      <span>
        {count(Math.min(offset + 1, chosen))} – {count(Math.min(offset + rows.length, chosen))} of {count(chosen)}
      </span>
      {offset + rows.length < chosen && <a href={to(offset + PAGE)}>next</a>}
      {offset + rows.length < chosen && <a href={to(last)}>last</a>}
    </nav>
  );
}

function keysFor(table: TableView | undefined) {
  const page = (by: number) => {
    const start = (table?.offset ?? 0) + by * PAGE;
    if (table && start >= 0 && start < table.chosen)
      Address.go(Address.with({ offset: start === 0 ? null : String(start) }));
  };
  return {
    "j ArrowDown": { does: "the next rollout; Enter opens it", act: () => focusNext("a.rollout", 1) },
    "k ArrowUp": { does: "the one before", act: () => focusNext("a.rollout", -1) },
    "n ArrowRight": { does: "the next page", act: () => page(1) },
    "p ArrowLeft": { does: "the page before", act: () => page(-1) },
    c: {
      does: "compare the rollout that has the focus; press it at the second one, too",
      act: () => focused("button.pick")?.click(),
    },
    "/": { does: "search in the dialogues", act: () => goToSearch() },
  };
}

function goToSearch(): void {
  const field = document.querySelector<HTMLElement>("#search");
  const fold = field?.closest("details");
  if (fold) fold.open = true;
  field?.focus();
}
