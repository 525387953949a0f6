// System prompts and tool lists that were actually sent, each once, by content hash.
import { contentHash, type JsonObject, parseExact, type ToolSpec, toFunctionTools, writeExact } from "../core/index.ts";
import { AppendFile, type AppendOptions, escapeLineEnds, scanLines } from "../files/index.ts";
import { type DamagedLine, setAside } from "./damage.ts";
import { bodyOf, isBlank, parseLine } from "./examine-record.ts";

export type StoredPrompt =
  | { hash: string; kind: "system"; content: string }
  | { hash: string; kind: "tools"; content: JsonObject[] };

/** Calls back for each prompt, and for each line that is none; returns where the last complete line ends. */
export function scanPrompts(
  file: string,
  onPrompt: (prompt: StoredPrompt) => void,
  onDamage: (line: DamagedLine) => void = () => {},
): number {
  return scanLines(file, ({ bytes, offset, length, number }) => {
    const prompt = readPrompt(bytes);
    if (typeof prompt === "string") onDamage({ offset, length, number, reason: prompt });
    else if (prompt) onPrompt(prompt);
  });
}

/** Of ours; others' are names. */
const HASH = /^[0-9a-f]{16}$/;

/** The prompt in a line, or what is wrong with it; undefined for a blank line. */
export function readPrompt(line: Buffer): StoredPrompt | string | undefined {
  const bytes = bodyOf(line);
  if (isBlank(bytes)) return undefined;
  const value = parseLine(bytes);
  if (typeof value === "string") return value;
  const { hash, kind, content } = parseExact(bytes.toString("utf8")) as { [key: string]: unknown };
  const isPrompt = (kind === "system" && typeof content === "string") || (kind === "tools" && Array.isArray(content));
  if (!isPrompt || typeof hash !== "string") return "is not a prompt";
  // a secret in a prompt was struck out when it was written
  const isIntact = !HASH.test(hash) || contentHash(content) === hash || bytes.includes("[redacted]");
  return isIntact ? ({ hash, kind, content } as StoredPrompt) : "does not match its hash";
}

/** Keeps each prompt once; whoever asks for it again waits until it is written. */
export class PromptKeeper {
  readonly #write: (line: string) => Promise<void>;
  /** by hash: resolves once it is written */
  readonly #known = new Map<string, Promise<void>>();
  readonly #toolHashes = new WeakMap<readonly ToolSpec[], Promise<string>>();

  constructor(write: (line: string) => Promise<void>, known: Iterable<string> = []) {
    this.#write = write;
    for (const hash of known) this.#known.set(hash, Promise.resolve());
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

  /** A line that another keeper wrote. */
  async keepLine(line: string): Promise<void> {
    const { hash } = JSON.parse(line) as StoredPrompt;
    await this.#keepOnce(hash, () => line);
  }

  async #keep(prompt: StoredPrompt): Promise<string> {
    await this.#keepOnce(prompt.hash, () => `${escapeLineEnds(writeExact(prompt))}\n`);
    return prompt.hash;
  }

  async #keepOnce(hash: string, line: () => string): Promise<void> {
    const kept = this.#known.get(hash) ?? this.#write(line());
    this.#known.set(hash, kept);
    await kept;
  }
}

export class PromptStore extends PromptKeeper {
  readonly #file: AppendFile;

  /** A damaged prompt is not known: it is written again when it is used again. */
  constructor(path: string, { onNotice, ...options }: AppendOptions & { onNotice: (message: string) => void }) {
    const damaged: DamagedLine[] = [];
    const known = new Set<string>();
    let completeBytes: number | undefined = scanPrompts(
      path,
      ({ hash }) => known.add(hash),
      (line) => damaged.push(line),
    );
    if (damaged.length > 0) {
      onNotice(setAside(path, damaged));
      completeBytes = undefined;
    }
    const file = new AppendFile(path, { ...options, completeBytes });
    super((line) => file.append(line), known);
    this.#file = file;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
