// `rollout sort`: a run's records in their canonical order.
import { relative } from "node:path";
import type { Command } from "commander";
import { sortRun } from "../runs/index.ts";
import type { Host } from "./execute.ts";
import { createTerminal } from "./terminal.ts";

export function addSortCommand(program: Command, host: Host, done: (code: number) => void): void {
  program
    .command("sort <folder>")
    .description("put the trajectories of a run into their canonical order: by query id and rollout")
    .addHelpText("after", "\nExamples:\n  rollout sort outputs/example")
    .action((folder: string) => {
      const terminal = createTerminal(host);
      for (const { file, records, changed } of sortRun(folder))
        terminal.out(`${relative("", file)}: ${records} records, ${changed ? "sorted" : "in order already"}`);
      done(0);
    });
}
