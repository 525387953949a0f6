// A model server on loopback that answers as a test tells it to, and what a test needs around it: a clock that moves by
// hand, a request, a resolved model.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock, JsonObject, ModelRequest } from "../../src/core/index.ts";
import type { ResolvedModel } from "../../src/models/index.ts";

export type Received = { url: string; headers: IncomingMessage["headers"]; body: JsonObject; text: string };

/** An object is sent as a completion's JSON; a function does what it likes with the response. */
export type ModelAnswer = JsonObject | ((response: ServerResponse, received: Received) => void);

export type ModelServer = { baseUrl: string; received: Received[]; close(): Promise<void> };

/** Plays the answers in order and repeats the last one. */
export async function serveModel(...answers: ModelAnswer[]): Promise<ModelServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      // somebody asks which server this is
      if (request.method === "GET") return response.writeHead(404).end();
      const one = { url: request.url ?? "", headers: request.headers, body: JSON.parse(text) as JsonObject, text };
      received.push(one);
      const answer = answers[Math.min(received.length, answers.length) - 1] as ModelAnswer;
      if (typeof answer === "function") answer(response, one);
      else response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function completion(message: JsonObject, more: JsonObject = {}, finish = "stop"): JsonObject {
  return { choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }], ...more };
}

export function failing(status: number, body: JsonObject | string = "", headers: { [name: string]: string } = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

export function modelAt(baseUrl: string | string[], more: Partial<ResolvedModel> = {}): ResolvedModel {
  return {
    id: "test/model",
    provider: "test",
    model: "model",
    dialect: "openai",
    baseUrls: [baseUrl].flat(),
    reasoning: { style: "none", sendBack: false, field: "reasoning_content" },
    limits: {},
    headers: {},
    body: {},
    ...more,
  };
}

export function requestOf(more: Partial<ModelRequest> = {}, rollout = 0): ModelRequest {
  return {
    system: "You help.",
    messages: [{ role: "user", content: "Hello" }],
    tools: [],
    toolChoice: "auto",
    origin: { dataset: "d", queryId: "q", rollout, seed: 7, mode: "positive", party: "agent", position: 0 },
    ...more,
  };
}

export type ManualClock = Clock & {
  slept: number[];
  advance(milliseconds: number): Promise<void>;
  /** somebody sets the clock forward or back; no time passes */
  set(milliseconds: number): void;
};

/** Time stands still until `advance`; with `auto` every sleep is over at once, and the time counts as passed. */
export function createManualClock(options: { auto?: boolean } = {}): ManualClock {
  let time = 1_000_000;
  let ahead = 0;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const slept: number[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    slept,
    now: () => time + ahead,
    elapsed: () => time,
    set: (milliseconds) => {
      ahead += milliseconds;
    },
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        slept.push(milliseconds);
        if (options.auto) time += milliseconds;
        if (options.auto) return resolve();
        const sleeper = { at: time + milliseconds, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", () => sleepers.delete(sleeper) && reject(signal.reason), { once: true });
      }),
    async advance(milliseconds) {
      const end = time + milliseconds;
      await settle();
      for (;;) {
        const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
        if (!next || next.at > end) break;
        time = next.at;
        sleepers.delete(next);
        next.wake();
        await settle();
      }
      time = end;
      await settle();
    },
  };
}
