// What is said once the server is gone: what that may mean, and the command that shows the runs again.
import { useEffect } from "preact/hooks";
import type { RunCard } from "../src/viewer/api.ts";
import { copy } from "./dialogue/copy.tsx";
import { quote } from "./quote.ts";
import { countChanges, get, isConnected } from "./server.ts";

/** Where the runs are, told while somebody could tell. */
let folders: readonly string[] = [];

export function Lost({ isSeat }: { isSeat: boolean }) {
  const isHere = isConnected.value;
  // a run that serves its own page may not have begun when the page is opened
  const looks = folders.length === 0 ? countChanges() : -1;
  useEffect(() => {
    if (isHere) void get<RunCard[]>("/api/runs").then(({ value }) => remember(value));
  }, [isHere, looks]);
  if (isHere) return null;
  return (
    <div class="lost" role="status">
      <p>
        <strong>The server cannot be reached; what you see may be old.</strong> It was stopped, or it was part of a run
        (<code>--view</code>) that is over.
      </p>
      {isSeat && <Command does="To go on with the dialogue" command="resume" />}
      <Command does="To look again" command="view" />
    </div>
  );
}

function Command({ does, command }: { does: string; command: string }) {
  if (folders.length === 0) return null;
  const text = `npx rollout ${command} ${folders.map(quote).join(" ")}`;
  return (
    <p>
      {does}: <code>{text}</code>{" "}
      <button type="button" onClick={() => void copy(text)}>
        Copy
      </button>
    </p>
  );
}

const MANY = 2;

/** Of many runs, the folders that hold them. */
function remember(runs: readonly RunCard[] | undefined): void {
  if (!runs) return;
  const own = runs.map(({ folder }) => folder);
  const parents = own.map((folder) => folder.replace(/[\\/][^\\/]+[\\/]?$/, "") || folder);
  folders = [...new Set(own.length > MANY ? parents : own)].slice(0, MANY + 1);
}
