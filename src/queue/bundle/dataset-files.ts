// The files of a dataset: those that its settings name, and what its code needs besides.
import { basename, dirname, join, resolve } from "node:path";
import type { DatasetSpec } from "../../config/index.ts";
import { BUNDLED_PATH, type DomainFiles } from "../../domains/index.ts";
import { listCorpusFiles, listTableFiles } from "../../tools/index.ts";
import type { CodeFiles } from "./code-files.ts";
import { type FileSet, isWithin } from "./file-set.ts";

export type Collecting = { files: FileSet; code: CodeFiles; base: string };

/** `named`: query files that the config names itself, and not by way of a folder. */
export function addDataset(spec: DatasetSpec, named: readonly string[], collecting: Collecting): void {
  const { files, code, base } = collecting;
  for (const root of listRoots(spec, named)) files.allow(root);
  addDomain(spec.domain, collecting);
  for (const file of spec.queryFiles) {
    if (named.includes(file)) files.addNamed(file);
    else files.add(file);
  }
  for (const { toolListFiles } of spec.otherDomains) for (const file of Object.values(toolListFiles)) files.add(file);
  for (const file of spec.ownTools?.files ?? []) {
    files.addNamed(file);
    code.follow([file], isWithin(resolve(file), base) ? base : dirname(file));
  }
  const { corpus } = spec.ownTools ?? {};
  if (corpus === undefined) return;
  files.allow(corpus);
  for (const file of listCorpusFiles(corpus)) files.add(file);
}

function addDomain(domain: DomainFiles, { files, code }: Collecting): void {
  const { policyFile, toolListFiles, serverFiles, tableFolders } = domain;
  const servers = Object.values(serverFiles);
  const tables = tableFolders.flatMap(listTableFiles);
  for (const file of [...(policyFile ? [policyFile] : []), ...Object.values(toolListFiles), ...servers, ...tables])
    files.add(file);
  for (const folder of new Set(servers.map((file) => dirname(file)))) {
    const root = dirname(folder);
    files.take(join(root, "blueprints.json"));
    const found = basename(folder) === "mcp_servers" ? files.sweep(folder) : [];
    if (isWithin(resolve(folder), BUNDLED_PATH)) continue; // it needs nothing but its tables
    // servers in Python read it themselves
    if (servers.some((file) => file.endsWith(".py"))) files.take(join(root, "database"));
    code.follow([...servers, ...found], root);
  }
}

const PARTS = ["queries", "policies", "tool_lists", "mcp_servers"];

/** The dataset folders that files lie in: `ROOT/queries/NAME.jsonl`, `ROOT/mcp_servers/NAME.py` and the like. */
function listRoots({ domain, queryFiles, otherDomains }: DatasetSpec, named: readonly string[]): Set<string> {
  const parts = [domain, ...otherDomains].flatMap(({ policyFile, toolListFiles, serverFiles }) => [
    ...(policyFile ? [policyFile] : []),
    ...Object.values(toolListFiles),
    ...Object.values(serverFiles),
  ]);
  const found = [...parts, ...queryFiles.filter((file) => !named.includes(file))];
  return new Set(
    found.map((file) => dirname(file)).map((folder) => (PARTS.includes(basename(folder)) ? dirname(folder) : folder)),
  );
}
