// `rollout resume`: goes on with a run by the command that began it, as its folder remembers it.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { UsageError } from "../core/index.ts";
import { openRun } from "../runs/index.ts";

const EXAMPLES = `
Examples:
  rollout resume outputs/example
  rollout resume outputs/example --max-workers 64 --no-retry-failed

Keys are read from the environment again, as when the run was begun.`;

type ResumeHost = Pick<NodeJS.Process, "chdir">;

export function addResumeCommand(program: Command, host: ResumeHost): void {
  program
    .command("resume <folder>")
    .description("go on with a run: finished rollouts are kept, the others continue where they stood")
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText("after", EXAMPLES)
    .action(async (folder: string, _flags: object, command: Command) => {
      const path = resolve(folder);
      const { manifest } = openRun(folder);
      const words = splitCommand(manifest.resume_command).slice(1);
      if (!BEGIN_RUNS.has(words[0] ?? ""))
        throw new UsageError(`${folder} was made by a program of your own: run that program again to go on`);
      const from = manifest.working_directory;
      if (from && existsSync(from)) host.chdir(from);
      refuseMovedConfig(words, folder);
      const more = command.args.slice(1);
      await program.parseAsync([...withFolder(words, path), ...more], { from: "user" });
    });
}

const BEGIN_RUNS = new Set(["run", "single", "cross", "multi"]);

function refuseMovedConfig(words: string[], folder: string): void {
  const config = words[words.indexOf("--config") + 1];
  if (!words.includes("--config") || config === undefined || existsSync(config)) return;
  throw new UsageError(
    `${folder} was begun with the config ${resolve(config)}, which is not there any more. Put it back, or name it where it is now: npx rollout run --config FILE --output-dir ${folder}`,
  );
}

/** The folder may have been moved, or be one that was begun beside another. */
function withFolder(words: string[], path: string): string[] {
  const at = words.indexOf("--output-dir");
  const rest = at === -1 ? words : words.filter((_, index) => index !== at && index !== at + 1);
  return [...rest.filter((word) => word !== "--resume"), "--output-dir", path, "--resume"];
}

/** The words of a command that was written down for a shell. */
export function splitCommand(command: string): string[] {
  const words = command.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|\\(.)/g, (_, quoted = "", escaped = "") => quoted + escaped));
}
