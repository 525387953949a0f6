// `rollout check`: checks a dataset folder before a run uses it.
import { formatLocation } from "../../core/index.ts";
import { checkFolder, type FolderReport, openResources } from "../../domains/index.ts";
import type { Configure } from "../host.ts";
import { createTerminal, type Terminal } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout check datasets/single_domain
  rollout check outputs --python .venv`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<folder>")
    .option("--python <path>", "Python for its servers: an interpreter or a virtual environment")
    .option("--json", "print the findings as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action(async (folder: string, { python, json }: { python?: string; json?: boolean }) => {
      const terminal = createTerminal(host);
      const resources = openResources({
        env: host.env,
        nameStyle: "prefixed",
        onNotice: (text) => terminal.err(text),
        python,
      });
      try {
        const report = await checkFolder(folder, resources);
        const errors = report.findings.filter((finding) => finding.level === "error").length;
        const warnings = report.findings.length - errors;
        const lines = json ? [JSON.stringify({ ...report, errors, warnings })] : findingLines(terminal, report);
        for (const line of lines) terminal.out(line);
        if (!json)
          terminal.out(
            `${report.domains} domains and combinations, ${report.queries} queries: ${errors} errors, ${warnings} warnings`,
          );
        done(errors > 0 || report.domains === 0 ? 2 : 0);
      } finally {
        await resources.close();
      }
    });
};

function findingLines(terminal: Terminal, { findings }: FolderReport): string[] {
  return findings.map(({ level, message, location }) => {
    const label = terminal.paint(level === "error" ? "red" : "yellow", level);
    return `${label}  ${location ? `${formatLocation(location)}: ` : ""}${message}`;
  });
}
