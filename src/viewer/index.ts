export { annotatorSchema } from "./annotate.ts";
export type { SeatItem } from "./api.ts";
export { HUMAN, Seat, type SeatAnswer } from "./seat.ts";
export { startViewer, type Viewer } from "./server.ts";
export { describeField, type Field, fieldsOf, writeField } from "./tool-form.ts";
