// What is around every view: where one is, and whether the server is there.
import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { Address, pathTo } from "./address.ts";
import { EVERYWHERE, isHelpOpen, useKeys } from "./keys.ts";
import { KeysHelp } from "./keys-help.tsx";
import { pathToTable } from "./last-table.ts";
import { Lost } from "./lost.tsx";
import type { Answer } from "./server.ts";
import { CompareView } from "./views/compare.tsx";
import { DialogueView } from "./views/dialogue.tsx";
import { ReviewView } from "./views/review.tsx";
import { RolloutsView } from "./views/rollouts.tsx";
import { RunView } from "./views/run.tsx";
import { RunsView } from "./views/runs.tsx";
import { SeatView } from "./views/seat.tsx";

export function Page() {
  const { path } = Address;
  const places = placesOf(path);
  const main = useRef<HTMLElement>(null);
  useArrival(path, places.at(-1)?.[0], main);
  useKeys({ g: { does: "all runs", act: () => Address.go("/") } }, EVERYWHERE);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/" aria-current={path.length === 0 ? "page" : undefined}>
          Rollout
        </a>
        <Crumbs places={places} />
        <button
          type="button"
          class="keys-button"
          title="Keys (?)"
          onClick={() => {
            isHelpOpen.value = true;
          }}
        >
          Keys <kbd>?</kbd>
        </button>
      </header>
      <Lost isSeat={path[0] === "seat"} />
      <main id="main" ref={main} tabIndex={-1}>
        <Safe key={path.join("/")}>{viewOf(path)}</Safe>
      </main>
      <KeysHelp />
    </>
  );
}

/** Another view: the tab says which, and whoever reads with the keyboard or by ear begins at its top. */
function useArrival(path: string[], title: string | undefined, main: { current: HTMLElement | null }): void {
  const place = path.join("/");
  const last = useRef(place);
  useEffect(() => {
    document.title = title === undefined ? "Rollout" : `${title} · Rollout`;
    if (last.current !== place && document.activeElement === document.body)
      main.current?.focus({ preventScroll: true });
    last.current = place;
  }, [place]);
}

/** A view that fails on what it is given says so; everything around it works. */
function Safe({ children }: { children: ComponentChildren }) {
  const [error, tryAgain] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  return (
    <p role="alert">
      This cannot be shown: {String(error?.message ?? error)}{" "}
      <button type="button" onClick={tryAgain}>
        Try again
      </button>
    </p>
  );
}

/** Adding a view is adding a file and its line here. */
function viewOf(path: string[]) {
  const [view, name = "", part, dataset = "", id = ""] = path;
  if (view === undefined) return <RunsView />;
  if (view === "compare") return <CompareView />;
  if (view === "run" && part === undefined) return <RunView name={name} />;
  if (view === "run" && part === "rollouts") return <RolloutsView name={name} />;
  if (view === "run" && part === "review") return <ReviewView name={name} />;
  if (view === "run" && part === "rollout" && id !== "") return <DialogueView name={name} dataset={dataset} id={id} />;
  if (view === "seat") return <SeatView />;
  return <Unseen why="There is no such page." />;
}

function Crumbs({ places }: { places: [string, string][] }) {
  if (places.length === 0) return null;
  return (
    <nav aria-label="Where you are">
      <ol class="crumbs">
        {places.map(([label, path], at) => (
          <li key={path}>
            <a href={path} aria-current={at === places.length - 1 ? "page" : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** From the run to the view that is shown: what each is called, and its address. */
function placesOf(path: string[]): [string, string][] {
  const [view, name, part, dataset, id] = path;
  if (view === "compare") return [["compare", location.pathname + location.search]];
  if (view === "seat") return [["your seat", "/seat"]];
  if (view !== "run" || name === undefined) return [];
  const places: [string, string][] = [[name, pathTo("run", name)]];
  if (part !== undefined) places.push(["rollouts", pathToTable(name)]);
  if (part === "review") places.push(["review", location.pathname + location.search]);
  if (dataset !== undefined && id !== undefined) places.push([id, pathTo("run", name, "rollout", dataset, id)]);
  return places;
}

/** Why there is nothing, and the way on. */
function Unseen({ why }: { why: string }) {
  return (
    <>
      <p role="alert">{why}</p>
      <p>
        <a href="/">All runs</a>
      </p>
    </>
  );
}

/** What there is, or why there is nothing. */
export function Shown<T>({ answer, children }: { answer: Answer<T>; children: (value: T) => ComponentChildren }) {
  if (answer.error !== undefined) return <Unseen why={answer.error} />;
  if (answer.value === undefined) return <p role="status">Reading …</p>;
  return <>{children(answer.value)}</>;
}
