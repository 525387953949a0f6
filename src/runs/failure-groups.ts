// Failures by reason: sentences that differ only in an id or a number are one reason, shown by the first of them.
import { PROGRAM_COMMAND } from "../core/index.ts";
import type { FailureRecord } from "./failures.ts";

export type FailureGroup = {
  /** the whole sentence of the first one */
  reason: string;
  kind: string;
  count: number;
};

/** More reasons than anyone reads; the rest is counted together. */
const MAX_GROUPS = 50;

export class FailureGroups {
  readonly #groups = new Map<string, FailureGroup>();

  add({ reason, kind }: Omit<FailureGroup, "count">): void {
    const alike = `${kind} ${withoutIds(reason)}`;
    const key = this.#groups.has(alike) || this.#groups.size < MAX_GROUPS ? alike : "";
    const group = this.#groups.get(key) ?? { reason: key === "" ? "other reasons" : reason, kind, count: 0 };
    group.count++;
    this.#groups.set(key, group);
  }

  /** The most frequent first. */
  list(): FailureGroup[] {
    return [...this.#groups.values()].sort((a, b) => b.count - a.count);
  }
}

export function groupFailures(failures: Iterable<Pick<FailureRecord, "error" | "kind">>): FailureGroup[] {
  const groups = new FailureGroups();
  for (const { error, kind } of failures) groups.add({ reason: error, kind });
  return groups.list();
}

/** What to do, by the class of a failure. */
const ADVICE: { [kind: string]: string } = {
  "rate-limit": "Fewer at once (--max-workers), or limits for the model in your models.yml; then try them again.",
  server: "The server's own log says more; try them again once it works.",
  unavailable: "The server failed for everyone; try them again once it works.",
  network: "Check that the server is running and can be reached; then try them again.",
  timeout: "Give it more time (timeout of the party), or fewer at once (--max-workers); then try them again.",
  "bad-reply": `${PROGRAM_COMMAND} doctor --agent-model NAME says what the server can do.`,
  refused: "Correct what the server complains about; then try them again.",
  tool: "Look at the tool server's code or log; then try them again.",
};

export function adviceFor({ kind }: Pick<FailureGroup, "kind">): string | undefined {
  return Object.hasOwn(ADVICE, kind) ? ADVICE[kind] : undefined;
}

/** Addresses and short numbers (a status, a count) tell reasons apart; ids of queries and requests do not. */
function withoutIds(reason: string): string {
  return reason.replace(/https?:\/\/\S+|\b(?=[\w-]*\d)[\w-]{4,}\b/g, (word) => (word.startsWith("http") ? word : "#"));
}
