// The library: everything that the command line does, as typed calls.
export type { Json, JsonObject } from "./core/index.ts";
export type { DomainServer, PolicyRule, Row, Table, ToolContext } from "./tools/index.ts";
