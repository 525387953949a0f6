// The seat over HTTP: what the person sees, and their answer to what they are being asked. Nothing here starts anything: the
// run is that of the process which serves the page.
import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import type { Seat } from "./seat.ts";

const answerSchema = z.strictObject({
  position: z.int(),
  content: z.string(),
  calls: z.array(z.strictObject({ name: z.string(), arguments: z.string() })).max(100),
});

const MAX_BYTES = 4 * 1024 * 1024;

export function addSeatRoutes(app: Hono, seat: Seat): void {
  const refuse = (context: Context, error: string) => context.json({ error }, 400);
  app.get("/api/seat", (context) => context.json(seat.view));
  const tooLarge = { error: `An answer takes at most ${MAX_BYTES >> 20} MB.` };
  const limit = bodyLimit({ maxSize: MAX_BYTES, onError: (context) => context.json(tooLarge, 413) });
  app.post("/api/seat", limit, async (context) => {
    if (!/^application\/json\b/i.test(context.req.header("content-type") ?? ""))
      return refuse(context, "An answer is sent as application/json.");
    const given = answerSchema.safeParse(await context.req.json().catch(() => undefined));
    if (!given.success) return refuse(context, "This is no answer: it needs position, content and calls.");
    const { position, ...answer } = given.data;
    const problem = seat.answer(answer, position);
    return problem === undefined ? context.json(seat.view) : refuse(context, problem);
  });
}
