// `rollout resume`: continues a run as recorded in its folder.
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { resolveManifest } from "../../config/index.ts";
import { UsageError } from "../../core/index.ts";
import { openRun } from "../../runs/index.ts";
import { readEnvFile } from "../env-file.ts";
import { addRunFlags, type RunFlags, toPatch } from "../flags.ts";
import type { Configure } from "../host.ts";
import type { SeatFlags } from "../take-seat.ts";

const EXAMPLES = `
Examples:
  rollout resume outputs/example
  rollout resume outputs/example --max-workers 64 --no-retry-failed

Where no flag says otherwise, the run's own settings hold. Keys are read again from the environment, and from .env
next to the config, as when the run was begun.`;

export const configure: Configure = (command, host, done) => {
  addRunFlags(command.argument("<folder>", "a run folder"), { of: "run" })
    .addHelpText("after", EXAMPLES)
    .action(async (folder: string, flags: RunFlags & SeatFlags) => {
      const { path, manifest } = openRun(folder);
      if (manifest.format_version < 2)
        throw new UsageError(
          `${folder} was made by an earlier version of rollout: run the command that began it again`,
        );
      const from = manifest.working_directory;
      if (from && existsSync(from)) host.chdir(from);
      if (manifest.config_file) readEnvFile(host, manifest.config_file);
      const run = resolveManifest(manifest, relative("", path), toPatch(command));
      const { seatOf, takeSeat } = await import("../take-seat.ts");
      const party = seatOf(run);
      if (party) return done(await takeSeat(host, run, party, flags));
      const { runCommand } = await import("../run-command.ts");
      done(await runCommand(host, run, flags));
    });
};
