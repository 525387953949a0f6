export { BUNDLED_PATH, bundledFolder } from "./bundled.ts";
export { checkFolder, type Finding, type FolderReport } from "./check-folder.ts";
export { type Domain, type DomainResources, loadDomain, readToolList, toToolSpecs } from "./domain.ts";
export { DatasetFolder, type DatasetKind, type DomainFiles, type FolderOptions, openDatasetFolder } from "./folder.ts";
export { loadMcpDomain } from "./mcp-domain.ts";
export { openForMode } from "./modes.ts";
export { matchName, parseNames, setKey } from "./names.ts";
export { type IdClash, openQueryFiles, QueryFile } from "./query-file.ts";
export { expectedState, type PlayedReference, playReference, withoutVolatile } from "./reference.ts";
