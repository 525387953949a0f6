export type { BundleFile, PackedRun, RunBundle } from "./bundle.ts";
export { BadBundleError } from "./check-bundle.ts";
export { packRun } from "./pack-run.ts";
export { LackingError, unpackRun } from "./unpack-run.ts";
