// The system prompts and tool lists that were sent, by their hashes: where they are in the file, read when asked for.
import { join } from "node:path";
import { type Extent, FollowedFile, readExtents } from "../files/index.ts";
import { readPrompt, type StoredPrompt } from "../runs/index.ts";

export class Prompts {
  readonly #file: FollowedFile;
  readonly #places = new Map<string, Extent>();

  constructor(folder: string) {
    this.#file = new FollowedFile(join(folder, "prompts.jsonl"));
  }

  find(hash: string | undefined): StoredPrompt["content"] | undefined {
    if (hash === undefined) return undefined;
    this.#update();
    const place = this.#places.get(hash);
    for (const bytes of place ? readExtents(this.#file.path, [place]) : []) {
      const prompt = readPrompt(bytes);
      if (typeof prompt === "object" && prompt.hash === hash) return prompt.content;
    }
    return undefined;
  }

  #update(): void {
    const seen = this.#file.look();
    if (seen === "replaced") this.#places.clear();
    if (seen === "same") return;
    for (const { bytes, offset, length } of this.#file.read()) {
      const hash = HASH.exec(bytes.toString("utf8", 0, HEAD_BYTES))?.[1] ?? hashIn(bytes);
      if (hash !== undefined) this.#places.set(hash, { offset, length });
    }
  }
}

const HASH = /^\{"hash":"([^"\\]*)"/;
const HEAD_BYTES = 400;

/** Of a line that somebody else wrote. */
function hashIn(bytes: Buffer): string | undefined {
  const prompt = readPrompt(bytes);
  return typeof prompt === "object" ? prompt.hash : undefined;
}
