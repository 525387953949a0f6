// Why rollouts failed, and what to do about it: the live block, `rollout status` and the end of a run say the same.
import { adviceFor, type FailureGroup, type ToolErrors } from "../../runs/index.ts";
import { wrap } from "./dialogue-text.ts";
import { cut, printable, printableName, type Terminal } from "./terminal.ts";

const MAX_REASONS = 5;

/** Each reason as a whole sentence, with how often and what to do. */
export function failureLines(terminal: Terminal, groups: readonly FailureGroup[]): string[] {
  const lines = groups.slice(0, MAX_REASONS).flatMap((group) => {
    const { reason, count } = group;
    const times = `${count} × `;
    const advice = adviceFor(group);
    return [
      ...hang(terminal, `  ${times}`, printable(reason)),
      ...(advice ? hang(terminal, " ".repeat(times.length + 2), advice) : []),
    ];
  });
  const more = groups.length - MAX_REASONS;
  return more > 0 ? [...lines, `  and ${more} more reasons`] : lines;
}

const MAX_TOOLS = 5;
const MAX_TRACE_LINES = 8;
const MAX_ERROR = 200;

/** Tools by their errors; for one that threw, where it did so first. */
export function toolErrorLines(terminal: Terminal, tools: readonly ToolErrors[]): string[] {
  const lines = tools.slice(0, MAX_TOOLS).flatMap(({ tool, calls, errors, thrown, first }) => {
    const threw = thrown > 0 ? `, ${thrown} of them exceptions in its code` : "";
    const head = `  ${printableName(tool)}: ${errors} of ${calls} calls${threw}; the first in ${printableName(first?.id ?? "")}:`;
    const trace = first?.trace?.trim().split("\n").slice(0, MAX_TRACE_LINES);
    const text = trace ?? wrap(cut((first?.text ?? "").replace(/\s+/g, " "), MAX_ERROR), widthOf(terminal) - 4);
    return [head, ...text.map((line) => `    ${printable(line)}`)];
  });
  const more = tools.length - MAX_TOOLS;
  return more > 0 ? [...lines, `  and ${more} more tools`] : lines;
}

/** A text after a margin, its further lines below its first. */
export function hang(terminal: Terminal, margin: string, text: string): string[] {
  const lines = text.split("\n").flatMap((line) => wrap(line, Math.max(widthOf(terminal) - margin.length, 20)));
  return lines.map((line, index) => (index === 0 ? margin : " ".repeat(margin.length)) + line);
}

/** A log is not wrapped: a sentence can then be searched for. */
function widthOf(terminal: Terminal): number {
  return terminal.interactive ? terminal.columns() - 1 : Number.POSITIVE_INFINITY;
}
