// A collector of our own: takes what the official exporter really posts to /v1/traces, as JSON, and keeps the spans.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";

type Value = {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
};
type Attribute = { key: string; value: Value };
type WireSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code: number; message?: string };
  events: { name: string; attributes: Attribute[] }[];
};
type Body = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: WireSpan[] }[];
  }[];
};
type Facts = { [name: string]: unknown };

export type ReceivedSpan = Pick<WireSpan, "traceId" | "spanId" | "parentSpanId" | "name" | "kind" | "status"> & {
  start: bigint;
  end: bigint;
  facts: Facts;
  events: { name: string; facts: Facts }[];
};

/** As the wire numbers them. */
export const KIND = { internal: 1, client: 3 };
export const ERROR = 2;

export type Receiver = {
  url: string;
  spans: ReceivedSpan[];
  resources: Facts[];
  /** of each post: its path and headers */
  posts: { path: string; headers: IncomingHttpHeaders }[];
  /** every body as it came */
  text(): string;
  /** the spans under this one */
  under(parent: ReceivedSpan): ReceivedSpan[];
  named(start: string): ReceivedSpan[];
};

/** `answer` decides on a status for each post; undefined: no answer ever comes. */
export async function receiveSpans(answer: (post: number) => number | undefined = () => 200): Promise<Receiver> {
  const bodies: string[] = [];
  const receiver: Receiver = {
    url: "",
    spans: [],
    resources: [],
    posts: [],
    text: () => bodies.join("\n"),
    under: ({ spanId }) => receiver.spans.filter(({ parentSpanId }) => parentSpanId === spanId),
    named: (start) => receiver.spans.filter(({ name }) => name.startsWith(start)),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const sent = Buffer.concat(chunks);
      const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent).toString();
      receiver.posts.push({ path: request.url ?? "", headers: request.headers });
      const status = answer(receiver.posts.length - 1);
      if (status === undefined) return;
      if (status === 200) {
        bodies.push(text);
        keep(receiver, JSON.parse(text) as Body);
      }
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
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

function keep(receiver: Receiver, { resourceSpans }: Body): void {
  for (const { resource, scopeSpans } of resourceSpans) {
    receiver.resources.push(toFacts(resource.attributes));
    for (const { spans } of scopeSpans) receiver.spans.push(...spans.map(toSpan));
  }
}

function toSpan({ attributes, events = [], startTimeUnixNano, endTimeUnixNano, ...span }: WireSpan): ReceivedSpan {
  return {
    ...span,
    start: BigInt(startTimeUnixNano),
    end: BigInt(endTimeUnixNano),
    facts: toFacts(attributes),
    events: events.map((event) => ({ name: event.name, facts: toFacts(event.attributes) })),
  };
}

function toFacts(attributes: Attribute[]): Facts {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toPlain(value)]));
}

function toPlain({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Value): unknown {
  if (arrayValue) return arrayValue.values.map(toPlain);
  return stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue) : Number(intValue));
}
