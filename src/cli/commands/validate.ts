// `rollout validate`: a dataset file, ours or not, checked line by line; what is found is grouped by its kind.
import { Option } from "commander";
import { type Finding, FORMATS, validateFile } from "../../export/index.ts";
import { whole } from "../flags.ts";
import type { Configure } from "../host.ts";
import { createCountProgress } from "../printing/count-progress.ts";
import { hubFolders, TEMPLATE_FLAG, templateLines } from "../printing/template-text.ts";
import { createTerminal, printable } from "../printing/terminal.ts";
import { keysOf } from "./export.ts";

const EXAMPLES = `
Examples:
  rollout validate data/train.jsonl --format openai
  rollout validate data/train.parquet --format verl-sft
  rollout validate data/train.jsonl --format axolotl --template path/to/tokenizer

Exit code 2 where there are errors; warnings are mistakes that the dialogue itself answers.`;

type Flags = { format: string; template?: string; maxFindings: number };

export const configure: Configure = (command, host, done) => {
  command
    .argument("<file>")
    .addOption(new Option("--format <name>", "its format").choices([...FORMATS.keys()]).makeOptionMandatory())
    .option("--template <path>", TEMPLATE_FLAG)
    .option("--max-findings <n>", "print at most so many kinds of findings", whole(1), 100)
    .addHelpText("after", EXAMPLES)
    .action(async (file: string, { format, template, maxFindings }: Flags) => {
      const terminal = createTerminal(host);
      const groups = new Groups();
      const progress = createCountProgress(host, { text: "reading the file" });
      const findings = validateFile({
        file,
        format,
        template,
        hubFolders: hubFolders(host.env),
        secrets: keysOf(host.env),
        onRow: () => progress.count("rows checked"),
      });
      let next = await findings.next();
      for (; !next.done; next = await findings.next()) groups.add(next.value);
      progress.stop();
      for (const { level, line, message, count, others } of groups.list().slice(0, maxFindings)) {
        const more =
          count > 1
            ? ` (${count} times; also in line ${others.join(", ")}${count > others.length + 1 ? ", …" : ""})`
            : "";
        terminal.out(
          `${terminal.paint(level === "error" ? "red" : "yellow", level)}  ${printable(`${file}:${line}: ${message}${more}`)}`,
        );
      }
      const hidden = groups.list().length - maxFindings;
      if (hidden > 0) terminal.out(`… and ${hidden} more kinds`);
      if (next.value.template) for (const line of templateLines(next.value.template)) terminal.out(line);
      terminal.out(`${next.value.rows} rows: ${groups.counts.error} errors, ${groups.counts.warning} warnings`);
      done(groups.counts.error > 0 ? 2 : 0);
    });
};

type Group = Finding & { count: number /** further lines */; others: number[] };

const MAX_LINES = 10;

/** Findings that differ only in their place are of one kind. */
class Groups {
  readonly counts = { error: 0, warning: 0 };
  readonly #groups = new Map<string, Group>();

  add(finding: Finding): void {
    const { level, message, line } = finding;
    const kind = `${level} ${message.replace(/^(message|turn) \d+/, "")}`;
    const group = this.#groups.get(kind);
    this.counts[level]++;
    if (!group) this.#groups.set(kind, { ...finding, count: 1, others: [] });
    else {
      group.count++;
      if (group.others.length < MAX_LINES && group.others.at(-1) !== line) group.others.push(line);
    }
  }

  /** Errors first, the most frequent first. */
  list(): Group[] {
    return [...this.#groups.values()].sort((a, b) => a.level.localeCompare(b.level) || b.count - a.count);
  }
}
