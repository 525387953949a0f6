// `rollout queue`: what is on a queue, and cleaning up there.
import { UsageError } from "../../core/index.ts";
import type { Configure, Host } from "../host.ts";
import { contentLines, droppedText } from "../printing/queue-text.ts";
import { createTerminal, printableJson, printableName } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout queue list postgres://user:password@host/database
  rollout queue list --json                          address from ROLLOUT_QUEUE
  rollout queue drop postgres://user:password@host/database my-run
  rollout queue drop my-run --force                  also if it is in use or not collected: what is not is lost`;

export const configure: Configure = (command, host, done) => {
  command.addHelpText("after", EXAMPLES);
  command
    .command("list [url]")
    .description("its runs (how far, collected by whom, size) and workers (in flight, rate, last sign of life)")
    .option("--json", "as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action(async (url: string | undefined, { json }: { json?: boolean }) => {
      const { terminal, say } = open(host);
      const { listQueue } = await import("../../queue/index.ts");
      const contents = await listQueue(requireAddress(host, url), say);
      if (json) terminal.out(printableJson(JSON.stringify(contents)));
      else for (const line of contentLines(terminal, contents)) terminal.out(line);
      done(0);
    });
  command
    .command("drop <url> [run]")
    .description("take a run off it, by its name or id; its folder is not touched")
    .option("--force", "also while it is in use, and with entries that nobody has collected")
    .addHelpText("after", EXAMPLES)
    .action(async (first: string, second: string | undefined, { force }: { force?: boolean }) => {
      const { terminal, say } = open(host);
      const [url, run] = second === undefined ? [undefined, first] : [first, second];
      if (second === undefined && isAddress(first)) throw new UsageError("Say which run: rollout queue drop URL RUN");
      const address = requireAddress(host, url);
      const { dropRun } = await import("../../queue/index.ts");
      terminal.out(printableName(droppedText(await dropRun(address, run, { force, say }))));
      done(0);
    });
};

function open(host: Host) {
  const terminal = createTerminal(host);
  return { terminal, say: (text: string) => terminal.err(printableName(text)) };
}

function isAddress(text: string): boolean {
  return /^postgres(ql)?:/.test(text);
}

function requireAddress({ env }: Host, given: string | undefined): string {
  const url = given ?? env.ROLLOUT_QUEUE;
  if (!url) throw new UsageError("Say which queue: its address, postgres://…, or ROLLOUT_QUEUE");
  return url;
}
