// The formats that can be imported, by the names of the command line.
import { bfcl } from "./bfcl/read-bfcl.ts";
import type { ImportFormat } from "./format.ts";
import { tau2 } from "./tau2/read-tau2.ts";
import { toolbench } from "./toolbench/read-toolbench.ts";

export const IMPORT_FORMATS = {
  tau2,
  bfcl,
  toolbench,
  "toolbench-like": toolbench,
} satisfies { [name: string]: ImportFormat };

export type FormatName = keyof typeof IMPORT_FORMATS;
