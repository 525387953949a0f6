export { type FleetOptions, openFleet } from "./fleet.ts";
export { type ServedQueue, serveQueue, type WorkerOptions } from "./worker.ts";
