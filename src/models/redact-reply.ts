// A server may repeat what it was sent, in a good reply too. A key is struck out before the reply goes anywhere: dialogue,
// journal, record and cassette then all say the same. `redactedTexts` counts the texts that held one.
import {
  changeTexts,
  type ModelClient,
  type ModelReply,
  redactDeep,
  redactSaid,
  redactSaidJson,
} from "../core/index.ts";

export function withRedaction<T extends ModelClient>(client: T): T {
  return { ...client, complete: async (request, signal) => redactReply(await client.complete(request, signal)) };
}

function redactReply(said: ModelReply): ModelReply {
  const { count: struck, reply } = changeTexts(said, redactSaid, redactSaidJson);
  let count = struck;
  const strike = (text: string): string => {
    const redacted = redactSaid(text);
    if (redacted !== text) count++;
    return redacted;
  };
  const opaque = said.opaque === undefined ? undefined : redactDeep(said.opaque, strike);
  if (count === 0) return said;
  return { ...reply, ...(count > struck && opaque !== undefined ? { opaque } : {}), redactedTexts: count };
}
