// The formats that can be imported, by the names of the command line.
import type { ImportFormat } from "./format.ts";
import { tau2 } from "./tau2/read-tau2.ts";

export const IMPORT_FORMATS = {
  tau2,
} satisfies { [name: string]: ImportFormat };

export type FormatName = keyof typeof IMPORT_FORMATS;
