// Real connections to a real server; how many are made at once is seen by the function that makes them.
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as undici from "undici";
import { buildConnector, type Client } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { createConnections } from "./connections.ts";
import { post } from "./post.ts";

const LIMITS = { totalMs: 20_000, idleMs: 20_000 };
const NEVER = new AbortController().signal;

async function serve(answer: RequestListener, port = 0): Promise<{ origin: string; server: Server; sockets: number }> {
  const server = createServer({ keepAliveTimeout: 60_000 }, answer);
  const seen = { origin: "", server, sockets: 0 };
  server.on("connection", () => seen.sockets++);
  server.listen(port, "127.0.0.1", 1024);
  await once(server, "listening");
  onTestFinished(() => stop(server));
  seen.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return seen;
}

function stop(server: Server): void {
  server.closeAllConnections();
  server.close();
}

function connect(origin: string, options: Client.Options = {}) {
  const dispatcher = createConnections(undici, origin, options);
  onTestFinished(() => dispatcher.destroy());
  const send = (body = "{}", headers: { [name: string]: string } = {}, signal = NEVER) =>
    post(dispatcher, { target: { origin, path: "/", headers, limits: LIMITS }, body }, signal);
  return { dispatcher, send };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

test("all requests are in flight at once, each on a connection of its own, and those are used again", async () => {
  let held: (() => void)[] = [];
  const seen = await serve((_, response) => {
    held.push(() => response.end("ok"));
    if (held.length < 600) return;
    for (const answer of held) answer();
    held = [];
  });
  const { send } = connect(seen.origin);
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(times(600, () => send()));
    expect(answers.every(({ status, text }) => status === 200 && text === "ok")).toBe(true);
    await new Promise((resolve) => setImmediate(resolve)); // connections are free in the next turn
  }
  expect(seen.sockets).toBe(600);
});

test("only so many connections are made at the same time, and one that nobody answers holds up no other", async () => {
  const seen = await serve((_, response) => void response.end("ok"));
  const reallyConnect = buildConnector({});
  const refusals: (() => void)[] = [];
  let [connecting, most, begun] = [0, 0, 0];
  const { send } = connect(seen.origin, {
    connect: (options, callback) => {
      most = Math.max(most, ++connecting);
      const done: typeof callback = (...result) => {
        connecting--;
        callback(...result);
      };
      if (begun++ < 5) refusals.push(() => done(new Error("nobody there"), null));
      else reallyConnect(options, done);
    },
  });
  const results = times(1000, () => send().then(({ text }) => text, messageOf));
  expect(await Promise.all(results.slice(5))).toEqual(times(995, () => "ok"));
  for (const refuse of refusals) refuse();
  expect(await Promise.all(results.slice(0, 5))).toEqual(times(5, () => "nobody there"));
  expect(most).toBeLessThanOrEqual(128);
});

test("what cannot be sent, and what is given up while it waits, leaves room for the next", async () => {
  const seen = await serve((_, response) => void response.end("ok"));
  const { send } = connect(seen.origin);
  const wrong = await Promise.all(times(300, () => send("{}", { key: "two\nlines" }).catch(messageOf)));
  expect(new Set(wrong)).toEqual(new Set(["invalid key header"]));
  const leaving = new AbortController();
  const given = times(300, () => send("{}", {}, leaving.signal).catch(() => "left"));
  leaving.abort();
  expect(new Set(await Promise.all(given))).toEqual(new Set(["left"]));
  expect((await send()).text).toBe("ok");
});

test("a server that ends each connection, one that goes away and one that comes back are all served", async () => {
  const closing: RequestListener = (_, response) => void response.setHeader("connection", "close").end("ok");
  const seen = await serve(closing);
  const { send } = connect(seen.origin);
  for (let round = 0; round < 3; round++)
    expect(await Promise.all(times(200, () => send().then(({ text }) => text)))).toEqual(times(200, () => "ok"));
  stop(seen.server);
  await once(seen.server, "close");
  const refused = await Promise.all(times(200, () => send().catch((error) => error.code)));
  expect(new Set(refused)).toEqual(new Set(["ECONNREFUSED"]));
  await serve((_, response) => void response.end("back"), Number(new URL(seen.origin).port));
  expect(await Promise.all(times(200, () => send().then(({ text }) => text)))).toEqual(times(200, () => "back"));
});

test("closing fails what is in flight and what still waits for a connection", async () => {
  const seen = await serve(() => {});
  const { dispatcher, send } = connect(seen.origin);
  const results = times(400, () =>
    send().then(
      () => "answered",
      () => "failed",
    ),
  );
  await once(seen.server, "request");
  await dispatcher.destroy();
  expect(new Set(await Promise.all(results))).toEqual(new Set(["failed"]));
  await expect(send()).rejects.toThrow("closed");
});

test("a body arrives as it was written, with its length in bytes", async () => {
  const seen = await serve(async (request, response) => {
    const { "content-length": length, "transfer-encoding": encoding } = request.headers;
    response.end(JSON.stringify({ text: await readText(request), length, encoding }));
  });
  const { send } = connect(seen.origin);
  const large = "süß – 漢字 🙂 ".repeat(200_000);
  for (const text of ["{}", "é", "漢字 🙂", large]) {
    expect(JSON.parse((await send(text)).text)).toEqual({ text, length: String(Buffer.byteLength(text)) });
  }
});

test("an answer that comes before the body was read is an answer, and the next request is served", async () => {
  const seen = await serve((request, response) => {
    if (Number(request.headers["content-length"]) < 1000) return void response.end("ok");
    response.writeHead(401).end("who are you?"); // nothing of the body is read
  });
  const { send } = connect(seen.origin);
  for (let n = 0; n < 3; n++) {
    expect(await send("x".repeat(20 << 20))).toMatchObject({ status: 401, text: "who are you?" });
    expect((await send()).text).toBe("ok");
  }
});

const messageOf = (error: Error) => error.message;
