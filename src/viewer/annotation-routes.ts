// Where the page asks for annotations and sends them: the only requests that write anything.
import { userInfo } from "node:os";
import type { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { parseJson, UsageError } from "../core/index.ts";
import { annotate, MAX_REQUEST_BYTES } from "./annotate.ts";
import type { Runs } from "./runs.ts";
import { toAnnotationsView, toNextView } from "./views/annotations.ts";

export function addAnnotationRoutes(app: Hono, runs: Runs, annotator = loginName()): void {
  app.get("/api/annotator", (context) => context.json({ name: annotator }));
  app.get("/api/run/:run/rollout/:dataset/:id/annotations", (context) => {
    const run = runs.get(context.req.param("run"));
    const view = run && toAnnotationsView(run, context.req.param("dataset"), context.req.param("id"));
    return view ? context.json(view) : context.json({ error: "There is no such finished rollout here." }, 404);
  });
  app.get("/api/run/:run/next", async (context) => {
    const run = runs.get(context.req.param("run"));
    if (!run) return context.json(NO_RUN, 404);
    return context.json(await toNextView(run, new URL(context.req.url).searchParams));
  });
  const tooLarge = { error: `An annotation takes at most ${MAX_REQUEST_BYTES / 1024} KB.` };
  const limit = bodyLimit({ maxSize: MAX_REQUEST_BYTES, onError: (context) => context.json(tooLarge, 413) });
  app.post("/api/run/:run/annotations", limit, async (context) => {
    // other pages can send this type only after asking, and nobody answers them
    if (!/^application\/json\s*(;|$)/i.test(context.req.header("content-type") ?? ""))
      return context.json({ error: "An annotation must be sent as application/json." }, 415);
    const run = runs.get(context.req.param("run"));
    if (!run) return context.json(NO_RUN, 404);
    const body = parseJson(await context.req.text());
    if (body === undefined) return context.json({ error: "The request is not valid JSON." }, 400);
    try {
      const { status, ...answer } = annotate(run, body);
      return context.json(answer, status);
    } catch (error) {
      if (error instanceof UsageError) return context.json({ error: `${error.message}.` }, 500);
      throw error;
    }
  });
}

const NO_RUN = { error: "There is no such run here." };

/** Some machines have no name for who is logged in. */
function loginName(): string {
  try {
    return userInfo().username || NOBODY;
  } catch {
    return NOBODY;
  }
}

const NOBODY = "somebody";
