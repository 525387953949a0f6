export { type DoctorOptions, examineAll, type Section } from "./examine.ts";
