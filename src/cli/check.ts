// `rollout check`: a dataset folder, read before a run meets it.
import type { Command } from "commander";
import { formatPlace } from "../core/index.ts";
import { checkFolder } from "../domains/index.ts";
import { createResources } from "../runner/index.ts";
import type { Host } from "./execute.ts";
import { createTerminal } from "./terminal.ts";

const EXAMPLES = `
Examples:
  rollout check datasets/single_domain
  rollout check outputs --python .venv`;

export function addCheckCommand(program: Command, host: Host, done: (code: number) => void): void {
  program
    .command("check <folder>")
    .description("read a dataset folder and report everything that is wrong or odd in it")
    .option("--python <path>", "Python for its servers: an interpreter or a virtual environment")
    .addHelpText("after", EXAMPLES)
    .action(async (folder: string, { python }: { python?: string }) => {
      const terminal = createTerminal(host);
      const resources = createResources({
        env: host.env,
        nameStyle: "prefixed",
        onNotice: (text) => terminal.err(text),
        ...(python ? { python } : {}),
      });
      try {
        const { domains, queries, findings } = await checkFolder(folder, resources);
        for (const { level, message, place } of findings) {
          const label = terminal.paint(level === "error" ? "red" : "yellow", level);
          terminal.out(`${label}  ${place ? `${formatPlace(place)}: ` : ""}${message}`);
        }
        const errors = findings.filter((finding) => finding.level === "error").length;
        terminal.out(
          `${domains} domains and combinations, ${queries} queries: ${errors} errors, ${findings.length - errors} warnings`,
        );
        done(errors > 0 || domains === 0 ? 2 : 0);
      } finally {
        await resources.close();
      }
    });
}
