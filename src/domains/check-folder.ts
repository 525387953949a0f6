// Checks a whole dataset folder, or the datasets of a config: everything wrong or odd, with its location, before a run
// hits it.
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject, UsageError } from "../core/index.ts";
import { readJson } from "../files/index.ts";
import { type McpServersConfig, primaryKey } from "../tools/index.ts";
import { checkDomain, checkServers, checkSources } from "./check-domain.ts";
import { CheckReport, type Finding } from "./check-report.ts";
import type { DomainResources, Isolation } from "./domain.ts";
import { DatasetFolder, type DatasetKind, type DomainFiles, openDatasetFolder } from "./folder.ts";
import type { ServerLocations } from "./mcp-domain.ts";
import { type OwnTools, openSources } from "./open-sources.ts";
import type { QueryDefaults } from "./query-file.ts";
import type { RunResources } from "./resources.ts";

export async function checkFolder(base: string, resources: DomainResources): Promise<CheckReport> {
  const report = new CheckReport();
  const seen = new Set<string>();
  for (const kind of ["single", "cross"] as const) {
    const folder = openFolder(base, kind, report);
    if (!folder) continue;
    if (!seen.has(folder.path)) checkFiles(folder, report);
    seen.add(folder.path);
    for (const files of folder.list(kind)) await checkDomain(files, folder, resources, report);
  }
  return report;
}

/** A dataset as a config names it: a domain, MCP servers, or tools of its own. */
export type CheckedDataset = {
  name: string;
  domain: DomainFiles;
  queryFiles: string[];
  defaults?: QueryDefaults;
  mcpServers?: McpServersConfig;
  ownTools?: OwnTools;
  mcpLocations?: ServerLocations;
  isolation?: Isolation;
};

export async function checkDatasets(datasets: CheckedDataset[], resources: RunResources): Promise<CheckReport> {
  const report = new CheckReport();
  const seen = new Set<string>();
  for (const { name, domain, mcpServers: servers, mcpLocations: locations, isolation, ...own } of datasets) {
    const files = { ...domain, name, queryFiles: own.queryFiles, defaults: own.defaults };
    if (own.ownTools) {
      const source = { servers: servers ?? {}, hub: resources.mcp(servers ?? {}), locations };
      const sources = { name, domain, mcpServers: servers, ownTools: own.ownTools, isolation };
      await checkSources(
        files,
        { source, open: (openServers) => openSources(sources, resources, openServers) },
        report,
      );
      continue;
    }
    if (servers) {
      await checkServers(files, { servers, hub: resources.mcp(servers), locations }, report);
      continue;
    }
    const [file] = [...Object.values(domain.serverFiles), ...Object.values(domain.toolListFiles)];
    if (file === undefined) continue; // questions without tools
    const folder = new DatasetFolder(dirname(dirname(file)));
    if (!seen.has(folder.path)) checkFiles(folder, report);
    seen.add(folder.path);
    await checkDomain(files, folder, { ...resources, isolation }, report);
  }
  return report;
}

function openFolder(base: string, kind: DatasetKind, report: CheckReport): DatasetFolder | undefined {
  try {
    return openDatasetFolder(base, kind);
  } catch (error) {
    if (kind === "single") report.note(error);
    return undefined;
  }
}

function checkFiles(folder: DatasetFolder, report: CheckReport): void {
  checkTables(folder, report);
  checkExtras(folder, report);
}

function checkTables(folder: DatasetFolder, report: CheckReport): void {
  for (const file of tableFiles(join(folder.path, "database", "outputs"))) {
    const rows = tryJson(file, report);
    if (rows === undefined) continue;
    if (!Array.isArray(rows) || !rows.every(isObject)) {
      report.fail("a table must be a list of records", { file });
      continue;
    }
    const key = primaryKey(basename(file, ".json"));
    const ids = rows.map((row) => row[key]);
    const without = ids.filter((id) => id === undefined || id === null).length;
    if (rows.length > 0 && without === rows.length) report.warn(`no record has "${key}"`, { file });
    else if (without > 0) report.warn(`${without} records have no "${key}"`, { file });
    if (new Set(ids).size < ids.length - Math.max(without - 1, 0))
      report.warn(`some values of "${key}" occur twice`, { file });
  }
}

/** Files that only evaluation reads: broken ones do not stop a run. */
function checkExtras(folder: DatasetFolder, report: CheckReport): void {
  const tasks = join(folder.path, "validated_tasks");
  const combos = existsSync(tasks) ? readdirSync(tasks).map((name) => join(tasks, name, "validated_combos.json")) : [];
  for (const file of [...combos, join(folder.path, "blueprints.json")].filter((path) => existsSync(path))) {
    const value = tryJson(file, report, "warning");
    if (value !== undefined && !Array.isArray(value))
      report.warn("must be a list; evaluation will not use it", { file });
  }
}

function tryJson(file: string, report: CheckReport, level: Finding["level"] = "error"): unknown {
  try {
    return readJson(file);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    report.findings.push({ level, message: error.reason, location: error.location ?? { file } });
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
