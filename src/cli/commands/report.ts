// `rollout report`: the results of one run, or several side by side, as tables, a page and a file for programs.
import { mkdirSync, statSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { UsageError } from "../../core/index.ts";
import { writeWhole } from "../../files/index.ts";
import { openRun } from "../../runs/index.ts";
import {
  buildReport,
  compareReports,
  mergeSettings,
  type Report,
  readDialogues,
  reportHtml,
} from "../../scoring/index.ts";
import { list } from "../flags.ts";
import type { Configure } from "../host.ts";
import { createCountProgress } from "../printing/count-progress.ts";
import { annotationLines, comparisonLines, reportLines } from "../printing/report-text.ts";
import { createTerminal, printable, type Terminal } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout report outputs/example
  rollout report outputs/skill-0.9 outputs/skill-0.6 --out outputs/comparison`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<dirs...>")
    .option("--check <a,b>", "count these checks alone (default: all that ran)", list)
    .option("--out <path>", "where they go: a folder, or a name for the page (default: the first run's folder)")
    .option("--quiet", "print nothing but errors")
    .addHelpText("after", EXAMPLES)
    .action((dirs: string[], flags: { check?: string[]; out?: string; quiet?: boolean }) => {
      const terminal = createTerminal(host);
      const progress = createCountProgress(host, { text: "reading the run", quiet: flags.quiet });
      const onRecord = () => progress.count("records read");
      const reports = dirs.map((dir) =>
        buildReport(dir, mergeSettings(openRun(dir).manifest).score, { only: flags.check, onRecord }),
      );
      progress.erase();
      const missing = flags.check?.find((name) => !reports.some(({ checks }) => checks[name]));
      if (missing !== undefined)
        throw new UsageError(`There are no results of a check "${missing}" in ${dirs.join(", ")}`);
      for (const sentence of reports.flatMap(({ damage }) => damage)) terminal.err(printable(sentence));
      const comparison = reports.length > 1 ? compareReports(reports) : undefined;
      const files = targets(flags.out ?? (dirs[0] as string));
      mkdirSync(dirname(files.html), { recursive: true });
      writeWhole(files.html, reportHtml(reports, comparison, reports.map(readDialogues)));
      writeWhole(files.json, `${JSON.stringify(toJson(reports, comparison), null, 2)}\n`);
      progress.stop();
      if (!flags.quiet) {
        const text = comparison
          ? [...comparisonLines(terminal, comparison), ...reports.flatMap((report) => annotationsOf(terminal, report))]
          : reports.flatMap((report) => reportLines(terminal, report));
        for (const line of [...text, "", files.html, files.json]) terminal.out(line);
      }
      done(0);
    });
};

/** Of one of several runs. */
function annotationsOf(terminal: Terminal, { folder, annotations }: Report): string[] {
  return annotations ? ["", `${printable(folder)}:`, ...annotationLines(terminal, annotations).slice(1)] : [];
}

/** The first run's numbers are at the top level, as they are if it is the only one. */
function toJson(reports: Report[], comparison: ReturnType<typeof compareReports> | undefined): object {
  const [first, ...others] = reports;
  return comparison ? { ...first, comparison, others } : (first as Report);
}

function targets(out: string): { html: string; json: string } {
  const isFile = [".html", ".json"].includes(extname(out)) && !isFolder(out);
  const stem = isFile ? out.slice(0, -extname(out).length) : join(out, "report");
  return { html: `${stem}.html`, json: `${stem}.json` };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
