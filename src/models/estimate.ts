// How many tokens a request will take, roughly and cheaply, before the server has counted them.
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

const known = new WeakMap<ToolSpec[], number>();

function toolCharacters(tools: ToolSpec[]): number {
  const characters = known.get(tools) ?? JSON.stringify(tools).length;
  known.set(tools, characters);
  return characters;
}
