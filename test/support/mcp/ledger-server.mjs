// A shared MCP server over HTTP, by hand: one ledger for all rollouts. Every call is written to the log with its
// idempotency key before it is answered; a key that was seen before gets the same answer, and nothing is booked twice.
// Arguments: the log file, then a file whose existence makes `pay` keep silent after it has taken effect.
import { appendFileSync, existsSync } from "node:fs";
import { createServer } from "node:http";

const [log, silence] = process.argv.slice(2);
const booked = new Map();

const tool = (name, annotations) => ({ name, annotations, inputSchema: { type: "object", properties: {} } });
const text = (value) => ({ content: [{ type: "text", text: value }] });

function call({ name, _meta = {} }) {
  const key = _meta["rollout/idempotency-key"];
  appendFileSync(log, `${JSON.stringify({ name, key, meta: Object.keys(_meta) })}\n`);
  if (name === "look") return text(`${booked.size} payments`);
  const id = key ?? `unkeyed ${booked.size}`;
  if (!booked.has(id)) booked.set(id, `payment ${booked.size + 1}`);
  return name === "pay" && existsSync(silence) ? undefined : text(booked.get(id));
}

function answer({ method, params }) {
  if (method === "initialize")
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "ledger", version: "1" },
    };
  if (method === "tools/list")
    return { tools: [tool("look", { readOnlyHint: true }), tool("pay", {}), tool("tip", {})] };
  return method === "tools/call" ? call(params) : {};
}

const server = createServer((request, response) => {
  if (request.method !== "POST") return response.writeHead(405).end();
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    const message = JSON.parse(body);
    if (message.id === undefined) return response.writeHead(202).end();
    const result = answer(message);
    if (result === undefined) return;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`));
