export { openFleet } from "./fleet.ts";
export { serveQueue } from "./worker.ts";
