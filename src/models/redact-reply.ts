// A server may repeat what it was sent, in a good reply too. A key is struck out before the reply goes anywhere: dialogue,
// journal, record and cassette then all say the same. `redactedTexts` counts the texts that held one.
import { type ModelClient, type ModelReply, redactDeep, redactSaid, redactSaidJson } from "../core/index.ts";

export function withRedaction<T extends ModelClient>(client: T): T {
  return { ...client, complete: async (request, signal) => redactReply(await client.complete(request, signal)) };
}

function redactReply(reply: ModelReply): ModelReply {
  let count = 0;
  const strike = (text: string, redact = redactSaid): string => {
    const struck = redact(text);
    if (struck !== text) count++;
    return struck;
  };
  const struck = {
    ...reply,
    content: strike(reply.content),
    ...(reply.reasoning === undefined ? {} : { reasoning: strike(reply.reasoning) }),
    ...(reply.opaque === undefined ? {} : { opaque: redactDeep(reply.opaque, strike) }),
    toolCalls: reply.toolCalls.map((call) => ({
      ...call,
      id: strike(call.id),
      name: strike(call.name),
      arguments: strike(call.arguments, redactSaidJson),
    })),
  };
  return count === 0 ? reply : { ...struck, redactedTexts: count };
}
