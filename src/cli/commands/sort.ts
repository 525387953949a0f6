// `rollout sort`: a run's records in their canonical order.
import { sortRun } from "../../runs/index.ts";
import type { Configure } from "../host.ts";
import { shortPath } from "../printing/shell-text.ts";
import { createTerminal } from "../printing/terminal.ts";

export const configure: Configure = (command, host, done) => {
  command
    .argument("<folder>")
    .addHelpText("after", "\nExamples:\n  rollout sort outputs/example")
    .action((folder: string) => {
      const terminal = createTerminal(host);
      for (const { file, records, changed } of sortRun(folder))
        terminal.out(`${shortPath(file)}: ${records} records, ${changed ? "sorted" : "in order already"}`);
      done(0);
    });
};
