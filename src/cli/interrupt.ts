// Ctrl-C: once parks, twice leaves. Calls that are already paid for may finish, for a bounded time.

const MAX_WAIT_MS = 60_000;

export type Interrupt = { park: AbortSignal; abort: AbortSignal; release(): void };

export function listenForInterrupt(
  source: Pick<NodeJS.Process, "on" | "off" | "exit">,
  say: (text: string) => void,
): Interrupt {
  const park = new AbortController();
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onSignal = () => {
    if (park.signal.aborted) {
      abort.abort(new Error("interrupted"));
      source.exit(130);
    }
    say("Stopping: no new work; replies in flight are waited for and kept. Press Ctrl-C again to leave at once.");
    park.abort(new Error("interrupted"));
    timer = setTimeout(() => abort.abort(new Error("interrupted")), MAX_WAIT_MS);
    timer.unref();
  };
  source.on("SIGINT", onSignal);
  source.on("SIGTERM", onSignal);
  return {
    park: park.signal,
    abort: abort.signal,
    release() {
      clearTimeout(timer);
      source.off("SIGINT", onSignal);
      source.off("SIGTERM", onSignal);
    },
  };
}
