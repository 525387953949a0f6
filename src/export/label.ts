// Puts the system prompt and the tools that were actually used into records: from the run's own prompts, or, for
// files of the original system, from the dataset folder. A record that cannot be labelled is left out and counted.
import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UsageError } from "../core/index.ts";
import { Counts, type CountsReport } from "./counts.ts";
import { toLine } from "./record.ts";
import { shareText } from "./row-text.ts";
import { Source } from "./source.ts";
import { createJsonlWriter } from "./write-jsonl.ts";

export type LabelOptions = {
  input: string;
  out?: string;
  basePath?: string;
  onNotice?: (message: string) => void;
  onRecord?: () => void;
};
export type LabelResult = { file: string; counts: CountsReport };

const UNLABELLED = "neither a run's prompts nor the dataset folder know its tools";

export async function labelRecords({ input, out, ...options }: LabelOptions): Promise<LabelResult> {
  const { basePath } = options;
  const source = await Source.open({ inputs: [input], ...options });
  const file = out ?? defaultOut(input);
  const clash = source.inputs.find((read) => resolve(read.file) === resolve(file));
  if (clash) throw new UsageError(`--out would replace ${clash.file}, which is read`);
  mkdirSync(dirname(resolve(file)), { recursive: true });
  const draft = `${file}.${process.pid}.new`;
  const writer = createJsonlWriter(draft);
  const counts = new Counts();
  try {
    for await (const item of source.read()) {
      counts.in++;
      const reason = "reason" in item ? item.reason : item.record.tools ? undefined : UNLABELLED;
      if (reason || !("record" in item)) {
        counts.leaveOut(reason as string);
        continue;
      }
      const { tools, ...line } = toLine(item.record);
      writer.write({ ...line, tools: shareText(tools as object) });
      counts.write("train");
      if (item.record.system === undefined) counts.note("there is no policy, and none was invented: no system prompt");
    }
    const report = counts.report();
    if (report.out === 0 && report.in > 0) throw new UsageError(describeNothing(report, basePath));
    writer.close();
    renameSync(draft, file);
    return { file, counts: report };
  } catch (error) {
    writer.abandon();
    rmSync(draft, { force: true });
    throw error;
  } finally {
    source.close();
  }
}

function describeNothing({ in: records, left_out }: CountsReport, basePath: string | undefined): string {
  const reasons = Object.entries(left_out).map(([reason, number]) => `${number} ${reason}`);
  const advice = basePath === undefined ? "; --base-path names the dataset folder they were made from" : "";
  return `None of the ${records} records could be labelled: ${reasons.join("; ")}${advice}`;
}

/** Next to the input, and never inside a folder that is read. */
function defaultOut(input: string): string {
  const path = input.replace(/[\\/]+$/, "");
  return statSync(path).isDirectory() ? `${path}.labelled.jsonl` : `${path.replace(/\.jsonl$/, "")}.labelled.jsonl`;
}
