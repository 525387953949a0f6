// `rollout multi`: many rollouts of plain questions, one file per round.
import { basename, extname } from "node:path";
import { Option } from "commander";
import { type ConfigPatch, resolveConfig } from "../../config/index.ts";
import { UsageError } from "../../core/index.ts";
import { addRunFlags, type RunFlags, toPatch, whole } from "../flags.ts";
import type { Configure } from "../host.ts";

type MultiFlags = RunFlags & { input: string; output?: string; workers?: number; mcp?: string; maxSteps?: number };

const EXAMPLES = `
Each line of the input holds id, query (or question) and, where it is known, answer.

Examples:
  rollout multi --input questions.jsonl --output outputs/questions --rollouts 5 --agent-model scripted/agent --eval
  rollout multi --input questions.jsonl --output outputs/questions --agent-model openai/gpt-5 --mcp mcp.json --workers 20
  rollout report outputs/questions`;

const DEFAULTS = { rollouts: 5, max_workers: 10 };

export const configure: Configure = (command, host, done) => {
  addRunFlags(
    command
      .requiredOption("--input <file>", "questions (JSONL)")
      .option("--output <dir>", "the run folder, the same as --output-dir")
      .option("--mcp <file>", "a file with mcpServers, whose tools the agent may call"),
    DEFAULTS,
  )
    .addOption(new Option("--workers <n>", "the same as --max-workers").argParser(whole(1)))
    .addOption(new Option("--max-steps <n>", "the same as --max-steps-per-turn").argParser(whole(1)))
    .addHelpText("after", EXAMPLES)
    .action(async (flags: MultiFlags) => {
      const { input, output, workers, maxSteps, mcp } = flags;
      const given = toPatch(command);
      const folder = given.output_dir ?? output;
      if (folder === undefined) throw new UsageError("Name the run folder: --output DIR");
      const dataset = { path: input, max_turns: 1, rounds: true };
      const patch: ConfigPatch = {
        ...DEFAULTS,
        max_workers: workers ?? DEFAULTS.max_workers,
        max_steps_per_turn: maxSteps,
        ...given,
        datasets: {
          [basename(input, extname(input))]: { ...dataset, ...(mcp ? { mcp_config_file: mcp } : { tools: [] }) },
        },
      };
      const { runCommand } = await import("../run-command.ts");
      done(await runCommand(host, resolveConfig({}, { folder, patch }), flags));
    });
};
