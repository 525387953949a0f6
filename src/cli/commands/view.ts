// `rollout view`: the page over run folders.
import { existsSync, statSync } from "node:fs";
import { UsageError } from "../../core/index.ts";
import { whole } from "../flags.ts";
import type { Configure } from "../host.ts";
import { listenForInterrupt } from "../interrupt.ts";
import { openBrowser } from "../open-browser.ts";
import { createTerminal } from "../printing/terminal.ts";

type ViewFlags = { port: number; host: string; open: boolean; iKnow?: boolean; annotator?: string };

const EXAMPLES = `
Examples:
  rollout view                        the runs under outputs/
  rollout view outputs/example --no-open
  rollout view outputs old-outputs --port 8000
  rollout view outputs/example --annotator "Mei Lin"`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("[folders...]", "run folders, or folders that hold some (default: outputs)")
    .option("--port <n>", "port to listen on; 0 takes any that is free", whole(0), 0)
    .option("--host <name>", "address to listen on", "127.0.0.1")
    .option("--i-know", "listen beyond this machine: whoever has the address with its token can read the runs")
    .option("--annotator <name>", "who annotates here (default: the login name; the page can change it)")
    .option("--no-open", "do not open a browser")
    .addHelpText("after", EXAMPLES)
    .action(async (given: string[], flags: ViewFlags) => {
      const folders = given.length > 0 ? given : ["outputs"];
      const missing = given.find((folder) => !existsSync(folder));
      if (missing) throw new UsageError(`There is no folder ${missing}`);
      const file = given.find((folder) => !statSync(folder).isDirectory());
      if (file) throw new UsageError(`${file} is not a folder: name a run's folder, or one that holds some`);
      if (!isLoopback(flags.host) && !flags.iKnow)
        throw new UsageError(
          `--host ${flags.host} can be reached from other machines: whoever gets the printed address can read the runs. Add --i-know if that is what you want`,
        );
      const { annotatorSchema, startViewer } = await import("../../viewer/index.ts");
      const annotator = annotatorSchema.optional().safeParse(flags.annotator);
      if (!annotator.success) throw new UsageError(`--annotator: ${annotator.error.issues[0]?.message}`);
      const viewer = await startViewer({ folders, host: flags.host, port: flags.port, annotator: annotator.data });
      const terminal = createTerminal(host);
      terminal.out(`${viewer.address}\nCtrl-C ends it.`);
      if (flags.open) openBrowser(host, viewer.address);
      const interrupt = listenForInterrupt(host, () => {});
      await new Promise<void>((resolve) => interrupt.park.addEventListener("abort", () => resolve()));
      await viewer.close();
      interrupt.release();
      done(0);
    });
};

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
