// Sends answers: in one piece, drop by drop, in half, or not at all.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../core/index.ts";
import type { Payload } from "./completion.ts";
import type { FaultKind, FaultRule } from "./fault-spec.ts";
import { WireError } from "./wire-request.ts";

export type Failing = { request: IncomingMessage; response: ServerResponse; clock: Clock; echoKeys: boolean };

/** Faults that hit an answer regardless of its content. */
const TRANSPORT: ReadonlySet<FaultKind> = new Set([
  "429",
  "500",
  "503",
  "always500",
  "hang",
  "reset",
  "truncated",
  "slow",
  "overflow",
]);

export function isTransportKind(kind: FaultKind): boolean {
  return TRANSPORT.has(kind);
}

/** True if the fault is the whole answer. */
export function failTransport({ kind, value }: FaultRule, failing: Failing): boolean {
  const fail = (status: number, code: string, message: string, headers: { [name: string]: string } = {}) => {
    sendError(failing, { status, code, message, headers });
    return true;
  };
  switch (kind) {
    case "429":
      return fail(429, "rate_limit_exceeded", "Rate limit reached (injected)", {
        "retry-after": value === "date" ? httpDate(failing.clock.now() + DATE_AHEAD_MS) : (value ?? "1"),
      });
    case "500":
    case "always500":
      return fail(500, "internal_error", "The server had an error (injected)");
    case "503":
      return fail(503, "overloaded", "The server is overloaded (injected)");
    case "overflow":
      return fail(
        400,
        "context_length_exceeded",
        "This model's maximum context length is 1024 tokens. Please reduce the length of the messages. (injected)",
      );
    case "reset":
      failing.request.socket.resetAndDestroy();
      return true;
    case "hang":
      return true;
    default:
      return false;
  }
}

const DATE_AHEAD_MS = 2_000;
const SLOW_MS = 2_000;
const DROPS = 20;

export async function deliver(
  { contentType, text }: Payload,
  fault: FaultRule | undefined,
  { response, clock, signal }: Failing & { signal: AbortSignal },
): Promise<void> {
  response.setHeader("content-type", contentType);
  if (fault?.kind === "truncated") response.end(text.slice(0, Math.ceil(text.length / 2)));
  else if (fault?.kind !== "slow") response.setHeader("content-length", Buffer.byteLength(text)).end(text);
  else {
    const size = Math.ceil(text.length / DROPS);
    for (let start = 0; start < text.length && !response.destroyed; start += size) {
      response.write(text.slice(start, start + size));
      await clock.sleep(Number(fault.value ?? SLOW_MS) / DROPS, signal);
    }
    response.end();
  }
}

export type ErrorAnswer = { status: number; code: string; message: string; headers?: { [name: string]: string } };

export function sendError({ request, response, echoKeys }: Failing, answer: ErrorAnswer): void {
  const message = answer.message + (echoKeys ? echoOf(request) : "");
  sendJson(response, answer.status, { error: { message, type: answer.code, code: answer.code } }, answer.headers);
}

export function sendJson(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

function echoOf({ headers }: IncomingMessage): string {
  const secrets = Object.entries(headers).filter(([name]) => /auth|key|token/i.test(name));
  return secrets
    .map(([, value]) => String(value))
    .flatMap((value) => [value, value.replace(/^\w+ /, "")])
    .map((text) => ` ${text} ${encodeURIComponent(text)} ${Buffer.from(text).toString("base64")}`)
    .join("");
}

const MAX_BYTES = 64 * 1024 * 1024;

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new WireError(413, "too_large", "The request is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function httpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}
