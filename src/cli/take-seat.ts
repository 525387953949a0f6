// A run in which a person plays one of the parties, in the terminal or on the page: everything else is as in any run.
import type { ResolvedRun } from "../config/index.ts";
import { type Party, PROGRAM_COMMAND, rolloutId } from "../core/index.ts";
import { buildReport } from "../scoring/index.ts";
import { HUMAN, Seat, startViewer, type Viewer } from "../viewer/index.ts";
import type { Host } from "./host.ts";
import { openBrowser } from "./open-browser.ts";
import { reportLines } from "./printing/report-text.ts";
import { quote, shortPath } from "./printing/shell-text.ts";
import { createTerminal, type Terminal } from "./printing/terminal.ts";
import { runCommand } from "./run-command.ts";
import { SeatTerminal } from "./seat-terminal.ts";

export type SeatFlags = { view?: boolean; open?: boolean; port?: number };

/** Which party a person plays in this run, if any does. */
export function seatOf({ datasets }: Pick<ResolvedRun, "datasets">): Party | undefined {
  if (datasets.some(({ agent }) => agent.model === HUMAN)) return "agent";
  return datasets.some(({ user }) => user.model === HUMAN) ? "user" : undefined;
}

export async function takeSeat(host: Host, run: ResolvedRun, party: Party, flags: SeatFlags): Promise<number> {
  const terminal = createTerminal(host, { colours: run.config.verbose_colors });
  const seat = new Seat(party);
  const typed = flags.view ? undefined : new SeatTerminal(host, seat, terminal);
  const page = flags.view ? await startViewer({ folders: [run.folder], seat, port: flags.port }) : undefined;
  const end = listenForEnd(host);
  let ended = "";
  let talk: Promise<void> | undefined;
  const view = {
    onEvent: (event: Parameters<Seat["onEvent"]>[0]) => {
      seat.onEvent(event);
      if (event.type === "run-note") terminal.err(event.message);
      if (event.type === "run-start") {
        if (page) announce(page, flags, { host, terminal });
        talk = typed?.converse();
      }
      if (event.type === "rollout-end") ended = `${rolloutId(event)} ended: ${event.outcome.stopReason}`;
    },
    say: (text: string) => terminal.err(text),
    stop: () => {},
  };
  try {
    const agents = { [HUMAN]: { id: HUMAN, complete: seat.complete } };
    const leave = () => seat.leave();
    const code = await runCommand(host, run, { quiet: true }, { agents, view, leave });
    seat.leave();
    typed?.stop();
    await talk;
    if (ended === "" && code === 0) ended = "This seat was played to its end already; --no-resume begins anew";
    if (ended !== "") terminal.out(`\n${ended}`);
    if (run.config.eval && code === 0)
      for (const line of reportLines(terminal, buildReport(run.folder))) terminal.out(line);
    if (code === 0) terminal.out(`The record: ${PROGRAM_COMMAND} show ${quote(shortPath(run.folder))}`);
    if (code === 0 && page) {
      terminal.out("The page stays until Ctrl-C.");
      await end.signalled;
    }
    return code;
  } finally {
    end.release();
    typed?.stop();
    await page?.close();
  }
}

function announce(
  page: Viewer,
  { open = true }: SeatFlags,
  { host, terminal }: { host: Host; terminal: Terminal },
): void {
  const address = page.address.replace("/?", "/seat?");
  terminal.out(`Your seat: ${address}`);
  if (open) openBrowser(host, address);
}

/** From now on: a signal that comes while the run is ending counts, too. */
function listenForEnd(host: Host): { signalled: Promise<void>; release(): void } {
  const controller = new AbortController();
  const end = () => controller.abort();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) host.on(signal, end);
  return {
    signalled: new Promise((resolve) => controller.signal.addEventListener("abort", () => resolve())),
    release: () => {
      for (const signal of signals) host.off(signal, end);
    },
  };
}
