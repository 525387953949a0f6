// What the agent is offered: the domain's tools, another domain's tools (which do not work), or none.
import { createRandom, type Environment, type Mode, type Query, RolloutError, type ToolSpec } from "../core/index.ts";
import { failure, unknownTool } from "../tools/index.ts";
import { type Domain, readToolList, toToolSpecs } from "./domain.ts";
import type { DomainFiles } from "./folder.ts";

export type ModeOptions = {
  mode: Mode;
  seed: number;
  query: Query;
  /** domains whose tools may serve as the wrong ones */
  others: readonly DomainFiles[];
};

export async function openForMode(domain: Domain, options: ModeOptions): Promise<Environment> {
  if (options.mode === "positive") return domain.openEnvironment(options.seed);
  if (options.mode === "no_tool") return createInert([]);
  return createInert(wrongTools(domain, options));
}

/** The query's own tools if it has any, else those of another domain (chosen by seed) that shares no tool name. */
function wrongTools(domain: Domain, { query, seed, others }: ModeOptions): ToolSpec[] {
  if (query.tools) return toToolSpecs(query.tools, `query ${query.id}`);
  const own = new Set(domain.toolbox.tools.map((tool) => domain.toolbox.resolve(tool.name)?.tool));
  const lists = others
    .filter(
      (files) => files.servers.length === 1 && !domain.servers.includes(files.name) && files.toolListFiles[files.name],
    )
    .map(toolsOf)
    .filter((tools) => !tools.some((tool) => own.has(tool.name)));
  if (lists.length === 0) {
    throw new RolloutError(
      "infrastructure",
      `wrong_tool: query "${query.id}" brings no tools, and no other domain of the folder shares no tool name with ${domain.name}`,
    );
  }
  return createRandom("wrong tools", seed).pick(lists);
}

const toolsByFiles = new WeakMap<DomainFiles, ToolSpec[]>();

/** Read once: every rollout then uses the same list object for the same tools. */
function toolsOf(files: DomainFiles): ToolSpec[] {
  let tools = toolsByFiles.get(files);
  if (!tools) {
    tools = readToolList(files.name, files);
    toolsByFiles.set(files, tools);
  }
  return tools;
}

function createInert(tools: ToolSpec[]): Environment {
  const names = tools.map((tool) => tool.name);
  return {
    tools,
    isReadOnly: () => true,
    call: async (call) =>
      names.includes(call.name)
        ? failure(`${call.name} is not available.`, "tool_error")
        : unknownTool(call.name, names),
    state: async () => ({}),
    close: async () => {},
  };
}
