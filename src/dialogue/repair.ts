// Halves of surrogate pairs, which no UTF-8 text can hold, become U+FFFD where a text enters the dialogue: journal, record,
// wire and the tools' state then all say the same. `repairedTexts` counts the texts that had any. Keys that a tool repeats
// are struck out here too (`redactedTexts`); those in replies were when the reply came.
import { type ModelReply, redactSaidJson, type ToolResult, wellFormed, wellFormedJson } from "../core/index.ts";

export function repairReply(reply: ModelReply): ModelReply & { repairedTexts?: number } {
  const texts = new Repairs();
  const repaired = {
    ...reply,
    content: texts.repair(reply.content),
    ...(reply.reasoning === undefined ? {} : { reasoning: texts.repair(reply.reasoning) }),
    toolCalls: reply.toolCalls.map((call) => ({
      ...call,
      id: texts.repair(call.id),
      name: texts.repair(call.name),
      arguments: texts.repair(call.arguments, wellFormedJson),
    })),
  };
  return texts.count === 0 ? reply : { ...repaired, repairedTexts: texts.count };
}

type RepairedResult = ToolResult & { repairedTexts?: number; redactedTexts?: number };

export function repairResult(result: ToolResult): RepairedResult {
  const halves = new Repairs();
  const keys = new Repairs();
  const repair = (text: string) => keys.repair(halves.repair(text), redactSaidJson);
  const repaired: RepairedResult = { ...result, content: repair(result.content) };
  if (result.raw !== undefined) repaired.raw = repair(result.raw);
  if (result.trace !== undefined) repaired.trace = keys.repair(result.trace, redactSaidJson);
  if (halves.count > 0) repaired.repairedTexts = halves.count;
  if (keys.count > 0) repaired.redactedTexts = keys.count;
  return halves.count + keys.count === 0 ? result : repaired;
}

class Repairs {
  count = 0;
  repair(text: string, repair = wellFormed): string {
    const repaired = repair(text);
    if (repaired !== text) this.count++;
    return repaired;
  }
}
