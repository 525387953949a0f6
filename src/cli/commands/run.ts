// `rollout run`: a run as a config file describes it.
import { resolveConfigFile } from "../../config/index.ts";
import { readEnvFile } from "../env-file.ts";
import { addRunFlags, GROUPS, type RunFlags, toPatch } from "../flags.ts";
import type { Configure } from "../host.ts";

const EXAMPLES = `
Examples:
  rollout run --config configs/example.yml
  rollout run --config configs/example.yml --dataset StudentAcademicPortal --limit 3 --verbose
  rollout run --config configs/example.yml --dry-run`;

export const configure: Configure = (command, host, done) => {
  addRunFlags(command.optionsGroup(GROUPS.input).requiredOption("-c, --config <file>", "YAML config"))
    .addHelpText("after", EXAMPLES)
    .action(async (flags: RunFlags & { config: string }) => {
      readEnvFile(host, flags.config);
      const { runCommand } = await import("../run-command.ts");
      done(await runCommand(host, resolveConfigFile(flags.config, toPatch(command)), flags));
    });
};
