// How many tokens a request will take, roughly and cheaply, before the server has counted them; better once it has
// counted some.
import type { ModelRequest, ToolSpec } from "../core/index.ts";

const CHARACTERS_PER_TOKEN = 4;

export function estimateTokens(request: ModelRequest): number {
  let characters = request.system.length + (request.tools.length > 0 ? toolCharacters(request.tools) : 0);
  for (const message of request.messages) {
    characters += message.content.length;
    if (message.role !== "assistant") continue;
    characters += message.reasoning?.length ?? 0;
    for (const call of message.toolCalls ?? []) characters += call.name.length + call.arguments.length;
  }
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
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

const known = new WeakMap<ToolSpec[], number>();

function toolCharacters(tools: ToolSpec[]): number {
  const characters = known.get(tools) ?? JSON.stringify(tools).length;
  known.set(tools, characters);
  return characters;
}
