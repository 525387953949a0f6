// Halves of surrogate pairs, which no UTF-8 text can hold, become U+FFFD where a text enters the dialogue: journal, record,
// wire and the tools' state then all say the same. `repairedTexts` counts the texts that had any.
import { type ModelReply, type ToolResult, wellFormed, wellFormedJson } from "../core/index.ts";

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

export function repairResult(result: ToolResult): ToolResult & { repairedTexts?: number } {
  const texts = new Repairs();
  const content = texts.repair(result.content);
  const raw = result.raw === undefined ? {} : { raw: texts.repair(result.raw) };
  return texts.count === 0 ? result : { ...result, content, ...raw, repairedTexts: texts.count };
}

class Repairs {
  count = 0;
  repair(text: string, repair = wellFormed): string {
    const repaired = repair(text);
    if (repaired !== text) this.count++;
    return repaired;
  }
}
