// Who annotates on this page: the name that the server was started with, unless another was given here.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "./server.ts";

const STORED = "annotator";
type Stored = { name: string; insteadOf: string };

const given = signal<string | undefined>(undefined);
const chosen = signal<Stored | undefined>(readStored());

/** Undefined until the server has told its name. */
export function useAnnotator(): string | undefined {
  useEffect(() => {
    if (given.value !== undefined) return;
    void get<{ name: string }>("/api/annotator").then(({ value }) => {
      given.value = value?.name ?? given.value;
    });
  }, []);
  const own = chosen.value;
  // a server that was started for somebody else is theirs
  return own !== undefined && own.insteadOf === given.value ? own.name : given.value;
}

export function renameAnnotator(name: string): void {
  const short = name.replace(/\s+/g, " ").trim();
  if (short === "" || given.value === undefined) return;
  chosen.value = { name: short, insteadOf: given.value };
  try {
    localStorage.setItem(STORED, JSON.stringify(chosen.value));
  } catch {
    // then it lasts as long as the page
  }
}

function readStored(): Stored | undefined {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED) ?? "null") as Stored | null;
    return typeof stored?.name === "string" ? stored : undefined;
  } catch {
    return undefined;
  }
}
