// `rollout stats`: describes a run or a file in numbers, and as a page with pictures.
import { basename, resolve } from "node:path";
import { Option } from "commander";
import { messageOf, UsageError } from "../../core/index.ts";
import { collectStats, statsHtml, TOKENIZERS } from "../../export/index.ts";
import { writeWhole } from "../../files/index.ts";
import type { Configure } from "../host.ts";
import { createCountProgress } from "../printing/count-progress.ts";
import { statsLines } from "../printing/stats-text.ts";
import { hubFolders, TEMPLATE_FLAG, templateLines } from "../printing/template-text.ts";
import { createTerminal, printableJson, printableName } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout stats outputs/example
  rollout stats outputs/example --html stats.html
  rollout stats outputs/example --template path/to/tokenizer
  rollout stats data/labelled.jsonl --json`;

type Flags = { tokenizer: string; basePath?: string; template?: string; html?: string; json?: boolean };

export const configure: Configure = (command, host, done) => {
  command
    .argument("<input...>")
    .addOption(
      new Option("--tokenizer <name>", "what tokens are counted with").choices([...TOKENIZERS]).default("o200k_base"),
    )
    .option("--base-path <dir>", "dataset folder to take the original system's tool lists from")
    .option("--template <path>", TEMPLATE_FLAG)
    .option("--html <file>", "also write a page with pictures")
    .option("--json", "print as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (inputs: string[], { json, html, ...flags }: Flags) => {
      const terminal = createTerminal(host);
      const progress = createCountProgress(host, { text: "reading the records", quiet: json });
      const onNotice = (message: string) => {
        progress.erase();
        terminal.err(printableName(message));
      };
      const onRecord = () => progress.count("records read");
      const options = { inputs, ...flags, hubFolders: hubFolders(host.env), onNotice, onRecord };
      const stats = await collectStats(options).finally(() => progress.stop());
      if (html !== undefined)
        writePage(
          html,
          statsHtml(
            stats,
            inputs.map((input) => basename(resolve(input))),
          ),
        );
      for (const line of json ? [printableJson(JSON.stringify(stats))] : statsLines(terminal, stats))
        terminal.out(line);
      if (stats.template && !json) for (const line of ["", ...templateLines(stats.template)]) terminal.out(line);
      if (html !== undefined && !json) terminal.out(`\nwrote ${html}`);
      done(0);
    });
};

function writePage(file: string, page: string): void {
  try {
    writeWhole(file, page);
  } catch (error) {
    throw new UsageError(`Cannot write the page: ${messageOf(error)}`, { file });
  }
}
