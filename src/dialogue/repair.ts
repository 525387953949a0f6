// Halves of surrogate pairs, which no UTF-8 text can hold, become U+FFFD where a text enters the dialogue: journal, record,
// wire and the tools' state then all say the same. `repairedTexts` counts the texts that had any. Keys that a tool repeats
// are struck out here too (`redactedTexts`); those in replies were when the reply came.
import {
  changeTexts,
  type ModelReply,
  redactSaidJson,
  type ToolResult,
  wellFormed,
  wellFormedJson,
} from "../core/index.ts";

export function repairReply(said: ModelReply): ModelReply & { repairedTexts?: number } {
  const { count, reply } = changeTexts(said, wellFormed, wellFormedJson);
  return count === 0 ? reply : { ...reply, repairedTexts: count };
}

type RepairedResult = ToolResult & { repairedTexts?: number; redactedTexts?: number };

export function repairResult(result: ToolResult): RepairedResult {
  const halves = new Repairs();
  const keys = new Repairs();
  const repair = (text: string) => keys.repair(halves.repair(text, wellFormed), redactSaidJson);
  const content = repair(result.content);
  const raw = result.raw === undefined ? undefined : repair(result.raw);
  const trace = result.trace === undefined ? undefined : keys.repair(result.trace, redactSaidJson);
  if (halves.count + keys.count === 0) return result;
  const repaired: RepairedResult = { ...result, content };
  if (raw !== undefined) repaired.raw = raw;
  if (trace !== undefined) repaired.trace = trace;
  if (halves.count > 0) repaired.repairedTexts = halves.count;
  if (keys.count > 0) repaired.redactedTexts = keys.count;
  return repaired;
}

class Repairs {
  count = 0;
  repair(text: string, repair: (text: string) => string): string {
    const repaired = repair(text);
    if (repaired !== text) this.count++;
    return repaired;
  }
}
