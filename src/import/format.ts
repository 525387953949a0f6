// What a format of other people's tasks is: one folder each, listed in `formats.ts`.
import type { Variables } from "../core/index.ts";
import type { DatasetReport } from "./tally.ts";

export type ImportOptions = {
  /** the checkout's folder, or the file */
  source: string;
  /** the folder in which each dataset gets one */
  out: string;
  /** an interpreter or a virtual environment for the benchmark's own code */
  python?: string | undefined;
  /** only these of the source's domains */
  domains?: string[] | undefined;
  /** which of the source's splits; `all` for everything */
  split?: string | undefined;
  /** the file of possible answers, where it is not found by itself */
  answers?: string | undefined;
  env: Variables;
};

export type ImportFormat = {
  /** Throws a UsageError, with what was looked for, if the source is not of this format. */
  read: (options: ImportOptions) => Promise<DatasetReport[]>;
};
