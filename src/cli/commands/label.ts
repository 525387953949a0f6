// `rollout label`: puts the system prompt and the tools that were actually used into the records.
import { labelRecords } from "../../export/index.ts";
import type { Configure } from "../host.ts";
import { createCountProgress } from "../printing/count-progress.ts";
import { createTerminal, printable } from "../printing/terminal.ts";
import { countLines } from "./export.ts";

const EXAMPLES = `
Examples:
  rollout label outputs/example --out labelled.jsonl
  rollout label outputs_cross --base-path datasets/cross_domain --out mt_cross_domain.jsonl`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<input>")
    .option("--out <file>", "where to (default: next to the input, as .labelled.jsonl)")
    .option("--base-path <dir>", "for files of the original system: the dataset folder they were made from")
    .addHelpText("after", EXAMPLES)
    .action(async (input: string, flags: { out?: string; basePath?: string }) => {
      const terminal = createTerminal(host);
      const progress = createCountProgress(host, { text: "reading the records" });
      const onNotice = (message: string) => {
        progress.erase();
        terminal.err(printable(message));
      };
      const onRecord = () => progress.count("records read");
      const labelling = labelRecords({ input, ...flags, onNotice, onRecord });
      const { file, counts } = await labelling.finally(() => progress.stop());
      for (const line of [...countLines(terminal, counts), `wrote ${file}`]) terminal.out(line);
      done(0);
    });
};
