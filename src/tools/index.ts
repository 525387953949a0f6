export { checkArguments, failure, unknownTool } from "./arguments.ts";
export type { DomainServer, PolicyRule, ToolContext, ToolHandler } from "./domain-server.ts";
export { type InProcessDomain, openInProcess, toToolResult } from "./in-process.ts";
export { loadDefaultExport } from "./load-module.ts";
export { type NamedTool, type NameStyle, type ServerTools, snakeCase, Toolbox } from "./naming.ts";
export { BaseTable, Database, primaryKey, type Row, type Table } from "./tables.ts";
