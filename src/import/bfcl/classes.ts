// Multi-turn tasks: the classes of the checkout that the file is in are served as tools, and parse their own reference.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { canonicalJson, groupBy, type Json, type JsonObject, UsageError, writeExact } from "../../core/index.ts";
import { noteBrokenCalls } from "../broken-calls.ts";
import type { ImportOptions } from "../format.ts";
import { readRows } from "../json-lines.ts";
import { askServer, choosePython } from "../run-python.ts";
import type { DatasetReport, Tally } from "../tally.ts";
import { type DescribedTool, toTool } from "../tool-schema.ts";
import { type ImportedGroup, makeFolder, writeDataset } from "../write-dataset.ts";
import { type ParsedTurns, readMultiTurn } from "./multi-turn.ts";

type ClassTasks = {
  entries: JsonObject[];
  truths: Map<string, Json>;
  folder: string;
  name: string;
  tally: Tally;
  options: ImportOptions;
};

const CONFIG = join("constants", "executable_backend_config.py");
const DOCUMENTS = "multi_turn_func_doc";

export async function readClasses({
  entries,
  truths,
  folder,
  name,
  tally,
  options,
}: ClassTasks): Promise<DatasetReport> {
  const source = resolve(options.source);
  const found = findPackage(source);
  if (!found)
    throw new UsageError(
      `${options.source} needs the classes of its checkout. Looked for, above it: PACKAGE/${CONFIG}; and next to it: ${DOCUMENTS}/`,
    );
  const python = await choosePython(found.root, options.python, options.env);
  makeFolder(folder);
  mkdirSync(join(folder, "tools"), { recursive: true });
  const asked = join(folder, "tools", "reference-calls.json");
  const wanted = entries.map((entry) => ({
    id: String(entry.id),
    classes: entry.involved_classes as Json,
    turns: truths.get(String(entry.id)) ?? [],
  }));
  writeFileSync(asked, writeExact({ entries: wanted }));
  const args = [found.root, found.name];
  const answer = await askServer(python, "bfcl_server.py", [...args, asked], options.env);
  if ("problem" in answer)
    return tally.refuseAll(
      entries.map(({ id }) => String(id)),
      `${python} could not load ${found.name}: ${answer.problem} (install the benchmark's packages for it, or name another with --python)`,
    );
  const { plans, documents } = answer.described as { plans: JsonObject; documents: JsonObject };
  const queries = entries.flatMap((entry) => {
    const id = String(entry.id);
    const parsed = (truths.has(id) ? plans[id] : undefined) as unknown as ParsedTurns;
    return tally.convert(id, () => readMultiTurn(entry, parsed, tally)).map((query) => ({ entry, query }));
  });
  const keyOf = ({ entry }: { entry: JsonObject }) =>
    canonicalJson([entry.involved_classes, entry.excluded_function ?? []]);
  const groups = [...groupBy(queries, keyOf).values()].map((members, index): ImportedGroup => {
    const { involved_classes: classes, excluded_function: excluded } = (members[0] as (typeof members)[number]).entry;
    const file = join(folder, "tools", `${index + 1}.json`);
    const tools = (classes as string[]).flatMap((each) => readTools(found.documents, String(documents[each])));
    const offered = tools.filter((tool) => !(Array.isArray(excluded) && excluded.includes(tool.name)));
    writeFileSync(file, writeExact({ classes, tools: offered }));
    noteBrokenCalls(
      members.map(({ query }) => query),
      offered,
      tally,
    );
    return {
      name: index === 0 ? name : `${name}-${index + 1}`,
      queries: members.map(({ query }) => query),
      server: {
        command: python,
        args: [join(folder, "bfcl_server.py"), ...args, file],
        isolation: "pool",
        reset_tool: "rollout_reset",
        state_tool: "rollout_state",
        hidden_tools: ["rollout_setup"],
      },
    };
  });
  if (groups.length === 0) return tally.report(undefined);
  writeDataset({ folder, name, servers: ["bfcl_server.py"], groups });
  return tally.report(folder);
}

/** The package above the file, and the documents of its classes. */
function findPackage(source: string): { root: string; name: string; documents: string } | undefined {
  const documents = join(dirname(source), DOCUMENTS);
  if (!existsSync(documents)) return undefined;
  for (let folder = dirname(source); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, CONFIG))) return { root: dirname(folder), name: basename(folder), documents };
  return undefined;
}

function readTools(folder: string, file: string): DescribedTool[] {
  return readRows(join(folder, file)).flatMap(({ row }) => (row && toTool(row)) ?? []);
}
