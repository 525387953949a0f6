// `rollout export`: trajectories in a trainer's own format.
import { Option } from "commander";
import {
  type CountsReport,
  type ExportOptions,
  exportDataset,
  FORMATS,
  LOSS_MODES,
  PAIR_MODES,
  parseSplit,
  REASONING_MODES,
  TOKENIZERS,
} from "../../export/index.ts";
import { listProviders } from "../../models/index.ts";
import { atLeastZero, list, whole } from "../flags.ts";
import type { Configure, Host } from "../host.ts";
import { createTerminal, printable, type Terminal, table } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout export outputs/example --format openai --out data/train.jsonl --include-scripted
  rollout export run-a run-b --format trl --out data --split train=0.9,valid=0.1 --solved --dedupe
  rollout export outputs/run --format trl --pairs preference --out pairs.jsonl`;

const RENAMED =
  "--success-only is now --ended; it keeps records that came to a regular end, not solved ones: for those use --solved";

type Flags = Omit<ExportOptions, "inputs" | "secrets" | "split"> & {
  stopReason?: string[];
  dataset?: string[];
  tag?: string[];
  split?: string;
  json?: boolean;
};

export const configure: Configure = (command, host, done) => {
  command
    .argument("<input...>")
    .addOption(new Option("--format <name>", "the target").choices([...FORMATS.keys()]).makeOptionMandatory())
    .requiredOption("--out <path>", "a file, or a folder (with --split always a folder)")
    .addOption(
      new Option("--container <kind>", "another container than the format's own").choices(["jsonl", "parquet"]),
    )
    .option("--ended", "only records that came to a regular end, solved or not")
    .option("--solved", "only records whose task is solved, by the scores of rollout eval")
    .addOption(new Option("--success-only", "the old name of --ended").hideHelp())
    .option("--min-score <score>", "only records with at least this score; unscored ones never", atLeastZero)
    .option("--stop-reason <a,b>", "only records with these stop reasons", list)
    .option("--dataset <a,b>", "only records of these datasets", list)
    .option("--tag <a,b>", "only records with all these tags; !tag asks for its absence", list)
    .option("--max-tokens <n>", "only records of at most so many tokens", whole(1))
    .addOption(
      new Option("--tokenizer <name>", "what --max-tokens counts with").choices([...TOKENIZERS]).default("o200k_base"),
    )
    .option("--dedupe", "leave out exact repeats of the user's words and the agent's calls")
    .option("--best-of", "only the best rollout of each query, by score")
    .option("--per-query <k>", "at most k rollouts of each query", whole(1))
    .option("--include-scripted", "take in records of scripted models, which are no model's output")
    .option("--split <shares>", "sides by query, such as train=0.9,valid=0.1")
    .option("--shuffle <seed>", "an order that follows from the seed", whole(0))
    .addOption(new Option("--pairs <kind>", "rows for preference training").choices([...PAIR_MODES]))
    .option("--desirable <score>", "for --pairs kto: the score from which a rollout is good (1)", atLeastZero)
    .addOption(new Option("--reasoning <mode>", "what becomes of reasoning").choices([...REASONING_MODES]))
    .addOption(new Option("--loss <mode>", "which agent messages are learnt").choices([...LOSS_MODES]))
    .addOption(
      new Option("--arguments <kind>", "trl: arguments as objects or as JSON text").choices(["object", "string"]),
    )
    .option("--transform <file>", "a TypeScript or JavaScript function that each record goes through")
    .option("--base-path <dir>", "dataset folder to label the original system's records from")
    .option("--data-source <name>", "deepseek, verl-rl: the source that rows name (agent)")
    .option("--use-cot", "deepseek: rows are marked for chain of thought (the default)")
    .option("--no-use-cot", "deepseek: rows are not")
    .option("--strict", "leave out rows that would lose something, instead of noting it")
    .option("--allow-secrets", "export texts that look like keys")
    .option("--license <name>", "licence for the dataset card")
    .option("--json", "print the counts as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (inputs: string[], { stopReason, dataset, tag, split, json, ...flags }: Flags) => {
      const terminal = createTerminal(host);
      if (flags.successOnly) terminal.err(RENAMED);
      const { files, counts } = await exportDataset({
        ...flags,
        inputs,
        stopReasons: stopReason,
        datasets: dataset,
        tags: tag,
        split: split === undefined ? undefined : parseSplit(split),
        secrets: keysOf(host.env),
      });
      if (json) terminal.out(JSON.stringify({ ...counts, files }));
      else
        for (const line of [...countLines(terminal, counts), ...files.map((file) => `wrote ${file}`)])
          terminal.out(line);
      done(0);
    });
};

export function countLines(terminal: Terminal, counts: CountsReport): string[] {
  const left = counts.in - counts.used;
  const sides = Object.entries(counts.splits);
  const rows = [
    ...(sides.length > 1 ? sides.map(([side, number]) => [`  ${side}`, String(number)]) : []),
    ...Object.entries(counts.left_out).map(([reason, number]) => [`  left out: ${reason}`, String(number)]),
    ...Object.entries(counts.notes).map(([note, number]) => [`  note: ${note}`, String(number)]),
  ];
  const head = `${counts.in} records in = ${counts.used} used for ${counts.out} rows + ${left} left out`;
  return [terminal.paint("bold", head), ...table(rows, { right: [1] })].map(printable);
}

/** Keys in this environment: none of them may appear in a dataset. */
export function keysOf(env: Host["env"]): string[] {
  const names = new Set(listProviders().flatMap(({ keys }) => keys));
  return [...names].flatMap((name) => (env[name] ? [env[name]] : []));
}
