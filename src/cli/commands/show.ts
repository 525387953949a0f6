// `rollout show`: one rollout as people read it, with its tool calls, its times and why it stopped.
import { UsageError } from "../../core/index.ts";
import { type RolloutRecord, readRollouts } from "../../runs/index.ts";
import { whole } from "../flags.ts";
import type { Configure } from "../host.ts";
import { openingLines, timedEntryLines, trajectoryLines } from "../printing/dialogue-text.ts";
import { count, createTerminal, duration, printable, type Terminal } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout show outputs/example sap-001
  rollout show outputs/example 'sap-001#2'        another rollout of that query
  rollout show outputs/example q1 --dataset Library --max-length 200`;

type ShowFlags = { dataset?: string; maxLength: number; json?: boolean };

export const configure: Configure = (command, host, done) => {
  command
    .argument("<folder>")
    .argument("<id>")
    .option("--dataset <name>", "of this dataset, where several have the id")
    .option("--max-length <n>", "longest text that is printed whole", whole(1), 2000)
    .option("--json", "the record as it is")
    .addHelpText("after", EXAMPLES)
    .action((folder: string, id: string, flags: ShowFlags) => {
      const terminal = createTerminal(host);
      const records = readRollouts(folder, id, flags.dataset);
      if (records.length === 0) throw new UsageError(`There is no rollout "${id}" in ${folder}`);
      for (const record of records) {
        const lines = flags.json
          ? [JSON.stringify(record.trajectory ?? record)]
          : recordLines(terminal, record, flags.maxLength);
        terminal.out(lines.join("\n"));
      }
      done(0);
    });
};

function recordLines(terminal: Terminal, record: RolloutRecord, maxLength: number): string[] {
  const { id, dataset, trajectory, entries, startedAt } = record;
  const dialogue = trajectory
    ? entries.length > 0
      ? [
          ...openingLines(terminal, trajectory, { entries, maxLength }),
          ...timedEntryLines(terminal, entries, { startedAt, maxLength }),
        ]
      : trajectoryLines(terminal, trajectory, maxLength)
    : timedEntryLines(terminal, entries, { startedAt, maxLength });
  return [
    `${terminal.paint("bold", `── ${printable(id)}`)} (${printable(dataset)})`,
    ...dialogue,
    ...(trajectory ? endLines(trajectory) : [`         not finished: ${entries.length} entries so far`]),
    ...record.failures.map(
      ({ attempt, at, error }) => `         attempt ${attempt} failed at ${at}: ${printable(error)}`,
    ),
  ];
}

function endLines({ success, metadata }: NonNullable<RolloutRecord["trajectory"]>): string[] {
  const { stop_reason, blame, message, timings, usage, models, faults, attempt } = metadata;
  const tokens = Object.values(usage).reduce((sum, one) => sum + one.input_tokens + one.output_tokens, 0);
  const why = [blame && `blame: ${blame}`, message].filter((part) => part !== undefined).join(", ");
  const played = Object.entries(models).map(([party, model]) => `${party} ${model}`);
  return [
    `         ended by ${stop_reason}${why ? ` (${printable(why)})` : ""}: ${success ? "a regular end" : "not a regular end"}`,
    `         ${metadata.total_turns} turns, ${metadata.tool_call_count} tool calls (${metadata.tool_error_count} errors), ${count(tokens)} tokens, $${metadata.cost_usd.toFixed(4)}`,
    `         ${timings.started_at} to ${timings.ended_at}, ${duration(timings.duration_ms)}${attempt > 1 ? `, attempt ${attempt}` : ""}`,
    `         ${printable(played.join(", "))}${metadata.scripted ? " (scripted: no model's output)" : ""}`,
    ...faults.map((fault) => `         fault: ${printable(Object.values(fault).join(", "))}`),
  ];
}
