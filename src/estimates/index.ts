export { type DryDataset, dryRun } from "./dry-run.ts";
export { ASSUMPTIONS } from "./estimate.ts";
export { type Pilot, type PilotDataset, runPilot, type Spread, scale } from "./pilot.ts";
export { preflight } from "./preflight.ts";
