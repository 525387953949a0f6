// `rollout validate`: a dataset file, ours or not, checked line by line.
import { Option } from "commander";
import { FORMATS, validateFile } from "../../export/index.ts";
import { whole } from "../flags.ts";
import type { Configure } from "../host.ts";
import { createTerminal, printable } from "../printing/terminal.ts";
import { keysOf } from "./export.ts";

const EXAMPLES = `
Examples:
  rollout validate data/train.jsonl --format openai
  rollout validate data/train.parquet --format verl-sft

Exit code 2 where there are errors; warnings are mistakes that the dialogue itself answers.`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<file>")
    .addOption(new Option("--format <name>", "its format").choices([...FORMATS.keys()]).makeOptionMandatory())
    .option("--max-findings <n>", "print at most so many findings", whole(1), 1000)
    .addHelpText("after", EXAMPLES)
    .action(async (file: string, { format, maxFindings }: { format: string; maxFindings: number }) => {
      const terminal = createTerminal(host);
      const counts = { error: 0, warning: 0 };
      const findings = validateFile({ file, format, secrets: keysOf(host.env) });
      let next = await findings.next();
      for (; !next.done; next = await findings.next()) {
        const { level, line, message } = next.value;
        counts[level]++;
        if (counts.error + counts.warning > maxFindings) continue;
        terminal.out(
          `${terminal.paint(level === "error" ? "red" : "yellow", level)}  ${printable(`${file}:${line}: ${message}`)}`,
        );
      }
      const hidden = counts.error + counts.warning - maxFindings;
      if (hidden > 0) terminal.out(`… and ${hidden} more`);
      terminal.out(`${next.value} rows: ${counts.error} errors, ${counts.warning} warnings`);
      done(counts.error > 0 ? 2 : 0);
    });
};
