// The tools of MCP servers that are no longer there, as the records of a run name them: enough to compare calls by name
// and arguments.
import { join } from "node:path";
import { type Domain, toToolSpecs } from "../domains/index.ts";
import { readTrajectories, scanPrompts } from "../runs/index.ts";
import { Toolbox } from "../tools/index.ts";

type Recorded = { folder: string; name: string; outputs: readonly string[]; contentHash: string };

/** Undefined if there is no record yet. */
export function readRecordedDomain({ folder, name, outputs, contentHash }: Recorded): Domain | undefined {
  const first = firstRecord(outputs, name);
  if (!first) return undefined;
  const file = join(folder, "prompts.jsonl");
  let tools: ReturnType<typeof toToolSpecs> = [];
  scanPrompts(file, ({ hash, kind, content }) => {
    if (kind === "tools" && hash === first.metadata.tools_hash) tools = toToolSpecs(content, file);
  });
  return {
    name,
    servers: first.domains,
    policy: undefined,
    toolbox: new Toolbox([{ server: name, tools }]),
    rules: [],
    volatile: {},
    freeArguments: {},
    unseen: first.domains,
    contentHash,
    openEnvironment: async () => {
      throw new Error(`${name}: tools that are only known by name cannot be opened`);
    },
  };
}

function firstRecord(outputs: readonly string[], name: string) {
  for (const file of outputs) for (const { trajectory } of readTrajectories(file, name, () => {})) return trajectory;
  return undefined;
}
