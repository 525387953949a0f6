// The page's server: what it answers, and to whom. It reads run folders, and adds to their annotations.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { messageOf, redactDeep, redactText } from "../core/index.ts";
import { addAnnotationRoutes } from "./annotation-routes.ts";
import { cannotListen } from "./cannot-listen.ts";
import { streamChanges } from "./changes.ts";
import { createGuard } from "./guard.ts";
import { listHosts } from "./hosts.ts";
import { type NamedRun, Runs } from "./runs.ts";
import type { Seat } from "./seat.ts";
import { addSeatRoutes } from "./seat-routes.ts";
import { toCompareChoices, toRunComparison } from "./views/compare.ts";
import { toDialogueView, toLongText } from "./views/dialogue.ts";
import { toTableView } from "./views/rollouts.ts";
import { toRunView } from "./views/run.ts";
import { toCards } from "./views/runs.ts";

export type ViewerOptions = {
  /** run folders, or folders that hold some */
  folders: readonly string[];
  host?: string;
  /** 0, the default, takes any free port */
  port?: number;
  /** whose annotations are made here, unless the page is told another name (default: the login name) */
  annotator?: string;
  /** a person's place in a dialogue of this process */
  seat?: Seat;
};

export type Viewer = {
  /** with the token that opens it */
  address: string;
  /** one more folder */
  show(folder: string): void;
  close(): Promise<void>;
};

/** Where the page's files are, once it is built. */
const PAGE = new URL("./page/", import.meta.url);

const TYPES: { [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export async function startViewer({
  folders,
  host = "127.0.0.1",
  port = 0,
  annotator,
  seat,
}: ViewerOptions): Promise<Viewer> {
  const runs = new Runs(folders);
  await runs.open();
  const token = randomBytes(24).toString("base64url");
  const hosts = new Set<string>();
  const app = new Hono();
  app.use(createGuard({ token, hosts }));
  addAnnotationRoutes(app, runs, annotator);
  if (seat) addSeatRoutes(app, seat);
  addRoutes(app, runs, seat);
  const server = await listen(app, host, port).catch((error) => {
    runs.close();
    throw cannotListen(error, host, port);
  });
  const { address, port: taken } = server.address() as AddressInfo;
  const names = listHosts(host, address, taken);
  for (const name of names) hosts.add(name);
  return {
    address: `http://${names[0]}/?token=${token}`,
    show: (folder) => runs.add(folder),
    close: () =>
      new Promise((resolve) => {
        runs.close();
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

function listen(app: Hono, hostname: string, port: number): Promise<ReturnType<typeof serve>> {
  return new Promise((resolve, reject) => {
    const started = serve({ fetch: app.fetch, hostname, port }, () => resolve(started));
    started.once("error", reject);
  });
}

function addRoutes(app: Hono, runs: Runs, seat?: Seat): void {
  const withRun = async (context: Context, view: (run: NamedRun) => unknown) => {
    const run = runs.get(context.req.param("run") ?? "");
    const found = run && (await view(run));
    return found === undefined
      ? context.json({ error: "There is no such run or rollout here." }, 404)
      : context.json(redactDeep(found));
  };
  // whatever happens to one view's files, the others work
  app.onError((error, context) => {
    if (error instanceof HTTPException) return context.json({ error: error.message }, error.status);
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === undefined ? "" : ` (${redactText(messageOf(error))})`;
    return context.json(
      { error: `This could not be read just now${why}. It is tried again when the run changes.` },
      500,
    );
  });
  app.get("/api/runs", (context) => context.json(redactDeep(toCards(runs.all))));
  app.get("/api/run/:run", (context) => withRun(context, (run) => toRunView(run)));
  app.get("/api/run/:run/rollouts", (context) =>
    withRun(context, (run) => toTableView(run, new URL(context.req.url).searchParams)),
  );
  app.get("/api/run/:run/rollout/:dataset/:id", (context) =>
    withRun(context, (run) => toDialogueView(run, context.req.param("dataset"), context.req.param("id"))),
  );
  app.get("/api/run/:run/rollout/:dataset/:id/others", (context) =>
    withRun(context, (run) => toCompareChoices(run, runs.all, context.req.param())),
  );
  app.get("/api/run/:run/against/:other", (context) =>
    withRun(context, (run) => {
      const other = runs.get(context.req.param("other"));
      return other && toRunComparison(run, other, new URL(context.req.url).searchParams);
    }),
  );
  app.get("/api/run/:run/rollout/:dataset/:id/text/:number", (context) =>
    withRun(context, (run) => {
      const { dataset, id, number } = context.req.param();
      return toLongText(run, { dataset, id, number: Number(number) });
    }),
  );
  app.get("/api/changes", (context) => streamChanges(context, { runs, seat }));
  app.get("/api/*", (context) => context.json({ error: "There is nothing here." }, 404));
  // every other address is a view of the page, or one of its files
  app.get("*", (context) => {
    const asset = /^\/assets\/([\w.-]+)$/.exec(context.req.path)?.[1];
    const file = new URL(asset === undefined ? "index.html" : `assets/${asset}`, PAGE);
    if (!existsSync(fileURLToPath(file))) return context.text("Not found", 404);
    context.header("content-type", TYPES[extname(file.pathname)] ?? "application/octet-stream");
    return context.body(readFileSync(file));
  });
}
