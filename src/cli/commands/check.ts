// `rollout check`: checks a dataset folder, or the datasets of a config, before a run uses them.
import { statSync } from "node:fs";
import { resolveConfigFile } from "../../config/index.ts";
import { formatLocation } from "../../core/index.ts";
import { type CheckReport, checkDatasets, checkFolder, openResources } from "../../domains/index.ts";
import { hideVariables } from "../environment.ts";
import type { Configure } from "../host.ts";
import { createTerminal, printableJson, type Terminal } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout check datasets/single_domain
  rollout check datasets --python .venv
  rollout check configs/example.yml             every dataset of a config, with its MCP servers

Servers are started and their tools called: of a folder's own tools those that reference plans call, of MCP servers the
read-only ones that need no arguments or have some in a plan.`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<folder>", "dataset folder, or a config file")
    .option("--python <path>", "Python for its servers: an interpreter or a virtual environment")
    .option("--json", "print the findings as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action(async (folder: string, { python, json }: { python?: string; json?: boolean }) => {
      const terminal = createTerminal(host);
      const run = statSync(folder, { throwIfNoEntry: false })?.isFile() ? resolveConfigFile(folder) : undefined;
      hideVariables(run);
      const resources = openResources({
        env: host.env,
        nameStyle: run?.config.tool_names ?? "prefixed",
        onNotice: (text) => terminal.err(text),
        python: python ?? run?.config.python,
        toolSeconds: run?.config.tool_timeout,
      });
      try {
        const report = await (run ? checkDatasets(run.datasets, resources) : checkFolder(folder, resources));
        const { domains, queries, tools, called, findings } = report;
        const errors = findings.filter((finding) => finding.level === "error").length;
        const warnings = findings.length - errors;
        const lines = json
          ? [printableJson(JSON.stringify({ ...report, errors, warnings }))]
          : findingLines(terminal, report);
        for (const line of lines) terminal.out(line);
        if (!json)
          terminal.out(
            `${domains} domains and combinations, ${queries} queries, ${tools} tools, ${called} of them called: ${errors} errors, ${warnings} warnings`,
          );
        done(errors > 0 || domains === 0 ? 2 : 0);
      } finally {
        await resources.close();
      }
    });
};

function findingLines(terminal: Terminal, { findings }: CheckReport): string[] {
  return findings.map(({ level, message, location }) => {
    const label = terminal.paint(level === "error" ? "red" : "yellow", level);
    return `${label}  ${location ? `${formatLocation(location)}: ` : ""}${message}`;
  });
}
