// A model server that repeats all that it was sent, everywhere it can: in good replies, reasoning, tool calls, errors,
// headers, redirects, and cut in the middle. It knows all secrets of its caller, and notes which it was really sent.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export type Echo = "content" | "error" | "straddle" | "torn" | "redirect" | "filtered" | "overflow";

export type EchoServer = { url: string; seen: Set<string>; calls: { [kind: string]: number } };

/** Every way in which a value may be written in an answer. */
export function spellings(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const go = value.replace(/[<>&+/]/g, (c) => `\\u00${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
  const html = value.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/\//g, "&#x2F;").replace(/=/g, "&#61;");
  const base64 = ["", "x", "Be", "Bearer "].map((before) => Buffer.from(`${before}${value}: more`).toString("base64"));
  return [
    ...[value, json, JSON.stringify(json).slice(1, -1), go, html, value.replace(/\//g, "\\/")],
    ...[
      encodeURIComponent(value),
      encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
      encodeURIComponent(encodeURIComponent(value)),
    ],
    ...[new URLSearchParams({ "": value }).toString().slice(1), ...base64],
    ...base64.map((text) => text.replace(/\+/g, "-").replace(/\//g, "_")),
  ];
}

/** Every answer repeats all secrets; `next` says how. */
export async function startEchoServer(secrets: readonly string[], next: (call: number) => Echo): Promise<EchoServer> {
  const seen = new Set<string>();
  const calls: { [kind: string]: number } = {};
  let count = 0;
  const server = createServer(async (request, response) => {
    const sent = await textOf(request);
    // somebody asks which server this is
    if (request.method === "GET") return void response.writeHead(404).end(secrets.join(" "));
    for (const secret of secrets) if (spellings(secret).some((form) => sent.includes(form))) seen.add(secret);
    const kind = next(count++);
    calls[kind] = (calls[kind] ?? 0) + 1;
    answer(response, kind, secrets, JSON.parse(sent.slice(sent.indexOf("\n\n") + 2)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen, calls };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  const basic = /^Basic (.+)/.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const login = Buffer.from(basic, "base64").toString();
  return `${request.url} ${Object.values(request.headers).join(" ")} ${login}\n\n${body}`;
}

type Sent = { messages: { role: string }[]; tools?: unknown };

function answer(response: ServerResponse, kind: Echo, secrets: readonly string[], sent: Sent): void {
  const all = secrets.flatMap(spellings).join(" ");
  const headers = { "content-type": "application/json", "www-authenticate": `Bearer realm="${secrets[0] ?? ""}"` };
  const fail = (status: number, message: string, more = {}) =>
    response.writeHead(status, { ...headers, ...more }).end(JSON.stringify({ error: { message } }));
  const [first = "nothing-was-sent"] = secrets;
  switch (kind) {
    case "error":
      return void fail(500, `I failed with ${all}`);
    case "straddle": // the key begins just before the place where we cut
      return void fail(500, `${"x".repeat(300 - Math.ceil(first.length / 2))}${first} and so on`);
    case "torn": // no JSON, and ends in the middle of a key
      return void response.writeHead(200, headers).end(`{"choices": "${all} and ${first.slice(0, -3)}`);
    case "redirect":
      return void fail(302, `moved ${all}`, { location: `http://127.0.0.1:9/?key=${encodeURIComponent(first)}` });
    case "filtered":
      return void fail(400, `content_filter: ${all}`);
    case "overflow":
      return void fail(400, `maximum context length exceeded by ${first}`);
    case "content":
      return void response.writeHead(200, headers).end(JSON.stringify(completion(all, sent)));
  }
}

function completion(all: string, { messages, tools }: Sent): object {
  const usage = { prompt_tokens: 10, completion_tokens: 10 };
  const isUser = tools === undefined;
  const called = messages.some(({ role }) => role === "tool");
  const call = { id: `call ${all.slice(0, 40)}`, type: "function" };
  const fn = { name: "look_up", arguments: JSON.stringify({ text: all, nested: JSON.stringify({ all }) }) };
  const message = {
    role: "assistant",
    content: `You sent me ${all}${isUser ? " ###STOP###" : ""}`,
    reasoning_content: `They sent ${all}`,
    ...(isUser || called ? {} : { tool_calls: [{ ...call, function: fn }] }),
  };
  return { choices: [{ message, finish_reason: isUser || called ? "stop" : "tool_calls" }], usage };
}
