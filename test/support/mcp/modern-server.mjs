// A server that refuses every protocol before 2026-07-28, to check that the client finds the newer one.
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(
  () => {
    const server = new Server({ name: "modern", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({
      tools: [{ name: "hello", inputSchema: { type: "object" }, outputSchema: { type: "object", required: ["x"] } }],
    }));
    server.setRequestHandler("tools/call", () => ({
      content: [{ type: "text", text: "hello from the new protocol" }],
    }));
    return server;
  },
  { legacy: "reject" },
);
