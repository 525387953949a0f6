// `rollout export`: trajectories in a trainer's own format.
import { Option } from "commander";
import {
  ANNOTATED,
  type CountsReport,
  type ExportOptions,
  type ExportResult,
  exportDataset,
  FORMATS,
  LOSS_MODES,
  PAIR_MODES,
  parseSplit,
  REASONING_MODES,
  TOKENIZERS,
  UNROLL_MODES,
} from "../../export/index.ts";
import { listProviders, TOOL_FORMATS } from "../../models/index.ts";
import { atLeastZero, GROUPS, list, whole } from "../flags.ts";
import type { Configure, Host } from "../host.ts";
import { createCountProgress } from "../printing/count-progress.ts";
import { hubFolders, TEMPLATE_FLAG, templateLines } from "../printing/template-text.ts";
import { createTerminal, printable, printableJson, type Terminal, table } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout export outputs/example --format openai --out data/train.jsonl --include-scripted
  rollout export run-a run-b --format trl --out data --split train=0.9,valid=0.1 --solved --dedupe
  rollout export outputs/run --format trl --pairs preference --out pairs.jsonl
  rollout export outputs/run --format trl --annotated accept --tag '!impolite' --out good
  rollout export outputs/run --format axolotl --template path/to/tokenizer --out data

Without --all, records stay out that did not end regularly, have a reply that was cut off, or failed their checks.
Exit code 3 if there are no rows: then nothing is written.`;

/** Otherwise the number of rows would be a riddle. */
const ROWS = {
  turn: ["one row per agent turn (--unroll)"],
  step: ["one row per agent reply (--unroll)"],
  dialogue: [],
};
const NOTHING = "There are no rows, so nothing was written. --all takes in what is left out by default.";
const DOUBLE =
  "arguments are JSON text: parse them before a chat template sees them, or most encode them a second time, and some fail";
const RENAMED =
  "--success-only is now --ended; it keeps records that came to a regular end, not solved ones: for those use --solved";

type Flags = Omit<ExportOptions, "inputs" | "secrets" | "split" | "env" | "hubFolders" | "onNotice"> & {
  stopReason?: string[];
  dataset?: string[];
  tag?: string[];
  annotator?: string[];
  split?: string;
  json?: boolean;
};

export const configure: Configure = (command, host, done) => {
  command
    .argument("<input...>")
    .optionsGroup(GROUPS.output)
    .addOption(new Option("--format <name>", "the target").choices([...FORMATS.keys()]).makeOptionMandatory())
    .requiredOption("--out <path>", "a file, or a folder (with --split always a folder)")
    .addOption(
      new Option("--container <kind>", "another container than the format's own").choices(["jsonl", "parquet"]),
    )
    .option("--json", "print the counts as JSON")
    .optionsGroup("Which records:")
    .option("--all", "everything: also what did not end regularly, was cut off, failed its checks, or is scripted")
    .option("--ended", "only records that came to a regular end, solved or not")
    .option("--solved", "only records whose task is solved, by the scores of rollout eval")
    .addOption(new Option("--success-only", "the old name of --ended").hideHelp())
    .option("--min-score <score>", "only records with at least this score; unscored ones never", atLeastZero)
    .option("--stop-reason <a,b>", "only records with these stop reasons", list)
    .option("--dataset <a,b>", "only records of these datasets", list)
    .option("--tags, --tag <a,b>", "only records with all these tags; !tag asks for its absence", list)
    .option("--annotated <a,b>", `only records that people so annotated: ${ANNOTATED.join(", ")}`, list)
    .option("--annotator <a,b>", "only these people's annotations count", list)
    .option("--max-tokens <n>", "only records of at most so many tokens", whole(1))
    .addOption(
      new Option("--tokenizer <name>", "what --max-tokens counts with").choices([...TOKENIZERS]).default("o200k_base"),
    )
    .option("--dedupe", "leave out exact repeats of the user's words and the agent's calls")
    .option("--best-of", "only the best rollout of each query, by score")
    .option("--per-query <k>", "at most k rollouts of each query", whole(1))
    .option("--include-scripted", "take in records of scripted models, which are no model's output")
    .optionsGroup("How they are written:")
    .option("--split <shares>", "sides by query, such as train=0.9,valid=0.1")
    .option("--shuffle <seed>", "an order that follows from the seed", whole(0))
    .addOption(new Option("--pairs <kind>", "rows for preference training").choices([...PAIR_MODES]))
    .option("--desirable <score>", "for --pairs kto: the score from which a rollout is good (1)", atLeastZero)
    .addOption(
      new Option("--unroll <by>", "one row per agent turn, per reply (step), or per dialogue").choices([
        ...UNROLL_MODES,
      ]),
    )
    .addOption(new Option("--reasoning <mode>", "what becomes of reasoning").choices([...REASONING_MODES]))
    .addOption(new Option("--loss <mode>", "which agent messages are learnt").choices([...LOSS_MODES]))
    .addOption(
      new Option("--arguments <kind>", "trl: arguments as objects or as JSON text").choices(["object", "string"]),
    )
    .addOption(
      new Option("--call-ids <kind>", "as recorded, or nine letters and digits as Mistral wants them").choices([
        "keep",
        "short",
      ]),
    )
    .addOption(
      new Option(
        "--tool-format <name>",
        "tools, calls and results as tool calls (native), or as text for models without function calling",
      ).choices([...TOOL_FORMATS]),
    )
    .option("--template <path>", TEMPLATE_FLAG)
    .option("--transform <file>", "a TypeScript or JavaScript function that each record goes through")
    .option("--base-path <dir>", "dataset folder to label the original system's records from")
    .option("--data-source <name>", "deepseek, verl-rl: the source that rows name (agent)")
    .option("--use-cot", "deepseek: rows are marked for chain of thought (the default)")
    .option("--no-use-cot", "deepseek: rows are not")
    .option("--strict", "leave out rows that would lose something, instead of noting it")
    .option("--allow-secrets", "export texts that look like keys")
    .option("--license <name>", "licence for the dataset card")
    .addHelpText("after", EXAMPLES)
    .action(async (inputs: string[], { stopReason, dataset, tag, annotator, split, json, ...flags }: Flags) => {
      const terminal = createTerminal(host);
      if (flags.successOnly) terminal.err(RENAMED);
      const progress = createCountProgress(host, { text: "reading the records", quiet: json });
      const { files, counts, trained, unroll, advice, template } = await exportDataset({
        ...flags,
        inputs,
        stopReasons: stopReason,
        datasets: dataset,
        tags: tag,
        annotators: annotator,
        split: split === undefined ? undefined : parseSplit(split),
        secrets: keysOf(host.env),
        env: host.env,
        hubFolders: hubFolders(host.env),
        onNotice: (message) => {
          progress.erase();
          terminal.err(printable(message));
        },
        onRecord: () => progress.count("records read"),
      }).finally(() => progress.stop());
      const lines = [
        ...countLines(terminal, counts),
        ...(counts.out > 0 && !flags.pairs ? ROWS[unroll] : []),
        ...trainedLines(trained),
        ...(template ? templateLines(template) : []),
        ...files.map((file) => `wrote ${file}`),
        ...(files.length === 0 ? [NOTHING] : []),
        ...(advice && files.length > 0 ? [advice] : []),
        ...(flags.arguments === "string" ? [DOUBLE] : []),
      ];
      if (json) terminal.out(printableJson(JSON.stringify({ ...counts, trained, template, files, advice })));
      else for (const line of lines) terminal.out(line);
      done(files.length === 0 ? 3 : 0);
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

function trainedLines({ tokens, tokenizer, exact }: ExportResult["trained"]): string[] {
  const kinds = Object.entries(tokens).map(([kind, number]) => `${kind} ${number.toLocaleString("en")}`);
  if (kinds.length === 0) return [];
  return [`trained on: ${kinds.join(", ")} tokens (${exact ? "" : "about, "}${tokenizer})`];
}

/** Keys in this environment: none of them may appear in a dataset. */
export function keysOf(env: Host["env"]): string[] {
  const names = new Set(listProviders().flatMap(({ keys }) => keys));
  return [...names].flatMap((name) => (env[name] ? [env[name]] : []));
}
