// Any domain as a real MCP server, so that any MCP client can use it. Each session (over stdio the connection, over HTTP
// what `initialize` opened) has its own environment, opened with its first call; all sessions get the same seed, so
// that generated values repeat from one session to the next.
import { type Readable, Transform, type Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { type Environment, type ToolSpec, toPlain } from "../../core/index.ts";
import { keepInRequests, keptText } from "./message-text.ts";
import { listenHttp } from "./serve-http.ts";

export type ServedDomain = {
  name: string;
  tools: ToolSpec[];
  open: (seed: number) => Promise<Environment>;
  /** default 0 */
  seed?: number;
  /** what a client may tell its model about the domain, such as the policy */
  instructions?: string;
};

export type ServeTransport =
  | { kind: "stdio"; input: Readable; output: Writable }
  /** on the loopback interface; port 0 takes a free one; a session unused for `idleMs` (30 minutes) is freed */
  | { kind: "http"; port: number; idleMs?: number };

export type Serving = {
  /** http: where clients connect */
  url?: string;
  /** resolves, with stdio, when the client has left; with http, when `close` is done */
  closed: Promise<void>;
  close(): Promise<void>;
};

export async function serveDomain(domain: ServedDomain, transport: ServeTransport): Promise<Serving> {
  if (transport.kind === "http") return listenHttp(() => createSession(domain), transport);
  const { StdioServerTransport, serveStdio } = await import("@modelcontextprotocol/server/stdio");
  const sessions: ServedSession[] = [];
  const wire = new StdioServerTransport(transport.input.pipe(keepInLines()), transport.output);
  const ended = new Promise((resolve) => transport.input.once("close", resolve).once("end", resolve));
  const handle = serveStdio(
    async () => {
      const session = await createSession(domain);
      sessions.push(session);
      return session.server;
    },
    { transport: wire },
  );
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= handle.close().then(async () => {
      await Promise.all(sessions.map((session) => session.close()));
    });
    return closing;
  };
  return { closed: ended.then(close), close };
}

export type ServedSession = { server: Server; close(): Promise<void> };

async function createSession(domain: ServedDomain): Promise<ServedSession> {
  const { Server } = await import("@modelcontextprotocol/server");
  const server = new Server(
    { name: domain.name, version: "1" },
    { capabilities: { tools: {} }, instructions: domain.instructions },
  );
  let environment: Promise<Environment> | undefined;
  let calls = 0;
  server.setRequestHandler("tools/list", () => ({ tools: domain.tools.map(toMcpTool) }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    environment ??= domain.open(domain.seed ?? 0);
    const args = keptText(params) ?? JSON.stringify(params.arguments ?? {});
    const call = { id: `call_${calls++}`, name: params.name, arguments: args };
    const result = await (await environment).call(call, mcpReq.signal);
    return { content: [{ type: "text", text: result.content }], isError: result.isError };
  });
  return {
    server,
    close: async () => {
      await server.close();
      await environment?.then(
        (opened) => opened.close(),
        () => {}, // its caller already got the error
      );
    },
  };
}

/** A client's messages, one per line, with the numbers of their arguments kept. */
function keepInLines(): Transform {
  let held: Buffer[] = [];
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const end = chunk.lastIndexOf("\n") + 1;
      if (end === 0) held.push(chunk);
      else {
        const lines = Buffer.concat([...held, chunk.subarray(0, end)]).toString("utf8");
        held = [chunk.subarray(end)];
        this.push(lines.split("\n").map(keepInRequests).join("\n"));
      }
      done();
    },
  });
}

function toMcpTool(spec: ToolSpec) {
  return {
    name: spec.name,
    description: spec.description,
    inputSchema: { ...toPlain(spec.parameters), type: "object" as const }, // all that the protocol's package takes
    annotations: { readOnlyHint: spec.readOnly },
  };
}
