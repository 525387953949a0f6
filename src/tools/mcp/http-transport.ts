// Streamable HTTP with our own limits: a call's time limit is up to the hub, so the HTTP client's 300 seconds without a
// header or a byte must not end it first.
import { setMaxListeners } from "node:events";
import type { FetchLike, Transport } from "@modelcontextprotocol/client";
import type { Launch } from "./config.ts";

export async function openHttp(
  launch: Extract<Launch, { kind: "http" }>,
): Promise<{ transport: Transport; cleanUp: () => Promise<void> }> {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { Agent, fetch } = await import("undici");
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const fetchPatiently = (url: string | URL, init: Parameters<typeof fetch>[1] = {}) => {
    // one signal for all requests of a connection: its listeners go when requests are collected, not when they end
    if (init.signal) setMaxListeners(Number.POSITIVE_INFINITY, init.signal);
    return fetch(url, { ...init, dispatcher });
  };
  const transport = new StreamableHTTPClientTransport(launch.url, {
    requestInit: { headers: launch.headers },
    fetch: fetchPatiently as unknown as FetchLike,
  });
  return { transport, cleanUp: () => dispatcher.destroy() };
}
