// The system prompt with the tools described at its end.
import type { ToolSpec } from "../../core/index.ts";
import type { TextFormat } from "./format.ts";
import { TEXT_FORMATS, type ToolFormat } from "./formats.ts";

/** The last one for each list of tools: an agent has one, and a long text is not put together for every call. */
const known = new WeakMap<readonly ToolSpec[], { system: string; format: TextFormat; text: string }>();

export function toTextSystem(system: string, tools: readonly ToolSpec[], format: TextFormat): string {
  if (tools.length === 0) return system;
  const last = known.get(tools);
  if (last?.system === system && last.format === format) return last.text;
  const text = [system, format.describe(tools)].filter(Boolean).join("\n\n");
  known.set(tools, { system, format, text });
  return text;
}

/** For estimates: what every request of a model in this format begins with. */
export function formatSystem(name: ToolFormat, system: string, tools: readonly ToolSpec[]): string {
  return name === "native" ? system : toTextSystem(system, tools, TEXT_FORMATS[name]);
}
