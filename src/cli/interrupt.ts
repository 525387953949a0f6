// Ctrl-C, SIGTERM, SIGHUP: once parks, twice leaves. Calls that are already paid for may finish, for a bounded time. A
// terminal that closes may send SIGHUP several times, and after it nobody presses anything: it never counts as the second.

const MAX_WAIT_MS = 60_000;
/** For what does not end even when it is aborted, such as a tool that never answers. */
const MAX_END_MS = 10_000;

export type Interrupt = { park: AbortSignal; abort: AbortSignal; release(): void };

export function listenForInterrupt(
  source: Pick<NodeJS.Process, "on" | "off" | "exit">,
  say: (text: string) => void,
  { maxWaitMs = MAX_WAIT_MS } = {},
): Interrupt {
  const park = new AbortController();
  const abort = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const later = (milliseconds: number, act: () => void) => timers.push(setTimeout(act, milliseconds).unref());
  const onHangUp = () => {
    if (park.signal.aborted) return;
    // before saying so: the terminal may be gone
    park.abort(new Error("interrupted"));
    later(maxWaitMs, () => abort.abort(new Error("interrupted")));
    later(maxWaitMs + MAX_END_MS, () => source.exit(130));
    say("Stopping: no new work; replies in flight are waited for and kept. Press Ctrl-C again to leave at once.");
  };
  const onSignal = () => {
    if (!park.signal.aborted) return onHangUp();
    abort.abort(new Error("interrupted"));
    source.exit(130);
  };
  source.on("SIGINT", onSignal);
  source.on("SIGTERM", onSignal);
  source.on("SIGHUP", onHangUp);
  return {
    park: park.signal,
    abort: abort.signal,
    release() {
      for (const timer of timers) clearTimeout(timer);
      // once stopped, the process is on its way out, and a second signal must not change its exit code
      if (park.signal.aborted) return;
      source.off("SIGINT", onSignal);
      source.off("SIGTERM", onSignal);
      source.off("SIGHUP", onHangUp);
    },
  };
}
