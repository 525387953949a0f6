// The rehearsal server: an OpenAI-compatible endpoint that plays the scripted models, as slowly and as faultily as asked.
// It keeps only counts of what it served, so it can back runs of any length.
import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, contentHash, createRandom, messageOf, systemClock, UsageError } from "../../core/index.ts";
import { MOCK_FINGERPRINT } from "../openai/client.ts";
import { writeCompletion } from "./completion.ts";
import { damage } from "./damage.ts";
import { bodyOf, deliver, type Failing, failTransport, isTransportKind, sendError, sendJson } from "./deliver.ts";
import { FaultSchedule } from "./fault-schedule.ts";
import { type FaultKind, parseFaults } from "./fault-spec.ts";
import { type FindScript, MODEL_NAMES, type Played, play } from "./play.ts";
import { readWireRequest, WireError } from "./wire-request.ts";

export type MockServerOptions = {
  findScript: FindScript;
  host?: string;
  /** 0, the default, takes any free port */
  port?: number;
  /** milliseconds before each answer, drawn evenly */
  latency?: { least: number; most: number };
  /** such as `429=0.1,malformed@2` */
  faults?: string;
  seed?: number;
  /** if set, any other key is refused */
  apiKey?: string;
  /** reasoning is written into the text, between `<think>` tags */
  inlineReasoning?: boolean;
  /** errors repeat the caller's key, in several encodings, as careless gateways do */
  echoKeys?: boolean;
  clock?: Clock;
  /** called for each request; `fault` is what was done to it */
  onRequest?(request: ServedRequest): void;
};

export type ServedRequest = { body: string; party: Played["party"] | undefined; fault: FaultKind | undefined };

export type RequestCounts = {
  /** chat completions asked for */
  asked: number;
  /** of these, with a whole reply */
  replied: number;
  models: { [name: string]: number };
  faults: { [kind in FaultKind]?: number };
};

export type MockServer = {
  /** ends in /v1: an api_base */
  url: string;
  port: number;
  requests(): RequestCounts;
  close(): Promise<void>;
};

/** Thousands connect at once when a run starts. */
const BACKLOG = 4096;
/** Longer than any client keeps an idle connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 120_000;

export async function startMockServer(options: MockServerOptions): Promise<MockServer> {
  const { host = "127.0.0.1", port = 0, seed = 0, clock = systemClock, latency = { least: 0, most: 0 } } = options;
  const plan = new FaultSchedule(parseFaults(options.faults ?? ""), seed);
  const random = createRandom("mock latency", seed);
  const counts: RequestCounts = { asked: 0, replied: 0, models: {}, faults: {} };
  const stop = new AbortController();
  // each waiting request listens to it
  setMaxListeners(0, stop.signal);

  async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    counts.asked++;
    const wire = readWireRequest(body);
    counts.models[wire.model] = (counts.models[wire.model] ?? 0) + 1;
    const played = await play(wire, options.findScript, stop.signal);
    const fault = plan.choose(body, (kind) => isTransportKind(kind) || damage(kind, played, wire) !== undefined);
    if (fault) counts.faults[fault.kind] = (counts.faults[fault.kind] ?? 0) + 1;
    options.onRequest?.({ body, party: played.party, fault: fault?.kind });
    const wait = latency.least + random.next() * (latency.most - latency.least);
    if (wait > 0) await clock.sleep(wait, stop.signal);
    const failing: Failing = { request, response, clock, echoKeys: options.echoKeys ?? false };
    if (fault && failTransport(fault, failing)) return;
    const reply = (fault && damage(fault.kind, played, wire)) ?? { ...played.reply, inline: options.inlineReasoning };
    const created = Math.floor(clock.now() / 1000);
    const head = {
      id: `chatcmpl-mock-${contentHash(body)}`,
      created,
      model: wire.model,
      system_fingerprint: MOCK_FINGERPRINT,
    };
    await deliver(writeCompletion(head, reply, wire), fault, { ...failing, signal: stop.signal });
    if (fault?.kind !== "truncated" && !response.destroyed) counts.replied++;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://mock");
    const route = `${request.method} ${pathname.replace(/\/+$/, "")}`;
    if (route === "GET /health") return sendJson(response, 200, { status: "ok" });
    if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`)
      throw new WireError(401, "invalid_api_key", "Incorrect API key provided");
    if (route === "GET /v1/models") return sendJson(response, 200, modelList());
    if (route === "POST /v1/chat/completions") return complete(request, response);
    throw new WireError(404, "not_found", `${route} is not served here`);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (stop.signal.aborted || response.destroyed || response.headersSent) return response.destroy();
      const known = error instanceof WireError ? error : new WireError(500, "mock_bug", messageOf(error));
      const failing = { request, response, clock, echoKeys: options.echoKeys ?? false };
      return sendError(failing, { status: known.status, code: known.code, message: known.message });
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new UsageError(`mock-llm cannot listen: ${messageOf(error)}`)));
    server.listen({ host, port, backlog: BACKLOG }, resolve);
  });
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}/v1`,
    port: taken,
    requests: () => structuredClone(counts),
    close: () =>
      new Promise((resolve) => {
        stop.abort(new Error("the server is closed"));
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function modelList(): object {
  const data = MODEL_NAMES.map((id) => ({ id, object: "model", created: 0, owned_by: "rollout" }));
  return { object: "list", data };
}
