// What a query's reward is computed from: the calls of its reference, executed; without one, those of its best-scored
// rollout. A rollout that failed its checks is no truth.
import { type Json, parseExact, UsageError, type Variables } from "../core/index.ts";
import { References } from "../scoring/index.ts";
import { isScored, isSolved } from "./choose.ts";
import type { GroundTruth } from "./formats/format.ts";
import type { ExportRecord } from "./record.ts";

export const NO_TRUTH =
  "its query has no reference that can be executed, and no rollout that solves it (--all takes it in)";

export class GroundTruths {
  readonly #options: { basePath?: string; env?: Variables; all?: boolean };
  readonly #runs = new Map<string, References | undefined>();
  /** why the references of a run could not be used */
  readonly notices = new Set<string>();

  constructor(options: { basePath?: string; env?: Variables; all?: boolean }) {
    this.#options = options;
  }

  /** For the best rollout of its query; undefined if there is no truth. */
  async find(record: ExportRecord, run: string | undefined): Promise<GroundTruth | undefined> {
    const { mode = "positive" } = record.metadata;
    if (mode !== "positive") return { from: `mode ${mode}`, calls: [] };
    const reference = await (await this.#open(run))?.find(record.dataset, record.query_id);
    if (reference) return { from: reference.source, calls: reference.calls };
    if (isScored(record) && !isSolved(record) && !this.#options.all) return undefined;
    const calls = record.messages.flatMap((message) =>
      message.role === "assistant"
        ? (message.tool_calls ?? []).map(({ function: { name, arguments: given } }) => ({
            name,
            arguments: (parseExact(given) ?? given) as Json,
          }))
        : [],
    );
    return { from: `rollout ${record.id}`, score: record.score, calls };
  }

  async close(): Promise<void> {
    for (const references of this.#runs.values()) await references?.close();
  }

  async #open(run: string | undefined): Promise<References | undefined> {
    if (run === undefined) return undefined;
    if (!this.#runs.has(run)) this.#runs.set(run, await this.#tryToOpen(run));
    return this.#runs.get(run);
  }

  async #tryToOpen(run: string): Promise<References | undefined> {
    try {
      return await References.open(run, this.#options);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.notices.add(`references are not used: ${error.message}`);
      return undefined;
    }
  }
}
