// `rollout multi`: many rollouts of plain questions, one file per round.
import { resolveQuestions } from "../../config/index.ts";
import { readEnvFile } from "../env-file.ts";
import { addRunFlags, GROUPS, type RunFlags, toPatch } from "../flags.ts";
import type { Configure } from "../host.ts";

type MultiFlags = RunFlags & { input?: string; config?: string };

const EXAMPLES = `
The input holds JSON lines or one JSON array: question (or query) and, where they are known, answer (a list: all of it)
or answers (any one of them); id and system_prompt if you like.

Examples:
  rollout multi --input questions.jsonl --rollouts 5 --agent-model scripted/agent --eval
  rollout multi --input questions.jsonl --agent-model openai/gpt-5 --mcp mcp.json --output-dir outputs/gpt
  rollout multi --input questions.jsonl --agent-model openai/gpt-5 --corpus docs --tools my_tools.py
  rollout multi --config research.yml --input questions.jsonl --rollouts 3
  rollout report outputs/questions`;

const DEFAULTS = {
  ...{ rollouts: 5, max_workers: 10, max_turns: 1, max_steps_per_turn: 100 },
  on_context_full: "answer",
} as const;

/** The original's names. */
const ALIASES = { output_dir: "output", max_workers: "workers", max_steps_per_turn: "max-steps" };

export const configure: Configure = (command, host, done) => {
  command
    .optionsGroup(GROUPS.input)
    .option("--input <file>", "questions (JSON lines, or one JSON array); replaces the config's datasets")
    .option("-c, --config <file>", "YAML config: its settings, and its dataset where there is no --input");
  addRunFlags(command, { defaults: DEFAULTS, aliases: ALIASES, of: "questions" })
    .addHelpText("after", EXAMPLES)
    .action(async (flags: MultiFlags) => {
      const { input, config: configFile } = flags;
      if (configFile !== undefined) readEnvFile(host, configFile);
      const run = resolveQuestions({ input, configFile, defaults: DEFAULTS, patch: toPatch(command) });
      const { runCommand } = await import("../run-command.ts");
      done(await runCommand(host, run, flags));
    });
};
