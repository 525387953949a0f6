export { type DroppedRun, dropRun } from "./drop.ts";
export { type FleetOptions, openFleet } from "./fleet.ts";
export { listQueue, type QueueContents, type QueuedRun } from "./list.ts";
export { type ServedQueue, serveQueue, type WorkerOptions } from "./worker.ts";
