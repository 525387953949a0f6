// What `rollout check` found: a list of findings, each with its location and said once.
import { type Location, UsageError } from "../core/index.ts";

/** An error keeps a domain or one of its tools from working; a warning is odd but harmless. */
export type Finding = { level: "error" | "warning"; message: string; location?: Location };

export class CheckReport {
  domains = 0;
  queries = 0;
  tools = 0;
  /** tools that were called to see whether they work */
  called = 0;
  readonly findings: Finding[] = [];

  warn(message: string, location?: Location): void {
    this.findings.push({ level: "warning", message, location });
  }

  fail(message: string, location?: Location): void {
    this.findings.push({ level: "error", message, location });
  }

  /** The same complaint may come from several readers of a file: it is reported once. */
  note(error: unknown): void {
    if (!(error instanceof UsageError)) throw error;
    const { reason: message, location } = error;
    const told = this.findings.some(
      (finding) =>
        finding.message === message &&
        finding.location?.file === location?.file &&
        finding.location?.line === location?.line,
    );
    if (!told) this.fail(message, location);
  }

  hasErrorIn(files: readonly string[]): boolean {
    return this.findings.some(({ level, location }) => level === "error" && files.includes(location?.file ?? ""));
  }
}
