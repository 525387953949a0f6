// Checks a whole dataset folder: everything wrong or odd, with its location, before a run hits it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isObject, type Location, listPlannedCalls, messageOf, UsageError } from "../core/index.ts";
import { primaryKey, schemaProblem } from "../tools/index.ts";
import { type Domain, type DomainResources, loadDomain, readToolList } from "./domain.ts";
import { type DatasetFolder, type DatasetKind, type DomainFiles, openDatasetFolder } from "./folder.ts";
import { referenceProblem } from "./plan-references.ts";
import { openQueryFiles, queryProblems } from "./query-file.ts";

/** An error keeps a domain from running; a warning is odd but harmless. */
type Finding = { level: "error" | "warning"; message: string; location?: Location };
export type FolderReport = { domains: number; queries: number; findings: Finding[] };

export async function checkFolder(base: string, resources: DomainResources): Promise<FolderReport> {
  const report: FolderReport = { domains: 0, queries: 0, findings: [] };
  const seen = new Set<string>();
  for (const kind of ["single", "cross"] as const) {
    const folder = openFolder(base, kind, report);
    if (!folder) continue;
    if (!seen.has(folder.path)) checkTables(folder, report);
    if (!seen.has(folder.path)) checkExtras(folder, report);
    seen.add(folder.path);
    for (const files of folder.list(kind)) await checkDomain(files, folder, resources, report);
  }
  return report;
}

function openFolder(base: string, kind: DatasetKind, report: FolderReport): DatasetFolder | undefined {
  try {
    return openDatasetFolder(base, kind);
  } catch (error) {
    if (kind === "single") note(report, error);
    return undefined;
  }
}

async function checkDomain(
  files: DomainFiles,
  folder: DatasetFolder,
  resources: DomainResources,
  report: FolderReport,
): Promise<void> {
  const warn = (message: string, location?: Location) =>
    report.findings.push({ level: "warning", message: `${files.name}: ${message}`, location });
  report.domains++;
  const unknown = files.servers.filter((server) => !folder.serverNames().includes(server));
  for (const server of unknown)
    fail(report, `${files.name}: there is no server named "${server}"`, { file: files.queryFiles[0] ?? folder.path });
  for (const missing of files.missing) {
    if (missing.startsWith("policies/")) warn(`${missing} is missing: the agent gets no policy`);
    else if (missing.startsWith("queries/")) warn(`${missing} is missing: there is nothing to run`);
    else if (unknown.length === 0) fail(report, `${files.name}: ${missing} is missing`, { file: folder.path });
  }
  for (const server of files.servers) checkToolList(server, files, report);
  for (const file of files.queryFiles) for (const problem of queryProblems(file)) note(report, problem);
  const domain = await tryLoading(files, resources, report);
  if (
    report.findings.some(
      (finding) => finding.level === "error" && files.queryFiles.includes(finding.location?.file ?? ""),
    )
  )
    return;
  await checkQueries(files, domain, report, warn);
}

/** Loads the servers for real and opens one environment: a missing class shows only now. */
async function tryLoading(
  files: DomainFiles,
  resources: DomainResources,
  report: FolderReport,
): Promise<Domain | undefined> {
  if (files.servers.some((server) => !files.serverFiles[server] || !files.toolListFiles[server])) return undefined;
  try {
    const domain = await loadDomain(files, resources);
    await (await domain.openEnvironment(0)).close();
    return domain;
  } catch (error) {
    note(report, error);
    return undefined;
  }
}

function checkToolList(server: string, files: DomainFiles, report: FolderReport): void {
  const file = files.toolListFiles[server];
  if (!file || report.findings.some((finding) => finding.location?.file === file)) return;
  try {
    const tools = readToolList(server, files);
    const names = tools.map((tool) => tool.name);
    for (const name of new Set(names.filter((name, index) => names.indexOf(name) !== index))) {
      report.findings.push({ level: "warning", message: `"${name}" is listed twice`, location: { file } });
    }
    for (const tool of tools) {
      const problem = schemaProblem(tool.parameters);
      if (problem)
        report.findings.push({
          level: "warning",
          message: `the schema of "${tool.name}" cannot be used, so its arguments are not checked: ${problem}`,
          location: { file },
        });
      if (!tool.description)
        report.findings.push({ level: "warning", message: `"${tool.name}" has no description`, location: { file } });
    }
  } catch (error) {
    note(report, error);
  }
}

async function checkQueries(
  files: DomainFiles,
  domain: Domain | undefined,
  report: FolderReport,
  warn: (message: string, location?: Location) => void,
): Promise<void> {
  const queries = openQueryFiles(files.queryFiles);
  report.queries += queries.size;
  if (files.queryFiles.length > 0 && queries.size === 0)
    warn("its query files are empty", { file: files.queryFiles[0] as string });
  if (queries.repeats > 0) warn(`${queries.repeats} repeated queries are read once`);
  for (const { id, keptAs, first, second } of queries.clashes) {
    warn(
      `id "${id}" is used by two queries (the other is at ${first.file}:${first.line}); this one is "${keptAs}"`,
      second,
    );
  }
  if (!domain) return;
  for (let index = 0; index < queries.size; index++) {
    const query = queries.load(index);
    const { taskInfo, userSystemPrompt } = query;
    const location = queries.location(index);
    const wrong = await referenceProblem(query, domain);
    if (wrong) fail(report, `${files.name}: ${wrong}`, location);
    if (!userSystemPrompt) warn("no user_system_prompt: the simulated user has no scenario", location);
    const named = Array.isArray(taskInfo.trajectory) ? taskInfo.trajectory : [];
    const planned = taskInfo.plan ? listPlannedCalls(taskInfo.plan).map((call) => call.name) : [];
    for (const tool of new Set([...named, ...planned])) {
      if (!domain.toolbox.resolve(String(tool))) warn(`names the tool "${tool}", which is not there`, location);
    }
  }
}

function checkTables(folder: DatasetFolder, report: FolderReport): void {
  for (const file of tableFiles(join(folder.path, "database", "outputs"))) {
    const rows = readJson(file, report);
    if (rows === undefined) continue;
    if (!Array.isArray(rows) || !rows.every(isObject)) {
      fail(report, "a table must be a list of records", { file });
      continue;
    }
    const key = primaryKey(basename(file, ".json"));
    const ids = rows.map((row) => row[key]);
    const without = ids.filter((id) => id === undefined || id === null).length;
    if (rows.length > 0 && without === rows.length)
      report.findings.push({ level: "warning", message: `no record has "${key}"`, location: { file } });
    else if (without > 0)
      report.findings.push({ level: "warning", message: `${without} records have no "${key}"`, location: { file } });
    if (new Set(ids).size < ids.length - Math.max(without - 1, 0))
      report.findings.push({ level: "warning", message: `some values of "${key}" occur twice`, location: { file } });
  }
}

/** Files that only evaluation reads: broken ones do not stop a run. */
function checkExtras(folder: DatasetFolder, report: FolderReport): void {
  const tasks = join(folder.path, "validated_tasks");
  const combos = existsSync(tasks) ? readdirSync(tasks).map((name) => join(tasks, name, "validated_combos.json")) : [];
  for (const file of [...combos, join(folder.path, "blueprints.json")].filter((path) => existsSync(path))) {
    const value = readJson(file, report, "warning");
    if (value !== undefined && !Array.isArray(value))
      report.findings.push({
        level: "warning",
        message: "must be a list; evaluation will not use it",
        location: { file },
      });
  }
}

function readJson(file: string, report: FolderReport, level: Finding["level"] = "error"): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    report.findings.push({ level, message: `is not valid JSON: ${messageOf(error)}`, location: { file } });
    return undefined;
  }
}

function tableFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? tableFiles(path) : entry.name.endsWith(".json") ? [path] : [];
  });
}

function fail(report: FolderReport, message: string, location: Location): void {
  report.findings.push({ level: "error", message, location });
}

/** The same complaint may come from several readers of a file: it is reported once. */
function note(report: FolderReport, error: unknown): void {
  if (!(error instanceof UsageError)) throw error;
  const finding: Finding = {
    level: "error",
    message: error.reason,
    location: error.location,
  };
  const told = report.findings.some(
    ({ message, location }) =>
      message === finding.message &&
      location?.file === finding.location?.file &&
      location?.line === finding.location?.line,
  );
  if (!told) report.findings.push(finding);
}
