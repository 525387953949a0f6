export { annotatorSchema } from "./annotate.ts";
export { startViewer, type Viewer, type ViewerOptions } from "./server.ts";
