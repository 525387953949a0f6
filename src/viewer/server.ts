// The page's server: what it answers, and to whom. It reads run folders and nothing else.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { streamSSE } from "hono/streaming";
import type { ChangeEvent } from "./api.ts";
import { createGuard } from "./guard.ts";
import { type NamedRun, Runs } from "./runs.ts";
import type { Seat } from "./seat.ts";
import { addSeatRoutes } from "./seat-routes.ts";
import { toDialogueView } from "./views/dialogue.ts";
import { toTableView } from "./views/rollouts.ts";
import { toRunView } from "./views/run.ts";
import { toCard } from "./views/runs.ts";

export type ViewerOptions = {
  /** run folders, or folders that hold some */
  folders: readonly string[];
  host?: string;
  /** 0, the default, takes any free port */
  port?: number;
  /** a person's place in a dialogue of this process */
  seat?: Seat;
};

export type Viewer = {
  /** with the token that opens it */
  address: string;
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

export async function startViewer({ folders, host = "127.0.0.1", port = 0, seat }: ViewerOptions): Promise<Viewer> {
  const runs = new Runs(folders);
  await runs.open();
  const token = randomBytes(24).toString("base64url");
  const hosts = new Set<string>();
  const app = new Hono();
  app.use(createGuard({ token, hosts }));
  if (seat) addSeatRoutes(app, seat);
  addRoutes(app, runs, seat);
  const server = await new Promise<ReturnType<typeof serve>>((resolve, reject) => {
    const started = serve({ fetch: app.fetch, hostname: host, port }, () => resolve(started));
    started.once("error", reject);
  });
  const { port: taken } = server.address() as AddressInfo;
  for (const name of [host, "127.0.0.1", "localhost", "[::1]"]) hosts.add(`${name}:${taken}`.toLowerCase());
  return {
    address: `http://${host}:${taken}/?token=${token}`,
    close: () =>
      new Promise((resolve) => {
        runs.close();
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

function addRoutes(app: Hono, runs: Runs, seat?: Seat): void {
  const withRun = (context: Context, view: (run: NamedRun) => unknown) => {
    const run = runs.get(context.req.param("run") ?? "");
    const found = run && view(run);
    return found === undefined
      ? context.json({ error: "There is no such run or rollout here." }, 404)
      : context.json(found);
  };
  app.get("/api/runs", (context) => context.json(runs.all.map((run) => toCard(run))));
  app.get("/api/run/:run", (context) => withRun(context, (run) => toRunView(run)));
  app.get("/api/run/:run/rollouts", (context) =>
    withRun(context, (run) => toTableView(run, new URL(context.req.url).searchParams)),
  );
  app.get("/api/run/:run/rollout/:dataset/:id", (context) =>
    withRun(context, (run) => toDialogueView(run, context.req.param("dataset"), context.req.param("id"))),
  );
  app.get("/api/changes", (context) =>
    streamSSE(context, async (stream) => {
      const tell = (names: string[]) => {
        const event: ChangeEvent = { runs: names };
        void stream.writeSSE({ event: "change", data: JSON.stringify(event) });
      };
      stream.onAbort(runs.listen(tell));
      if (seat) stream.onAbort(seat.listen(() => tell(["/seat"])));
      while (!stream.aborted) {
        await stream.writeSSE({ event: "alive", data: "" });
        await stream.sleep(15_000);
      }
    }),
  );
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
