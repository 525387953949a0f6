// MCP over streamable HTTP on the loopback interface: one server instance per session, freed when the client ends it or
// leaves it idle. Requests that name another host, or come from a page of another origin, are refused before anything else.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { UsageError } from "../../core/index.ts";
import { keepInRequests } from "./message-text.ts";
import type { ServedSession, Serving } from "./serve.ts";

const PATH = "/mcp";
const MAX_IDLE_MS = 30 * 60_000;

type OpenSession = {
  session: ServedSession;
  wire: WebStandardStreamableHTTPServerTransport;
  requests: number;
  idleTimer: NodeJS.Timeout | undefined;
};

export async function listenHttp(
  createSession: () => Promise<ServedSession>,
  { port, idleMs = MAX_IDLE_MS }: { port: number; idleMs?: number },
): Promise<Serving> {
  const { WebStandardStreamableHTTPServerTransport } = await import("@modelcontextprotocol/server");
  const sessions = new Map<string, OpenSession>();

  const free = async (id: string) => {
    const open = sessions.get(id);
    sessions.delete(id);
    clearTimeout(open?.idleTimer);
    await open?.session.close();
  };

  /** A separate session for each new client; it is kept only once `initialize` has succeeded. */
  const create = async (): Promise<OpenSession> => {
    const open: OpenSession = {
      session: await createSession(),
      wire: new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, open),
        onsessionclosed: free,
      }),
      requests: 0,
      idleTimer: undefined,
    };
    await open.session.server.connect(open.wire);
    return open;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse, address: AddressInfo) => {
    const refusal = refuse(request, address.port);
    if (refusal) return response.writeHead(refusal).end();
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (id !== undefined && !known) return response.writeHead(404).end(); // tells the client to start over
    const open = known ?? (await create());
    open.requests++;
    clearTimeout(open.idleTimer);
    try {
      await answer(await open.wire.handleRequest(await toWebRequest(request, address.port)), response);
    } finally {
      open.requests--;
      const own = open.wire.sessionId;
      if (own === undefined) await open.session.close();
      else if (open.requests === 0 && sessions.has(own))
        open.idleTimer = setTimeout(() => void free(own), idleMs).unref();
    }
  };

  const server = createServer((request, response) => {
    handle(request, response, server.address() as AddressInfo).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new UsageError(`cannot listen on port ${port}: ${error.message}`)));
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: actualPort } = server.address() as AddressInfo;
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  return {
    url: `http://127.0.0.1:${actualPort}${PATH}`,
    closed,
    close: async () => {
      server.close();
      await Promise.all([...sessions.keys()].map(free));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The status to refuse with, or nothing. The exact Host keeps out pages that rebind a name to this address. */
function refuse(request: IncomingMessage, port: number): number | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!hosts.includes(request.headers.host ?? "")) return 403;
  const { origin } = request.headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) return 403;
  return new URL(request.url ?? "/", "http://localhost").pathname === PATH ? undefined : 404;
}

async function toWebRequest(request: IncomingMessage, port: number): Promise<Request> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const body = request.method === "POST" ? { body: keepInRequests(await text(request)) } : {};
  return new Request(`http://127.0.0.1:${port}${PATH}`, {
    method: request.method ?? "GET",
    headers,
    ...body,
  });
}

/** Resolves when the answer is sent or the client has left. */
async function answer(from: Response, response: ServerResponse): Promise<void> {
  response.writeHead(from.status, Object.fromEntries(from.headers));
  response.flushHeaders(); // an event stream may have nothing to say for a long time
  if (!from.body) {
    response.end();
    return;
  }
  await pipeline(Readable.fromWeb(from.body as Parameters<typeof Readable.fromWeb>[0]), response).catch(() => {});
}
