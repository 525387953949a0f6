// Numbers between us and MCP servers: the text that a model wrote is the text that arrives, and the text that a server
// wrote is the text that comes back. The servers are programs of their own, in Python and JavaScript.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { json } from "../../../test/support/json-text.ts";
import { type Environment, type JsonObject, parseExact, scanNumbers, writeExact } from "../../core/index.ts";
import { McpHub } from "./hub.ts";
import { serveDomain } from "./serve.ts";

const PROGRAM = fileURLToPath(new URL("../../../test/support/mcp/number_server.py", import.meta.url));
const KINDS = ["stdio", "json", "sse", "odd", "resumed"] as const;

const ARGUMENTS = `{"price":2.0,"id":12345678901234567890,"zero":-0.0,"limit":1e400,"least":-1E-400,
  "nested":{"list":[1.50,[{"a":-9223372036854775809}],"2.0"]},"__proto__":{"x":3.0},"2":1,"1":2.00}`;
const ON_ONE_LINE = ARGUMENTS.replace("\n", " ");

describe.each(KINDS)("a Python server over %s", (kind) => {
  test("gets every number as the model wrote it, and what it returns comes back as it wrote it", async () => {
    const environment = await open(kind);
    const { text, got, read } = await echo(environment, ARGUMENTS);
    expect(text).toBe(ON_ONE_LINE);
    expect(got).toBe(writeExact(parseExact(ARGUMENTS)));
    expect(got).toContain('"__proto__":{"x":3.0}');
    expect(read).toMatchObject({ price: "2.0", id: "12345678901234567890", zero: "-0.0", limit: "1e400" });
  });

  test("has its schemas, the whole of an answer, error codes and ids as they are", async () => {
    const environment = await open(kind);
    expect(writeExact(environment.tools[0]?.parameters)).toContain('"maximum":1e400,"default":2.0');
    expect(await send(environment, "picture", '{"a":2.0}')).toMatchObject({
      content: "[image image/png 3 B]",
      raw: '{"content":[{"type":"image","mimeType":"image/png","data":"AAAA","_meta":{"scale":2.0}}],"_meta":{"cost":1e400},"structuredContent":{"a":2.0}}',
    });
    expect(await send(environment, "fail", "{}")).toMatchObject({ isError: true, content: '{"error":"no"}' });
    expect(await send(environment, "deep", "{}")).toMatchObject({
      isError: true,
      content: expect.stringContaining("nested deeper than 128 levels"),
    });
    expect(await send(environment, "echo", "  ")).toMatchObject({ content: '{"text":"{}","got":{},"read":{}}' });
  });

  test("any JSON that a model may write arrives, number for number", async () => {
    const environment = await open(kind);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.tuple(fc.string(), json), { selector: ([name]) => name }), async (members) => {
        const written = members.map(([name, member]) => `${JSON.stringify(name)} : ${member}`);
        const given = `{ ${written.join(",\r\n")}\t}`;
        const { text, got, read } = await echo(environment, given);
        expect(text).toBe(given.replace(/\r\n/g, "  "));
        expect(got).toBe(writeExact(parseExact(given)));
        expect(stringsOf(read)).toEqual(expect.arrayContaining(numbersIn(given)));
      }),
      { numRuns: kind === "resumed" || kind === "odd" ? 15 : 60 },
    );
  });
});

describe("a server of JavaScript over HTTP", () => {
  test.each(["application/json", "text/event-stream"])("has the text, and answers it, as %s", async (type) => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      request.on("end", () => {
        if (request.method !== "POST") return response.writeHead(405).end();
        const { id, method } = JSON.parse(body) as { id?: number; method: string };
        if (id === undefined) return response.writeHead(202).end();
        if (method === "tools/call") bodies.push(body);
        const result = {
          initialize:
            '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"it","version":"1"}}',
          "tools/list": '{"tools":[{"name":"pay","inputSchema":{"type":"object"}}]}',
          "tools/call": '{"content":[],"structuredContent":{"left":2.0,"id":12345678901234567890}}',
        }[method];
        const text = `{"jsonrpc":"2.0","id":${id},"result":${result ?? "{}"}}`;
        response.setHeader("content-type", type).end(type === "application/json" ? `[${text}]` : `data: ${text}\n\n`);
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const environment = await openHub({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
    const { content } = await send(environment, "pay", ARGUMENTS);
    expect(content).toBe('{"left":2.0,"id":12345678901234567890}');
    expect(bodies[0]).toContain(`"arguments":${ON_ONE_LINE}`);
  });
});

describe("a domain that we serve", () => {
  const domainOf = (calls: string[]) => ({
    name: "Echo",
    tools: [{ name: "echo", description: "", parameters: { type: "object" }, readOnly: false }],
    open: async () => ({
      tools: [],
      isReadOnly: () => false,
      call: async (call: { arguments: string }) => {
        calls.push(call.arguments);
        return { content: call.arguments, isError: false };
      },
      state: async () => ({}),
      close: async () => {},
    }),
  });

  test("over HTTP gets the numbers that its client wrote", async () => {
    const calls: string[] = [];
    const serving = await serveDomain(domainOf(calls), { kind: "http", port: 0 });
    onTestFinished(() => serving.close());
    const environment = await openHub({ url: serving.url as string });
    const text =
      '{"price":2.0,"id":12345678901234567890,"zero":-0.0,"most":1e400,"list":[[1.50]],"__proto__":{"x":3.0}}';
    expect((await send(environment, "echo", text)).content).toBe(text);
    expect((await send(environment, "echo", '{"n":2}')).content).toBe('{"n":2}');
    expect(calls).toEqual([text, '{"n":2}']);
  });

  test("over stdio gets them too, also in a message that comes in pieces", async () => {
    const calls: string[] = [];
    const [input, output] = [new PassThrough(), new PassThrough()];
    const serving = await serveDomain(domainOf(calls), { kind: "stdio", input, output });
    const answers: string[] = [];
    output.setEncoding("utf8").on("data", (text: string) => answers.push(text));
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const lines = [
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello }),
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":2.0,"method":"tools/call","params":{"name":"echo","arguments":{"é":2.0},"_meta":{"x":1e400}}}',
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}',
    ];
    for (const byte of Buffer.from(`${lines.join("\n")}\n`)) input.write(Buffer.of(byte));
    while (answers.join("").split("\n").length < 4) await once(output, "data");
    expect(calls).toEqual(['{"é":2.0}', "{}"]);
    expect(answers.join("")).toContain('"id":2');
    input.end();
    await serving.closed;
  });
});

async function open(kind: (typeof KINDS)[number]): Promise<Environment> {
  if (kind === "stdio") return openHub({ command: "python3", args: [PROGRAM, "stdio"] });
  const server = spawn("python3", [PROGRAM, "http", kind], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void server.kill());
  const [said] = await once(server.stdout, "data");
  return openHub({ url: String(said).trim() });
}

async function openHub(server: { command?: string; args?: string[]; url?: string }): Promise<Environment> {
  const hub = new McpHub({ servers: { it: server }, variables: { PATH: process.env.PATH }, baseFolder: "/" });
  onTestFinished(() => hub.close());
  return hub.open();
}

function send(environment: Environment, name: string, text: string) {
  return environment.call({ id: "1", name, arguments: text }, new AbortController().signal);
}

/** The arguments as they stood in the message, as they came back, and as the server read them. */
async function echo(environment: Environment, args: string) {
  const { content, isError } = await send(environment, "echo", args);
  expect(isError, content).toBe(false);
  const { text, got, read } = parseExact(content) as JsonObject;
  return { text, got: writeExact(got), read };
}

function numbersIn(text: string): string[] {
  const numbers: string[] = [];
  scanNumbers(text, (number) => numbers.push(number));
  return numbers;
}

function stringsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsOf) : [];
}
