// What is around every view: where one is, and whether the server is there.
import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Address, pathTo } from "./address.ts";
import { isHelpOpen } from "./keys.ts";
import { KeysHelp } from "./keys-help.tsx";
import { type Answer, isConnected } from "./server.ts";
import { CompareView } from "./views/compare.tsx";
import { DialogueView } from "./views/dialogue.tsx";
import { ReviewView } from "./views/review.tsx";
import { RolloutsView } from "./views/rollouts.tsx";
import { RunView } from "./views/run.tsx";
import { RunsView } from "./views/runs.tsx";
import { SeatView } from "./views/seat.tsx";

export function Page() {
  const { path } = Address;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <a class="brand" href="/">
          Rollout
        </a>
        <nav aria-label="Where you are">{crumbs(path)}</nav>
        {!isConnected.value && (
          <p class="lost" role="status">
            The server cannot be reached; what you see may be old.
          </p>
        )}
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
      <main id="main">
        <Safe key={path.join("/")}>{viewOf(path)}</Safe>
      </main>
      <KeysHelp />
    </>
  );
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
  return <p role="alert">There is no such page.</p>;
}

function crumbs(path: string[]) {
  const [view, name, part, dataset, id] = path;
  if (view !== "run" || name === undefined) return null;
  const places: [string, string][] = [[name, pathTo("run", name)]];
  if (part !== undefined) places.push(["rollouts", pathTo("run", name, "rollouts")]);
  if (dataset !== undefined && id !== undefined) places.push([id, pathTo("run", name, "rollout", dataset, id)]);
  return places.map(([label, path]) => (
    <a key={path} href={path}>
      {label}
    </a>
  ));
}

/** What there is, or why there is nothing. */
export function Shown<T>({ answer, children }: { answer: Answer<T>; children: (value: T) => ComponentChildren }) {
  if (answer.error !== undefined) return <p role="alert">{answer.error}</p>;
  if (answer.value === undefined) return <p role="status">Reading …</p>;
  return <>{children(answer.value)}</>;
}
