// Every place in a dataset's settings that holds a path, once, for both ways: out of here and into a worker's cache.
import type { DatasetSpec } from "../../config/index.ts";
import type { DomainFiles } from "../../domains/index.ts";

/** What stands for a path; references and paths pass through here in turn, so neither type fits. */
export type Replace = (path: never) => unknown;

export function replacePaths(spec: DatasetSpec, replace: Replace): DatasetSpec {
  const { domain, queryFiles, ownTools, otherDomains } = spec;
  const one = replace as (path: string) => string;
  return {
    ...spec,
    domain: replaceDomain(domain, one),
    queryFiles: queryFiles.map(one),
    ...(ownTools && {
      ownTools: {
        ...ownTools,
        files: ownTools.files.map(one),
        ...(ownTools.corpus !== undefined && { corpus: one(ownTools.corpus) }),
      },
    }),
    otherDomains: otherDomains.map((files) => replaceDomain(files, one)),
  };
}

function replaceDomain(files: DomainFiles, one: (path: string) => string): DomainFiles {
  const all = (paths: { [server: string]: string }) =>
    Object.fromEntries(Object.entries(paths).map(([server, path]) => [server, one(path)]));
  return {
    ...files,
    queryFiles: files.queryFiles.map(one),
    policyFile: files.policyFile === undefined ? undefined : one(files.policyFile),
    toolListFiles: all(files.toolListFiles),
    serverFiles: all(files.serverFiles),
    tableFolders: files.tableFolders.map(one),
  };
}
