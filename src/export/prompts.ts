// The system prompts and tool lists that were actually sent, looked up by the hashes in a record.
import { join } from "node:path";
import type { JsonObject } from "../core/index.ts";
import { type DamagedLine, leftOut, type StoredPrompt, scanPrompts } from "../runs/index.ts";
import type { ExportRecord } from "./record.ts";

export class PromptBook {
  readonly #systems = new Map<string, string>();
  readonly #tools = new Map<string, JsonObject[]>();

  constructor(run: string, onNotice: (message: string) => void) {
    const file = join(run, "prompts.jsonl");
    const damaged: DamagedLine[] = [];
    const add = (stored: StoredPrompt) => {
      if (stored.kind === "system") this.#systems.set(stored.hash, stored.content);
      else this.#tools.set(stored.hash, stored.content);
    };
    scanPrompts(file, add, (line) => damaged.push(line));
    if (damaged.length > 0) onNotice(leftOut(file, damaged));
  }

  /** Fills in what the record itself does not hold. */
  label(record: ExportRecord): void {
    const { system_hash, tools_hash } = record.metadata;
    record.system ??= this.#systems.get(system_hash ?? "");
    record.tools ??= this.#tools.get(tools_hash ?? "");
  }
}
