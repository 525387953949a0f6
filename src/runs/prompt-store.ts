// System prompts and tool lists that were really sent, each once, by content hash.
import { contentHash, isObject, type JsonObject, parseJson, type ToolSpec } from "../core/index.ts";
import { AppendFile, type AppendOptions } from "./append-file.ts";
import { jsonLine, scanLines } from "./lines.ts";

export type StoredPrompt =
  | { hash: string; kind: "system"; content: string }
  | { hash: string; kind: "tools"; content: JsonObject[] };

export class PromptStore {
  readonly #file: AppendFile;
  /** by hash; whoever comes while the first is being written waits for it */
  readonly #known = new Map<string, Promise<void>>();

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

  async keepTools(tools: readonly ToolSpec[]): Promise<string> {
    const content = toFunctionTools(tools);
    return this.#keep({ hash: contentHash(content), kind: "tools", content });
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #keep(prompt: StoredPrompt): Promise<string> {
    let kept = this.#known.get(prompt.hash);
    if (!kept) {
      kept = this.#file.append(jsonLine(prompt));
      this.#known.set(prompt.hash, kept);
    }
    await kept;
    return prompt.hash;
  }
}

/** In the form that models and trainers take. */
export function toFunctionTools(tools: readonly ToolSpec[]): JsonObject[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}
