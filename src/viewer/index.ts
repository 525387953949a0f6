export { startViewer, type Viewer, type ViewerOptions } from "./server.ts";
