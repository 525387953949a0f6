// The longest tool result that a model is shown, whatever kind of tool gave it: a longer one keeps its head and its tail,
// with a visible mark between them, and the full text stays in `raw`, up to a size that no journal should have to hold.
import { redactSaid, type ToolResult } from "../core/index.ts";
import { failure } from "./arguments.ts";

/** Characters: about 16,000 tokens, more than any sensible tool returns. */
const RESULT_LIMIT = 65_536;
/** Characters of a result that are kept at all. */
const BIGGEST_RESULT = 32 * 1024 * 1024;
const TRACE_LIMIT = 16_384;

export function limitResult(result: ToolResult): ToolResult {
  const { content, raw, trace } = result;
  const biggest = Math.max(content.length, raw?.length ?? 0);
  if (biggest > BIGGEST_RESULT)
    return failure(`The result has ${biggest} characters, more than ${BIGGEST_RESULT}`, "tool_error");
  if (trace !== undefined && trace.length > TRACE_LIMIT)
    return limitResult({ ...result, trace: `${redactSaid(trace).slice(0, TRACE_LIMIT - 1)}…` });
  return capResult(result, RESULT_LIMIT);
}

export function capResult(result: ToolResult, limit: number): ToolResult {
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
