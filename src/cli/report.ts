// `rollout report`: what one run came to, or several side by side, as tables, a page and a file for programs.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import type { Command } from "commander";
import { requireManifest, settingsOf } from "../runner/index.ts";
import { buildReport, compareReports, type Report, reportHtml } from "../scoring/index.ts";
import type { Host } from "./execute.ts";
import { comparisonLines, reportLines } from "./report-text.ts";
import { createTerminal } from "./terminal.ts";

const EXAMPLES = `
Examples:
  rollout report outputs/example
  rollout report outputs/skill-0.9 outputs/skill-0.6 --out outputs/comparison`;

export function addReportCommand(program: Command, host: Host, done: (code: number) => void): void {
  program
    .command("report <dirs...>")
    .description("print what scored runs came to, and write report.html and report.json")
    .option("--out <path>", "where they go: a folder, or a name for the page (default: the first run's folder)")
    .option("--quiet", "print nothing but errors")
    .addHelpText("after", EXAMPLES)
    .action((dirs: string[], flags: { out?: string; quiet?: boolean }) => {
      const terminal = createTerminal(host);
      const reports = dirs.map((dir) => buildReport(dir, settingsOf(requireManifest(dir)).score));
      const comparison = reports.length > 1 ? compareReports(reports) : undefined;
      const files = targets(flags.out ?? (dirs[0] as string));
      mkdirSync(dirname(files.html), { recursive: true });
      writeFileSync(files.html, reportHtml(reports, comparison));
      writeFileSync(files.json, `${JSON.stringify(toJson(reports, comparison), null, 2)}\n`);
      if (!flags.quiet) {
        const text = comparison
          ? comparisonLines(terminal, comparison)
          : reports.flatMap((report) => reportLines(terminal, report));
        for (const line of [...text, "", files.html, files.json]) terminal.out(line);
      }
      done(0);
    });
}

/** The first run's numbers stand at the top, as they do where it is the only one. */
function toJson(reports: Report[], comparison: ReturnType<typeof compareReports> | undefined): object {
  const [first, ...others] = reports;
  return { ...first, ...(comparison ? { comparison, others } : {}) };
}

function targets(out: string): { html: string; json: string } {
  const isFile = [".html", ".json"].includes(extname(out)) && !isFolder(out);
  const stem = isFile ? out.slice(0, -extname(out).length) : join(out, "report");
  return { html: `${stem}.html`, json: `${stem}.json` };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
