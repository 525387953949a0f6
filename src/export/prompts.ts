// The system prompts and tool lists that were actually sent, looked up by the hashes in a record.
import { join } from "node:path";
import { isObject, type JsonObject, parseExact } from "../core/index.ts";
import { scanLines } from "../files/index.ts";
import type { ExportRecord } from "./record.ts";

export class PromptBook {
  readonly #systems = new Map<string, string>();
  readonly #tools = new Map<string, JsonObject[]>();

  constructor(run: string) {
    scanLines(join(run, "prompts.jsonl"), ({ bytes }) => {
      const stored = parseExact(bytes.toString("utf8"));
      if (!isObject(stored) || typeof stored.hash !== "string") return;
      if (stored.kind === "system" && typeof stored.content === "string")
        this.#systems.set(stored.hash, stored.content);
      if (stored.kind === "tools" && Array.isArray(stored.content))
        this.#tools.set(stored.hash, stored.content as JsonObject[]);
    });
  }

  /** Fills in what the record itself does not hold. */
  label(record: ExportRecord): void {
    const { system_hash, tools_hash } = record.metadata;
    record.system ??= this.#systems.get(system_hash ?? "");
    record.tools ??= this.#tools.get(tools_hash ?? "");
  }
}
