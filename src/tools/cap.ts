// The longest tool result that a model is shown: a longer one keeps its head and its tail, with a visible mark between
// them, and the full text stays in `raw`.
import { redactSaid, type ToolResult } from "../core/index.ts";

/** Characters: about 16,000 tokens, more than any sensible tool returns. */
export const RESULT_LIMIT = 65_536;

export function capResult(result: ToolResult, limit: number = RESULT_LIMIT): ToolResult {
  if (result.content.length <= limit) return result;
  const content = redactSaid(result.content); // no part of a key may be left at the cut
  const half = Math.floor(limit / 2);
  const head = splitsPair(content, half) ? half - 1 : half;
  const tail = content.length - half;
  const tailStart = splitsPair(content, tail) ? tail + 1 : tail;
  const mark = `\n[… ${tailStart - head} of ${content.length} characters left out …]\n`;
  return {
    ...result,
    content: content.slice(0, head) + mark + content.slice(tailStart),
    raw: result.raw ?? result.content,
  };
}

/** Whether a cut here would leave half a character on each side. */
function splitsPair(text: string, index: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(Math.max(0, index - 1), index + 1));
}
