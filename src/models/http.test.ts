import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { completion, createManualClock, modelAt, requestOf, serveModel } from "../../test/support/model-server.ts";
import { createDispatchers, proxyFor } from "./http.ts";
import { createOpenAiClient } from "./openai/client.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A real proxy that forwards and tunnels; `seen` says what it was asked for. */
async function serveProxy() {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url} ${incoming.headers["proxy-authorization"] ?? ""}`.trim());
    const { "proxy-authorization": _, ...headers } = incoming.headers;
    const outgoing = httpRequest(incoming.url ?? "", { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  proxy.on("connect", (incoming, socket: Socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    const [host, port] = (incoming.url ?? "").split(":");
    const target = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(target).pipe(socket);
    });
    for (const one of [socket, target]) sockets.add(one.on("error", () => one.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });
  return { seen, host: `127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

async function callThrough(env: { [name: string]: string }, scheme: "http" | "https" = "http") {
  const server = await serveModel(completion({ content: "Hi" }));
  cleanups.push(server.close);
  const dispatchers = createDispatchers(env, 1);
  cleanups.push(() => dispatchers.close());
  const url = server.baseUrl.replace("http:", `${scheme}:`);
  const deps = { dispatchers, clock: createManualClock() };
  const client = createOpenAiClient(modelAt(url, { apiKey: "sk-1234" }), { timeoutSeconds: 5 }, deps);
  const reply = await client.complete(requestOf(), new AbortController().signal).catch((error: Error) => error);
  return { reply, url, host: new URL(url).host, received: server.received };
}

test("plain HTTP goes through the proxy as a forwarded request, with the proxy's credentials", async () => {
  const { seen, host } = await serveProxy();
  const { reply, url, received } = await callThrough({ HTTP_PROXY: `http://user:pass@${host}` });
  expect(reply).toMatchObject({ content: "Hi" });
  expect(seen).toEqual([`POST ${url}/chat/completions Basic ${Buffer.from("user:pass").toString("base64")}`]);
  expect(received[0]?.headers).toMatchObject({ authorization: "Bearer sk-1234", host: new URL(url).host });
});

test("HTTPS goes through a tunnel, so the proxy sees neither key nor text", async () => {
  const { seen, host } = await serveProxy();
  const { reply, host: target } = await callThrough({ HTTPS_PROXY: host }, "https");
  // the server behind it does not speak TLS, so the call fails beyond the tunnel
  expect(reply).toBeInstanceOf(Error);
  expect(seen).toEqual([`CONNECT ${target}`]);
});

test("NO_PROXY keeps the call away from the proxy", async () => {
  const { seen, host } = await serveProxy();
  const { reply } = await callThrough({ HTTP_PROXY: `http://${host}`, NO_PROXY: "localhost,127.0.0.1" });
  expect(reply).toMatchObject({ content: "Hi" });
  expect(seen).toEqual([]);
});

test("a proxy that refuses the tunnel is a failure that may pass", async () => {
  const refusing = createServer();
  refusing.on("connect", (_, socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n"));
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => refusing.close());
  const { reply } = await callThrough(
    { https_proxy: `127.0.0.1:${(refusing.address() as AddressInfo).port}` },
    "https",
  );
  expect(reply).toMatchObject({ kind: "network", retryable: true });
});

test.each([
  ["https://api.host.com/v1", "", true],
  ["https://api.host.com/v1", "*", false],
  ["https://api.host.com/v1", "host.com", false],
  ["https://api.host.com/v1", ".host.com", false],
  ["https://api.host.com/v1", "*.host.com", false],
  ["https://API.host.com/v1", "other, Api.Host.Com", false],
  ["https://api.host.com/v1", "ost.com", true],
  ["https://api.host.com/v1", "api.host.com:8443", true],
  ["https://api.host.com/v1", "api.host.com:443", false],
  ["https://api.host.com:8443/v1", "api.host.com:8443", false],
  ["https://10.1.2.3/v1", "10.0.0.0/8", false],
  ["https://11.1.2.3/v1", "10.0.0.0/8", true],
  ["https://10.1.2.3/v1", "2.3", true],
  ["https://[::1]:8000/v1", "::1", false],
  ["https://[::1]:8000/v1", "[::1]:8000", false],
  ["https://[fd00::5]/v1", "fd00::/8", false],
])("%s with NO_PROXY=%s goes through the proxy: %s", (url, NO_PROXY, proxied) => {
  expect(proxyFor(new URL(url), { HTTPS_PROXY: "http://proxy:3128", NO_PROXY }) !== undefined).toBe(proxied);
});

test("each scheme has its proxy, and ALL_PROXY stands in for either", () => {
  const env = { HTTPS_PROXY: "http://secure:1", ALL_PROXY: "http://all:2" };
  expect(proxyFor(new URL("https://h/"), env)?.host).toBe("secure:1");
  expect(proxyFor(new URL("http://h/"), env)?.host).toBe("all:2");
  expect(proxyFor(new URL("http://h/"), { HTTPS_PROXY: "http://secure:1" })).toBeUndefined();
});

test("a proxy that is not a URL is the user's to mend, and its value is not shown", () => {
  const parse = () => proxyFor(new URL("https://h/"), { HTTPS_PROXY: "ftp://user:password@h" });
  expect(parse).toThrow("HTTPS_PROXY is not a proxy URL: expected http://host:port");
});

test("one origin has one dispatcher", () => {
  const dispatchers = createDispatchers({});
  cleanups.push(() => dispatchers.close());
  expect(dispatchers.for("http://h:1/a")).toBe(dispatchers.for("http://h:1/b"));
  expect(dispatchers.for("http://h:1/a")).not.toBe(dispatchers.for("http://h:2/a"));
});
