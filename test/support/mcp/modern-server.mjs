// A server that refuses every protocol before 2026-07-28, to check that the client finds the newer one. `line` answers with
// the message that called it, `number` with a number that JavaScript would not write.
import { Transform } from "node:stream";
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";

let received = "";
process.stdin.on("data", (chunk) => {
  received = String(chunk);
});
const output = new Transform({
  transform: (chunk, _encoding, done) => done(null, String(chunk).replaceAll('"total":2', '"total":2.0')),
});
output.pipe(process.stdout);

const answers = {
  hello: { content: [{ type: "text", text: "hello from the new protocol" }] },
  number: { content: [], structuredContent: { total: 2 } },
};

serveStdio(
  () => {
    const server = new Server({ name: "modern", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({
      tools: ["hello", "line", "number"].map((name) => ({
        name,
        inputSchema: { type: "object", properties: { total: { default: { total: 2 } } } },
        outputSchema: { type: "object", required: ["x"] },
      })),
    }));
    server.setRequestHandler(
      "tools/call",
      ({ params }) => answers[params.name] ?? { content: [{ type: "text", text: received }] },
    );
    return server;
  },
  { legacy: "reject", transport: new StdioServerTransport(process.stdin, output) },
);
