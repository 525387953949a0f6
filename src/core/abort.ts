// Waiting for a signal that thousands share: each listener of its own would make adding and removing one slow for all.

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** `act` is called when the signal is aborted, unless the function that comes back was called before. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  let acts = waiting.get(signal);
  if (!acts) {
    const all = new Set<() => void>();
    signal.addEventListener("abort", () => {
      for (const each of [...all]) if (all.has(each)) each();
    });
    waiting.set(signal, all);
    acts = all;
  }
  const own = acts;
  own.add(act);
  return () => own.delete(act);
}
