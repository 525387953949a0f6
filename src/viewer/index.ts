export { annotatorSchema } from "./annotate.ts";
export { startViewer, type Viewer } from "./server.ts";
