// `rollout run`: a run as a config file describes it.
import type { Command } from "commander";
import { resolveConfigFile } from "../runner/index.ts";
import { execute, type Host } from "./execute.ts";
import { addRunOptions, commandLine, overridesFrom, type RunFlags } from "./options.ts";

const EXAMPLES = `
Examples:
  rollout run --config configs/example.yml
  rollout run --config configs/example.yml --dataset StudentAcademicPortal --limit 3 --verbose
  rollout run --config configs/example.yml --dry-run`;

export function addRunCommand(program: Command, host: Host, done: (code: number) => void): void {
  addRunOptions(program.command("run").description("make the rollouts that a config file describes"))
    .requiredOption("--config <file>", "YAML config")
    .option("--dataset <name>", "only this dataset of the config")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: RunFlags & { config: string; dataset?: string }) => {
      const overrides = { ...overridesFrom(flags), ...(flags.dataset === undefined ? {} : { dataset: flags.dataset }) };
      done(await execute(host, resolveConfigFile(flags.config, overrides, commandLine("run", flags)), flags));
    });
}
