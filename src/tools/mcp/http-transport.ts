// Streamable HTTP with our own limits: a call's time limit is up to the hub, so the HTTP client's 300 seconds without a
// header or a byte must not end it first. What the transport writes and reads passes here as text, to keep its numbers.
import { setMaxListeners } from "node:events";
import type { FetchLike, JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import type { Launch } from "./config.ts";
import { keepInEvents } from "./event-stream.ts";
import { hideArguments, keepInAnswers, showArguments } from "./message-text.ts";

export async function openHttp(
  launch: Extract<Launch, { kind: "http" }>,
): Promise<{ transport: Transport; cleanUp: () => Promise<void> }> {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { Agent, fetch, Response } = await import("undici");
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

  class HttpTransport extends StreamableHTTPClientTransport {
    override send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
      return super.send(hideArguments(message), options);
    }
  }

  const fetchPatiently = async (url: string | URL, init: Parameters<typeof fetch>[1] = {}) => {
    // one signal for all requests of a connection: its listeners go when requests are collected, not when they end
    if (init.signal) setMaxListeners(Number.POSITIVE_INFINITY, init.signal);
    const body = typeof init.body === "string" ? { body: showArguments(init.body) } : {};
    const response = await fetch(url, { ...init, ...body, dispatcher });
    if (!response.ok || !response.body) return response;
    const type = response.headers.get("content-type") ?? "";
    if (/^\s*text\/event-stream/i.test(type)) return new Response(response.body.pipeThrough(keepInEvents()), response);
    if (/^\s*application\/json/i.test(type)) return new Response(keepInAnswers(await response.text()), response);
    return response;
  };
  const transport = new HttpTransport(launch.url, {
    requestInit: { headers: launch.headers },
    fetch: fetchPatiently as unknown as FetchLike,
  });
  return { transport, cleanUp: () => dispatcher.destroy() };
}
