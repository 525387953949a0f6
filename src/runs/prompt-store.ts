// System prompts and tool lists that were actually sent, each once, by content hash.
import {
  contentHash,
  isObject,
  type JsonObject,
  parseJson,
  type ToolSpec,
  toFunctionTools,
  writeExact,
} from "../core/index.ts";
import { AppendFile, type AppendOptions, escapeLineEnds, scanLines } from "../files/index.ts";

export type StoredPrompt =
  | { hash: string; kind: "system"; content: string }
  | { hash: string; kind: "tools"; content: JsonObject[] };

export class PromptStore {
  readonly #file: AppendFile;
  /** by hash: resolves once it is written */
  readonly #known = new Map<string, Promise<void>>();
  readonly #toolHashes = new WeakMap<readonly ToolSpec[], Promise<string>>();

  constructor(path: string, options: AppendOptions) {
    const completeBytes = scanLines(path, ({ bytes }) => {
      const stored = parseJson(bytes.toString("utf8"));
      if (isObject(stored)) this.#known.set(String(stored.hash), Promise.resolve());
    });
    this.#file = new AppendFile(path, { ...options, completeBytes });
  }

  async keepSystem(text: string): Promise<string> {
    return this.#keep({ hash: contentHash(text), kind: "system", content: text });
  }

  /** Every rollout of a domain uses the same list object: it is hashed once. */
  keepTools(tools: readonly ToolSpec[]): Promise<string> {
    const known = this.#toolHashes.get(tools);
    if (known) return known;
    const content = toFunctionTools(tools);
    const hash = this.#keep({ hash: contentHash(content), kind: "tools", content });
    this.#toolHashes.set(tools, hash);
    return hash;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #keep(prompt: StoredPrompt): Promise<string> {
    let kept = this.#known.get(prompt.hash);
    if (!kept) {
      kept = this.#file.append(`${escapeLineEnds(writeExact(prompt))}\n`);
      this.#known.set(prompt.hash, kept);
    }
    await kept;
    return prompt.hash;
  }
}
