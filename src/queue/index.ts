export { type DroppedRun, dropRun } from "./drop.ts";
export { openFleet } from "./fleet.ts";
export { listQueue, type QueueContents, type QueuedRun } from "./list.ts";
export { serveQueue } from "./worker.ts";
