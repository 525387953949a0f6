// `rollout multi`: many rollouts of plain questions, one file per round.
import { basename, extname, join } from "node:path";
import { type ConfigPatch, resolveConfig } from "../../config/index.ts";
import { dropUndefined } from "../../core/index.ts";
import { addRunFlags, GROUPS, type RunFlags, toPatch } from "../flags.ts";
import type { Configure } from "../host.ts";

type MultiFlags = RunFlags & { input: string };

const EXAMPLES = `
The input holds JSON lines or one JSON array: question (or query) and, where they are known, answer (a list: all of it)
or answers (any one of them); id and system_prompt if you like.

Examples:
  rollout multi --input questions.jsonl --output-dir outputs/questions --rollouts 5 --agent-model scripted/agent --eval
  rollout multi --input questions.jsonl --output-dir outputs/questions --agent-model openai/gpt-5 --mcp mcp.json
  rollout multi --input questions.jsonl --agent-model openai/gpt-5 --corpus docs --tools my_tools.py
  rollout report outputs/questions`;

const DEFAULTS = { rollouts: 5, max_workers: 10, max_turns: 1 };

/** The original's names. */
const ALIASES = { output_dir: "output", max_workers: "workers", max_steps_per_turn: "max-steps" };

export const configure: Configure = (command, host, done) => {
  addRunFlags(
    command.optionsGroup(GROUPS.input).requiredOption("--input <file>", "questions (JSON lines, or one JSON array)"),
    {
      defaults: DEFAULTS,
      aliases: ALIASES,
    },
  )
    .addHelpText("after", EXAMPLES)
    .action(async (flags: MultiFlags) => {
      const { input } = flags;
      const { mcp_config_file, tool_files, corpus, ...given } = toPatch(command);
      const name = basename(input, extname(input));
      // no tools but those that are named, whatever the file is called
      const dataset = { path: input, rounds: true, tools: [], mcp_config_file, tool_files, corpus };
      const patch: ConfigPatch = {
        ...DEFAULTS,
        ...given,
        datasets: { [name]: dropUndefined(dataset) },
      };
      const { runCommand } = await import("../run-command.ts");
      done(await runCommand(host, resolveConfig({}, { folder: join("outputs", name), patch }), flags));
    });
};
