// `rollout check`: checks a dataset folder before a run uses it.
import { formatLocation } from "../../core/index.ts";
import { checkFolder, openResources } from "../../domains/index.ts";
import type { Configure } from "../host.ts";
import { createTerminal } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout check datasets/single_domain
  rollout check outputs --python .venv`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<folder>")
    .option("--python <path>", "Python for its servers: an interpreter or a virtual environment")
    .addHelpText("after", EXAMPLES)
    .action(async (folder: string, { python }: { python?: string }) => {
      const terminal = createTerminal(host);
      const resources = openResources({
        env: host.env,
        nameStyle: "prefixed",
        onNotice: (text) => terminal.err(text),
        python,
      });
      try {
        const { domains, queries, findings } = await checkFolder(folder, resources);
        for (const { level, message, location } of findings) {
          const label = terminal.paint(level === "error" ? "red" : "yellow", level);
          terminal.out(`${label}  ${location ? `${formatLocation(location)}: ` : ""}${message}`);
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
};
