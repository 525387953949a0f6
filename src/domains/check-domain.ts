// Checks one domain, or the MCP servers of one dataset: its files are read, its tools started and called.
import { type Location, listAllCalls } from "../core/index.ts";
import { schemaProblem } from "../tools/index.ts";
import type { CheckReport } from "./check-report.ts";
import { type Domain, type DomainResources, loadDomain, readToolList } from "./domain.ts";
import type { DatasetFolder, DomainFiles } from "./folder.ts";
import { describeSharedWrites, type McpSource, requireMcpDomain } from "./mcp-domain.ts";
import { findUserTools } from "./open-task.ts";
import { referenceProblem } from "./plan-references.ts";
import { openQueryFiles, type QueryDefaults, type QueryFile, queryProblems } from "./query-file.ts";
import { requireOwnSetups } from "./require-parties.ts";
import { requireStart } from "./require-start.ts";
import { requireWorlds } from "./require-worlds.ts";
import { type TriedTools, tryOwnTools, tryReadOnlyTools } from "./try-tools.ts";

type CheckedFiles = DomainFiles & { defaults?: QueryDefaults };

export async function checkDomain(
  files: CheckedFiles,
  folder: DatasetFolder,
  resources: DomainResources,
  report: CheckReport,
): Promise<void> {
  report.domains++;
  const warn = (message: string) => report.warn(`${files.name}: ${message}`);
  const unknown = files.servers.filter((server) => !folder.serverNames().includes(server));
  for (const server of unknown)
    report.fail(`${files.name}: there is no server named "${server}"`, { file: files.queryFiles[0] ?? folder.path });
  for (const missing of files.missing) {
    if (missing.startsWith("policies/")) warn(`${missing} is missing: the agent gets no policy`);
    else if (missing.startsWith("queries/")) {
      if (files.queryFiles.length === 0) warn(`${missing} is missing: there is nothing to run`);
    } else if (unknown.length === 0) report.fail(`${files.name}: ${missing} is missing`, { file: folder.path });
  }
  for (const server of files.servers) checkToolList(server, files, report);
  for (const file of files.queryFiles) for (const problem of queryProblems(file)) report.note(problem);
  const domain = await tryLoading(files, resources, report);
  if (domain) report.tools += domain.toolbox.tools.length;
  if (report.hasErrorIn(files.queryFiles)) return;
  const queries = await checkQueries(files, domain, report, { play: true });
  if (!domain) return;
  const [file] = Object.values(files.serverFiles);
  noteTried(domain, await tryOwnTools(domain, queries), report, file === undefined ? undefined : { file });
}

export async function checkServers(files: CheckedFiles, source: McpSource, report: CheckReport): Promise<void> {
  report.domains++;
  for (const file of files.queryFiles) for (const problem of queryProblems(file)) report.note(problem);
  try {
    const hasQueries = files.queryFiles.length > 0 && !report.hasErrorIn(files.queryFiles);
    const queries = hasQueries ? openQueryFiles(files.queryFiles, files.defaults) : undefined;
    const example = queries && queries.size > 0 ? { seed: 0, query: queries.load(0) } : undefined;
    if (queries) requireWorlds(files.name, source.hub, { queries, chosen: [...Array(queries.size).keys()] });
    const domain = await requireMcpDomain(files.name, { ...source, example });
    const [location] = Object.values(source.locations ?? {});
    for (const text of describeSharedWrites(domain)) report.warn(text, location);
    report.tools += domain.toolbox.tools.length;
    if (report.hasErrorIn(files.queryFiles)) return;
    const checked = await checkQueries(files, domain, report, { play: false });
    await requireOwnSetups(domain, { queries: checked, chosen: [...Array(checked.size).keys()] });
    noteTried(domain, await tryReadOnlyTools(domain, checked), report, location);
  } catch (error) {
    report.note(error);
  }
}

type OpenedSources = {
  source: McpSource;
  open(openServers: () => Promise<Domain>): Promise<Domain>;
};

/** Functions are loaded and described, and not called: what a call costs or does is not known. */
export async function checkSources(
  files: CheckedFiles,
  { source, open }: OpenedSources,
  report: CheckReport,
): Promise<void> {
  report.domains++;
  for (const file of files.queryFiles) for (const problem of queryProblems(file)) report.note(problem);
  const hasQueries = files.queryFiles.length > 0 && !report.hasErrorIn(files.queryFiles);
  try {
    const queries = hasQueries ? openQueryFiles(files.queryFiles, files.defaults) : undefined;
    const example = queries && queries.size > 0 ? { seed: 0, query: queries.load(0) } : undefined;
    const domain = await open(() => requireMcpDomain(files.name, { ...source, example }));
    report.tools += domain.toolbox.tools.length;
    for (const { name, description } of domain.toolbox.tools)
      if (!description) report.warn(`${files.name}: the tool "${name}" has no description`);
    await (await domain.openEnvironment({ seed: 0 })).close();
    if (hasQueries) await checkQueries(files, domain, report, { play: false });
  } catch (error) {
    report.note(error);
  }
}

/** Loads the servers for real and opens one environment: a missing class shows only now. */
async function tryLoading(
  files: DomainFiles,
  resources: DomainResources,
  report: CheckReport,
): Promise<Domain | undefined> {
  if (files.servers.some((server) => !files.serverFiles[server] || !files.toolListFiles[server])) return undefined;
  try {
    const domain = await loadDomain(files, resources);
    await requireStart(domain, files);
    return domain;
  } catch (error) {
    report.note(error);
    return undefined;
  }
}

function checkToolList(server: string, files: DomainFiles, report: CheckReport): void {
  const file = files.toolListFiles[server];
  if (!file || report.findings.some((finding) => finding.location?.file === file)) return;
  try {
    const tools = readToolList(server, files);
    const names = tools.map((tool) => tool.name);
    for (const name of new Set(names.filter((name, index) => names.indexOf(name) !== index)))
      report.warn(`"${name}" is listed twice`, { file });
    for (const tool of tools) {
      const problem = schemaProblem(tool.parameters);
      if (problem)
        report.warn(`the schema of "${tool.name}" cannot be used, so its arguments are not checked: ${problem}`, {
          file,
        });
      if (!tool.description) report.warn(`"${tool.name}" has no description`, { file });
    }
  } catch (error) {
    report.note(error);
  }
}

/** Plans are played only where nothing outlives that. */
async function checkQueries(
  files: CheckedFiles,
  domain: Domain | undefined,
  report: CheckReport,
  { play }: { play: boolean },
): Promise<QueryFile> {
  const warn = (message: string, location?: Location) => report.warn(`${files.name}: ${message}`, location);
  const queries = openQueryFiles(files.queryFiles, files.defaults);
  report.queries += queries.size;
  if (files.queryFiles.length > 0 && queries.size === 0)
    warn("its query files are empty", { file: files.queryFiles[0] as string });
  if (queries.repeats > 0) warn(`${queries.repeats} repeated queries are read once`);
  for (const { id, keptAs, first, second } of queries.clashes) {
    const other = `${first.file}:${first.line}`;
    warn(`id "${id}" is used by two queries (the other is at ${other}); this one is "${keptAs}"`, second);
  }
  for (const { id, place, other, otherPlace, rollout } of queries.twins) {
    const at = `${otherPlace.file}:${otherPlace.line}`;
    warn(`id "${id}" is also that of rollout ${rollout} of "${other}" (${at}): more rollouts cannot be made`, place);
  }
  for (let index = 0; domain && index < queries.size; index++) {
    const query = queries.load(index);
    const { taskInfo, userSystemPrompt } = query;
    const location = queries.location(index);
    const wrong = await referenceProblem(query, play ? domain : undefined);
    if (wrong) report.fail(`${files.name}: ${wrong}`, location);
    if (!userSystemPrompt) warn("no user_system_prompt: the simulated user has no scenario", location);
    const named = Array.isArray(taskInfo.trajectory) ? taskInfo.trajectory : [];
    const planned = taskInfo.plan ? listAllCalls(taskInfo.plan).map((call) => call.name) : [];
    for (const tool of new Set([...named, ...planned])) {
      if (!domain.toolbox.resolve(String(tool))) warn(`names the tool "${tool}", which is not there`, location);
    }
    for (const pattern of query.userTools ?? []) {
      if (findUserTools(domain, pattern).length === 0)
        report.fail(`${files.name}: user_tools names "${pattern}", which is not there`, location);
    }
    const own = new Set((query.userTools ?? []).flatMap((pattern) => findUserTools(domain, pattern)));
    for (const { name, by } of listAllCalls(taskInfo.plan ?? [])) {
      if (by === "user" && !own.has(domain.toolbox.wireName(name)))
        report.fail(`${files.name}: the plan's user_calls has "${name}", which is none of the user_tools`, location);
    }
  }
  return queries;
}

function noteTried(domain: Domain, { called, failed }: TriedTools, report: CheckReport, location?: Location): void {
  report.called += domain.toolbox.names().filter((tool) => called.has(tool)).length;
  for (const [tool, said] of failed) report.fail(`${domain.name}: ${tool} was called and failed: ${said}`, location);
}
