// Finds the reference plan behind a dialogue that a model server sees: queries are found by their opening message,
// among the bundled domains and those of a folder. Only indexes stay in memory; plans are read when needed.
import { contentHash, type Query, type ReferencePlan, UsageError } from "../core/index.ts";
import type { DialogueSign, FindScript, Script } from "../models/index.ts";
import { type NameStyle, Toolbox } from "../tools/index.ts";
import { bundledFolder } from "./bundled.ts";
import { readToolList } from "./domain.ts";
import { type DatasetFolder, type DomainFiles, openDatasetFolder } from "./folder.ts";
import { openQueryFiles, type QueryFile } from "./query-file.ts";

export type ScriptFinder = { find: FindScript /** how many queries can be found */; size: number };

/** `basePath` adds a dataset folder, which takes precedence over the bundled domains. */
export function createScriptFinder(options: { basePath?: string } = {}): ScriptFinder {
  const bundled = (["single", "cross"] as const).map((kind) => withQueries(bundledFolder(), kind));
  const folders = [...(options.basePath ? ownFolders(options.basePath) : []), ...bundled];
  const known = new Map<string, KnownQuery[]>();
  let size = 0;
  for (const files of folders.flat()) {
    const domain = namesOf(files);
    const queries = openQueryFiles(files.queryFiles);
    for (let index = 0; index < queries.size; index++) {
      const { messages, userSystemPrompt, taskInfo } = queries.load(index);
      if (!taskInfo.plan) continue;
      const opening = messages.find(({ role }) => role === "user")?.content ?? taskInfo.plan[0]?.user;
      const query: KnownQuery = { domain, queries, index, scenario: keyOf(userSystemPrompt) };
      for (const key of new Set([keyOf(opening ?? ""), query.scenario])) {
        if (key === NOTHING) continue;
        const namesakes = known.get(key);
        if (namesakes) namesakes.push(query);
        else known.set(key, [query]);
      }
      size++;
    }
  }
  const plans = rememberPlans();
  return {
    size,
    find(sign) {
      const query = choose(known, sign);
      return query && createScript(query.domain(sign.tools), plans(query));
    },
  };
}

type Named = { servers: string[]; toolbox: Toolbox };
type NamesFor = (tools: readonly string[]) => Named;
/** A query of a known domain, and where its text is. */
type KnownQuery = { domain: NamesFor; queries: QueryFile; index: number; scenario: string };

/** Several queries may open with the same words: the user's scenario or the agent's tools then decide. */
function choose(
  known: Map<string, KnownQuery[]>,
  { opening, system, tools, party }: DialogueSign,
): KnownQuery | undefined {
  const scenario = keyOf(/# Scenario\n\n([\s\S]*)$/.exec(system)?.[1] ?? "");
  const found = known.get(keyOf(opening ?? "")) ?? (opening === undefined ? known.get(scenario) : undefined) ?? [];
  if (found.length < 2) return found[0];
  const offered = new Set(tools);
  const fits = (query: KnownQuery) =>
    party === "user"
      ? query.scenario === scenario
      : query.domain(tools).toolbox.names().length === offered.size &&
        query
          .domain(tools)
          .toolbox.names()
          .every((name) => offered.has(name));
  return found.find(fits) ?? found[0];
}

/** By turns of the whole dialogue: a plan goes on where the opening ends, if calls were made in it. */
export function scriptedPlan({ messages, taskInfo }: Pick<Query, "messages" | "taskInfo">): ReferencePlan {
  const { plan = [] } = taskInfo;
  if (!messages.some(({ role }) => role === "tool")) return plan;
  const asked = messages.filter(({ role }) => role === "user").length;
  const before = messages.at(-1)?.role === "assistant" ? asked : asked - 1;
  return [...Array.from({ length: before }, () => ({})), ...plan];
}

/** A plan under its domain's tool names, as scripted models play it. */
export function createScript({ servers, toolbox }: Named, plan: ReferencePlan): Script {
  return {
    plan,
    wireName: (name) => toolbox.wireName(name),
    planName: (name) => {
      const named = toolbox.resolve(name);
      return !named ? name : servers.length === 1 ? named.tool : `${named.server}.${named.tool}`;
    },
    isReadOnly: (name) => toolbox.resolve(name)?.spec.readOnly ?? false,
  };
}

/** The tools under the names that a request gives them; no server is started for this. */
function namesOf(files: DomainFiles): NamesFor {
  const made = new Map<NameStyle, Named>();
  return (tools) => {
    const style = tools.some((name) => name.includes(".")) ? "dotted" : "prefixed";
    let named = made.get(style);
    if (!named) {
      const listed = files.servers.filter((server) => files.toolListFiles[server]);
      const lists = listed.map((server) => ({ server, tools: readToolList(server, files) }));
      named = { servers: files.servers, toolbox: new Toolbox(lists, style) };
      made.set(style, named);
    }
    return named;
  };
}

const MAX_REMEMBERED = 4096;

function rememberPlans(): (query: KnownQuery) => ReferencePlan {
  const known = new Map<KnownQuery, ReferencePlan>();
  return (query) => {
    let plan = known.get(query);
    if (!plan) {
      plan = scriptedPlan(query.queries.load(query.index));
      if (known.size >= MAX_REMEMBERED) known.delete(known.keys().next().value as KnownQuery);
      known.set(query, plan);
    }
    return plan;
  };
}

/** A folder may hold single domains, combinations or both; one that holds neither is a mistake. */
function ownFolders(basePath: string): DomainFiles[][] {
  const errors: UsageError[] = [];
  const found = (["single", "cross"] as const).map((kind) => {
    try {
      return withQueries(openDatasetFolder(basePath, kind), kind);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      errors.push(error);
      return [];
    }
  });
  if (found.flat().length === 0) throw errors[0] ?? new UsageError(`${basePath} holds no queries`);
  return found;
}

function withQueries(folder: DatasetFolder, kind: "single" | "cross"): DomainFiles[] {
  return folder.list(kind).filter((files) => files.queryFiles.length > 0);
}

function keyOf(text: string): string {
  return contentHash(text.trim());
}

const NOTHING = keyOf("");
