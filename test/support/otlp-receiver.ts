// A collector of our own: takes what the official exporter really posts, and keeps the spans.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import { type Facts, type ReceivedSpan, readTraces } from "./otlp-wire.ts";

/** As the wire numbers them. */
export const KIND = { internal: 1, client: 3 };
export const ERROR = 2;

export type Receiver = {
  url: string;
  spans: ReceivedSpan[];
  resources: Facts[];
  /** of each post: its path and headers */
  posts: { path: string; headers: IncomingHttpHeaders }[];
  /** every body as it came; texts are legible in it */
  text(): string;
  /** the spans under this one */
  under(parent: ReceivedSpan): ReceivedSpan[];
  named(start: string): ReceivedSpan[];
};

/** `answer` decides on a status for each post; undefined: no answer ever comes. */
export async function receiveSpans(answer: (post: number) => number | undefined = () => 200): Promise<Receiver> {
  const bodies: Buffer[] = [];
  const receiver: Receiver = {
    url: "",
    spans: [],
    resources: [],
    posts: [],
    text: () => bodies.map(String).join("\n"),
    under: ({ spanId }) => receiver.spans.filter(({ parentSpanId }) => parentSpanId === spanId),
    named: (start) => receiver.spans.filter(({ name }) => name.startsWith(start)),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const sent = Buffer.concat(chunks);
      receiver.posts.push({ path: request.url ?? "", headers: request.headers });
      const status = answer(receiver.posts.length - 1);
      if (status === undefined) return;
      if (status === 200) {
        const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
        bodies.push(body);
        for (const { resource, spans } of readTraces(body)) {
          receiver.resources.push(resource);
          receiver.spans.push(...spans);
        }
      }
      response.writeHead(status, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}
