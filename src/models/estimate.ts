// How many tokens a request will take, roughly and cheaply, before the server has counted them; better once it has
// counted some.
import { type ModelRequest, remember, type ToolSpec } from "../core/index.ts";

/** In bytes, since a token has four letters of a Latin text but one sign of a Chinese one. */
const BYTES_PER_TOKEN = 4;

function sizeOf(text: string): number {
  return Buffer.byteLength(text);
}

export function estimateTokens(request: ModelRequest): number {
  let bytes = sizeOf(request.system) + (request.tools.length > 0 ? toolBytes(request.tools) : 0);
  for (const message of request.messages) {
    bytes += sizeOf(message.content);
    if (message.role !== "assistant") continue;
    bytes += sizeOf(message.reasoning ?? "");
    for (const call of message.toolCalls ?? []) bytes += sizeOf(call.name) + sizeOf(call.arguments);
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** What a model's server counts for one estimated token: tokenizers and chat templates differ by a quarter and more. */
export class TokenScale {
  #estimated = 0;
  #counted = 0;

  apply(estimated: number): number {
    return this.#estimated > 0 ? Math.ceil((estimated * this.#counted) / this.#estimated) : estimated;
  }

  /** From the first count on. */
  learn(estimated: number, counted: number): void {
    if (estimated <= 0 || counted <= 0) return;
    this.#estimated += estimated;
    this.#counted += counted;
  }
}

const toolBytes = remember((tools: ToolSpec[]): number => sizeOf(JSON.stringify(tools)));
