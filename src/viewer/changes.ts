// The stream that tells the page which runs changed. A page that reads slowly gets fewer and larger messages: nothing piles
// up for it, and nothing is left of one that went away.
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import type { ChangeEvent } from "./api.ts";
import type { Runs } from "./runs.ts";
import type { Seat } from "./seat.ts";

const ALIVE_MS = 15_000;

export type Watched = { runs: Pick<Runs, "listen">; seat?: Pick<Seat, "listen"> };

export function streamChanges(context: Context, { runs, seat }: Watched) {
  if (context.req.method === "HEAD") return context.body(null); // nobody would ever read it
  return streamSSE(context, async (stream) => {
    const waiting = new Set<string>();
    let isQuiet = true;
    let isWriting = false;
    const write = async () => {
      if (isWriting) return;
      isWriting = true;
      while ((waiting.size > 0 || isQuiet) && !stream.aborted) {
        const event: ChangeEvent = { runs: [...waiting] };
        waiting.clear();
        isQuiet = false;
        const isChange = event.runs.length > 0;
        await stream.writeSSE(
          isChange ? { event: "change", data: JSON.stringify(event) } : { event: "alive", data: "" },
        );
      }
      isWriting = false;
    };
    const tell = (names: string[]) => {
      for (const name of names) waiting.add(name);
      void write();
    };
    const timer = setInterval(() => {
      isQuiet = true;
      void write();
    }, ALIVE_MS);
    const ignore = [runs.listen(tell), seat?.listen(() => tell(["/seat"]))];
    await new Promise<void>((resolve) => {
      stream.onAbort(resolve);
      void write();
    });
    clearInterval(timer);
    for (const stop of ignore) stop?.();
  });
}
