// A fault-injecting MCP server for tests: JSON-RPC over stdio by hand, so that every rule can be broken on purpose.
// `--garbage`: noise on stdout around every answer · `--slow-start MS` · `--stubborn`: ignores SIGTERM and the end of its
// input, and starts a child that does too · `--log FILE`: appends its pid and every call.
// Its state is one counter; `crash_once FILE` crashes only while FILE does not exist.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values: flags } = parseArgs({
  options: {
    garbage: { type: "boolean" },
    stubborn: { type: "boolean" },
    "slow-start": { type: "string" },
    log: { type: "string" },
  },
});

let counter = 0;
let extraTool = false;
const cancelled = new Set();

const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
const pixels = Buffer.alloc(12 * 1024).toString("base64");

/** name → [annotations, schema properties, handler(args, id, progressToken)]; a handler without a result stays silent */
const TOOLS = {
  add: [{}, { amount: { type: "integer" } }, ({ amount = 1 }) => count(counter + amount)],
  read: [{ readOnlyHint: true }, {}, () => text(counter)],
  reset: [{}, {}, () => count(0)],
  stamp: [{}, {}, () => text(`${process.pid}.${process.hrtime.bigint()}`)],
  parts: [{}, {}, () => ({ content: [...text("one").content, ...text("two").content] })],
  structured: [{}, {}, () => ({ content: [], structuredContent: { total: 7 } })],
  picture: [
    {},
    {},
    () => ({
      content: [
        ...text("see:").content,
        { type: "image", mimeType: "image/png", data: pixels },
        { type: "audio", mimeType: "audio/wav", data: "AAAA" },
        { type: "resource_link", uri: "file:///a.txt", name: "a", mimeType: "text/plain" },
        { type: "resource", resource: { uri: "file:///b.txt", text: "inside" } },
        { type: "resource", resource: { uri: "file:///c.bin", blob: "AAAA" } },
      ],
    }),
  ],
  refuse: [{}, {}, () => ({ ...text("no such booking"), isError: true })],
  protocol_error: [{}, {}, () => ({ error: { code: -32603, message: "the database is away" } })],
  malformed: [{}, {}, () => ({ content: "not a list" })],
  crash: [{}, {}, () => process.exit(3)],
  crash_once: [{}, { file: { type: "string" } }, ({ file }) => once(file, () => process.exit(3))],
  hang: [{}, {}, () => undefined],
  hang_once: [{}, { file: { type: "string" } }, ({ file }) => once(file, () => undefined)],
  freeze: [{}, {}, () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)],
  flood: [{}, {}, () => flood()],
  huge_error: [{}, {}, () => ({ error: { code: -32000, message: "e".repeat(5_000_000) } })],
  deep: [
    {},
    { depth: { type: "integer" }, text: { type: "boolean" } },
    ({ depth, text: asText }) => {
      const json = `${"[".repeat(depth)}1.0${"]".repeat(depth)}`;
      return asText ? text(json) : { content: [], structuredContent: { deep: JSON.parse(json) } };
    },
  ],
  huge: [{}, { characters: { type: "integer" } }, ({ characters }) => text("x".repeat(characters))],
  slow: [{}, { steps: { type: "integer" } }, ({ steps }, id, token) => slow(steps, id, token)],
  variables: [{}, {}, () => text(JSON.stringify(process.env))],
  folder: [{}, {}, () => text(process.cwd())],
  research: [{}, {}, () => ({ error: { code: -32601, message: "only as a task" } })],
  cancelled: [{}, {}, () => text(cancelled.size)],
  grow: [
    {},
    {},
    () => {
      extraTool = true;
      write({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return text("grown");
    },
  ],
};

const EXTRA = { extra: [{}, {}, () => text("extra")] };

function answer({ method, params, id }) {
  if (method === "initialize") {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "faulty", version: "1" },
    };
  }
  if (method === "ping") return {};
  if (method === "tools/list") return page(Number(params?.cursor ?? 0));
  if (method === "tasks/result") return text(`result of ${params.taskId}`);
  if (params?.task && params.name === "research") return { task: { taskId: "task-1", status: "working" } };
  if (method !== "tools/call") return { error: { code: -32601, message: "no such method" } };
  log(`${params.name} ${JSON.stringify(params.arguments ?? {})}`);
  const tool = TOOLS[params.name] ?? EXTRA[params.name];
  if (!tool) return { error: { code: -32602, message: `unknown tool ${params.name}` } };
  return tool[2](params.arguments ?? {}, id, params._meta?.progressToken);
}

/** Five tools per page. */
function page(from) {
  const all = Object.entries(extraTool ? { ...TOOLS, ...EXTRA } : TOOLS);
  const tools = all.slice(from, from + 5).map(([name, [annotations, properties]]) => ({
    name,
    description: `Does ${name}.`,
    annotations,
    ...(name === "research" && { execution: { taskSupport: "required" } }),
    inputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties },
  }));
  return from + 5 < all.length ? { tools, nextCursor: String(from + 5) } : { tools };
}

function count(value) {
  counter = value;
  return text(counter);
}

function once(file, trouble) {
  if (existsSync(file)) return text("fine");
  writeFileSync(file, "");
  return trouble();
}

function flood() {
  const line = `${"noise ".repeat(10_000)}\n`;
  const pour = () => {
    while (process.stdout.write(line));
    process.stdout.once("drain", pour);
  };
  pour();
}

function slow(steps, id, progressToken) {
  let step = 0;
  const timer = setInterval(() => {
    step += 1;
    write({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken, progress: step, total: steps },
    });
    if (step < steps) return;
    clearInterval(timer);
    write({ jsonrpc: "2.0", id, result: text("done") });
  }, 100);
}

function write(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function log(line) {
  if (flags.log) appendFileSync(flags.log, `${line}\n`);
}

function receive(line) {
  const message = JSON.parse(line);
  if (message.method === "notifications/cancelled") cancelled.add(message.params.requestId);
  if (message.id === undefined) return;
  const result = answer(message);
  if (result === undefined) return;
  if (flags.garbage) process.stdout.write('Debug: {"half": json\n\n[1, 2]\n"a string"\n');
  write({ jsonrpc: "2.0", id: message.id, ...(result.error ? result : { result }) });
}

if (flags.stubborn) {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
  const helper = spawn("/bin/sh", ["-c", "trap '' TERM HUP; while :; do sleep 1; done"], { stdio: "ignore" });
  log(`pid ${helper.pid}`);
}
log(`pid ${process.pid}`);
process.stdout.on("error", () => {});
setTimeout(() => createInterface({ input: process.stdin }).on("line", receive), Number(flags["slow-start"] ?? 0));
