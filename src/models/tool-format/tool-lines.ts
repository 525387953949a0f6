// The list of tools in a system prompt: one line of JSON for each, numbers as they were written.
import {
  isObject,
  type JsonObject,
  parseExact,
  remember,
  type ToolSpec,
  toFunctionTools,
  writeExact,
} from "../../core/index.ts";

export const toolLines = remember((tools: readonly ToolSpec[]): string =>
  toFunctionTools(tools).map(writeExact).join("\n"),
);

/** The list between two marks, and what stands before `head`, with which the description begins. */
export function readToolLines(
  system: string,
  { head, open, close }: { head: string; open: string; close: string },
): { system: string; tools: ToolSpec[] } | undefined {
  const start = system.lastIndexOf(head);
  const from = system.indexOf(open, start);
  const end = system.indexOf(close, from);
  if (start === -1 || from === -1 || end === -1) return undefined;
  const lines = system.slice(from + open.length, end).split("\n");
  const tools = lines.flatMap((line) => readTool(parseExact(line)));
  return { system: system.slice(0, start).trimEnd(), tools };
}

/** Whether a tool only reads is not in the text. */
function readTool(value: unknown): ToolSpec[] {
  const spec = isObject(value) && isObject(value.function) ? value.function : undefined;
  if (typeof spec?.name !== "string") return [];
  const { name, description, parameters, ...others } = spec;
  return [
    {
      name,
      description: String(description ?? ""),
      parameters: (isObject(parameters) ? parameters : {}) as JsonObject,
      readOnly: false,
      ...(Object.keys(others).length > 0 && { others: others as JsonObject }),
    },
  ];
}
