export { startViewer, type Viewer } from "./server.ts";
