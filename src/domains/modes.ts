// What the agent is offered: the domain's tools, another domain's tools (which do not work), or none.
import {
  createRandom,
  type Environment,
  type Mode,
  type Query,
  RolloutError,
  remember,
  type ToolSpec,
  UsageError,
  type World,
} from "../core/index.ts";
import { failure, unknownTool } from "../tools/index.ts";
import { type Domain, readToolList, toToolSpecs } from "./domain.ts";
import type { DomainFiles } from "./folder.ts";
import { openTask } from "./open-task.ts";
import type { QueryFile } from "./query-file.ts";

export type ModeOptions = World & {
  mode: Mode;
  query: Query;
  /** domains whose tools may serve as the wrong ones */
  others: readonly DomainFiles[];
};

export async function openForMode(domain: Domain, options: ModeOptions): Promise<Environment> {
  if (options.mode === "positive") return openTask(domain, options);
  if (options.mode === "no_tool") return createInert([]);
  return createInert(chooseWrongTools(domain, options));
}

export type WrongToolsOptions = Pick<ModeOptions, "others"> & {
  /** its name, for the message */
  dataset: string;
  queries: QueryFile;
  /** the indexes of those that are to be played */
  chosen: readonly number[];
};

/** For `wrong_tool`, before a run: a query for which there is nothing to offer is a mistake of the user's. */
export function requireWrongTools(domain: Domain, { dataset, others, queries, chosen }: WrongToolsOptions): void {
  if (listForeign(domain, others).length > 0) return;
  const bare = chosen.filter((index) => !queries.bringsTools(index));
  const [first] = bare;
  if (first === undefined) return;
  const more = bare.length > 1 ? ` (and ${bare.length - 1} more)` : "";
  throw new UsageError(
    `${dataset}: in mode wrong_tool there is nothing to offer for query "${queries.id(first)}"${more}: it has no "tools" of its own, and the folder has no other domain that shares no tool name with this one. Give the queries "tools", add such a domain, or use mode no_tool`,
    queries.location(first),
  );
}

/** The query's own tools if it has any, else those of another domain, chosen by seed. */
function chooseWrongTools(domain: Domain, { query, seed, others }: ModeOptions): ToolSpec[] {
  if (query.tools) return toToolSpecs(query.tools, `query ${query.id}`);
  const lists = listForeign(domain, others);
  if (lists.length === 0)
    throw new RolloutError("infrastructure", `wrong_tool: there are no tools to offer for query "${query.id}"`);
  return createRandom("wrong tools", seed).pick(lists);
}

/** The tool lists of the other domains that share no tool name with this one. */
function listForeign(domain: Domain, others: readonly DomainFiles[]): ToolSpec[][] {
  const own = new Set(domain.toolbox.tools.map((tool) => domain.toolbox.resolve(tool.name)?.tool));
  return others
    .filter(
      (files) => files.servers.length === 1 && !domain.servers.includes(files.name) && files.toolListFiles[files.name],
    )
    .map(toolsOf)
    .filter((tools) => !tools.some((tool) => own.has(tool.name)));
}

/** Read once: every rollout then uses the same list object for the same tools. */
const toolsOf = remember((files: DomainFiles): ToolSpec[] => readToolList(files.name, files));

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
