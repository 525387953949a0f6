// Every format by its name.
import { didYouMean, UsageError } from "../../core/index.ts";
import { axolotl } from "./axolotl.ts";
import { jsonl, parquet } from "./canonical.ts";
import { deepseek } from "./deepseek.ts";
import type { Format } from "./format.ts";
import { llamafactory } from "./llamafactory.ts";
import { llamafactoryOpenai } from "./llamafactory-openai.ts";
import { msSwift } from "./ms-swift.ts";
import { openai } from "./openai.ts";
import { trl } from "./trl.ts";
import { verlRl } from "./verl-rl.ts";
import { verlSft } from "./verl-sft.ts";

const ALL = [
  openai,
  trl,
  axolotl,
  llamafactory,
  llamafactoryOpenai,
  msSwift,
  verlSft,
  verlRl,
  deepseek,
  jsonl,
  parquet,
];

export const FORMATS: ReadonlyMap<string, Format> = new Map(ALL.map((format) => [format.name, format]));

export function findFormat(name: string): Format {
  const format = FORMATS.get(name);
  if (format) return format;
  throw new UsageError(
    `There is no format "${name}"${didYouMean(name, FORMATS.keys()) || `; there are: ${[...FORMATS.keys()].join(", ")}`}`,
  );
}
