// `rollout import`: datasets made of other people's tasks, and a report of what could not be carried over.
import { Argument } from "commander";
import { PROGRAM_COMMAND } from "../../core/index.ts";
import {
  type DatasetReport,
  type FormatName,
  IMPORT_FORMATS,
  type ImportReport,
  importTasks,
} from "../../import/index.ts";
import type { Configure, Host } from "../host.ts";
import { quote } from "../printing/shell-text.ts";
import { createTerminal, printableJson, type Terminal } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout import tau2 ../tau2-bench --python ../tau2-bench/.venv
  rollout import tau2 ../tau2-bench --domains airline retail --out datasets
  rollout import bfcl ../gorilla/berkeley-function-call-leaderboard/bfcl_eval/data/BFCL_v4_multi_turn_base.json
  rollout import toolbench-like calls.jsonl     rows of dialogues with tools, calls and observations

Each dataset is a folder: queries with plans, the policy, a small server that runs the benchmark's own tools, and
rollout.yml, which rollout check and rollout run take. What could not be carried over is printed, and is in
import-report.json. The benchmark's code is executed, now and in runs.

Exit codes: 0 if anything was made, 2 otherwise.`;

type Options = {
  out: string;
  python?: string;
  domains?: string[];
  split?: string;
  answers?: string;
  json?: boolean;
};

export const configure: Configure = (command, host, done) => {
  command
    .addArgument(new Argument("<format>", "whose form it has").choices(Object.keys(IMPORT_FORMATS)))
    .argument("<source>", "tau2: the folder of a checkout; otherwise a file of JSON lines")
    .option("--out <dir>", "the folder in which each dataset gets its own", "imported")
    .option("--python <path>", "Python for the benchmark's code: an interpreter or a virtual environment")
    .option("--domains <names...>", "tau2: only these domains")
    .option("--split <name>", "tau2: which tasks, or all; default: base, where there is such a split")
    .option("--answers <file>", "bfcl: the possible answers; default: possible_answer/ next to the file")
    .option("--json", "print the report as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action(async (format: FormatName, source: string, options: Options) => {
      const report = await importTasks(format, { ...options, source, env: host.env });
      print(report, options, host);
      done(report.datasets.some(({ folder }) => folder !== undefined) ? 0 : 2);
    });
};

function print(report: ImportReport, { json, out }: Options, host: Host): void {
  const terminal = createTerminal(host);
  if (json) {
    terminal.out(printableJson(JSON.stringify(report)));
    return;
  }
  for (const dataset of report.datasets) printDataset(terminal, dataset);
  const made = report.datasets.filter(({ folder }) => folder !== undefined);
  terminal.out(`The report with all ids: ${out}/import-report.json`);
  if (made.length === 0) return;
  terminal.out("");
  terminal.out("Next:");
  const config = quote(`${made[0]?.folder}/rollout.yml`);
  for (const words of [`check ${config}`, `run --config ${config}`]) terminal.out(`  ${PROGRAM_COMMAND} ${words}`);
}

function printDataset(terminal: Terminal, { name, folder, lost, not_carried, ...counts }: DatasetReport): void {
  const { tasks, whole, in_part, not_at_all } = counts;
  terminal.out(
    `${name}: ${tasks} tasks, ${whole} whole, ${in_part} in part, ${not_at_all} not at all${folder ? `: ${folder}` : ""}`,
  );
  for (const { kind, what, ids } of lost) terminal.out(`  in part     ${kind} (${some(ids)}): ${what}`);
  for (const { why, ids } of not_carried) terminal.out(`  not at all  ${some(ids)}: ${why}`);
}

const SHOWN = 3;

function some(ids: string[]): string {
  const rest = ids.length - SHOWN;
  return `${ids.slice(0, SHOWN).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
