export { type FormatName, IMPORT_FORMATS } from "./formats.ts";
export { type ImportReport, importTasks } from "./import-tasks.ts";
export type { DatasetReport } from "./tally.ts";
