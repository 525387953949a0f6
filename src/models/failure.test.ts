import { expect, test } from "vitest";
import { createRedactor } from "../core/index.ts";
import { type FailureContext, failureOfReply, failureOfStatus, failureOfTransport, retryAfter } from "./failure.ts";

const context: FailureContext = {
  endpoint: "https://host/v1/chat/completions",
  model: "deepseek-chat",
  keyName: "HOST_API_KEY",
  party: "user",
  redact: createRedactor(["sk-very/secret+key"]),
};
const classify = (status: number, body: unknown, retryAfterMs?: number) =>
  failureOfStatus(context, { status, text: typeof body === "string" ? body : JSON.stringify(body), retryAfterMs });
const said = (message: string, more: object = {}) => ({ error: { message, ...more } });

test.each([408, 409, 425, 500, 502, 503, 504, 529])("status %i is worth another try", (status) => {
  expect(classify(status, said("Overloaded"))).toMatchObject({
    kind: "server",
    status,
    retryable: true,
    boundary: "infrastructure",
    stopReason: "infrastructure",
    message: `https://host/v1/chat/completions failed (${status}): Overloaded`,
  });
});

test("a rate limit carries what the server asks to wait, in a header or in its text", () => {
  expect(classify(429, said("slow down"), 2500)).toMatchObject({
    kind: "rate-limit",
    retryable: true,
    retryAfterMs: 2500,
  });
  expect(classify(429, said("Please try again in 1.2s."))).toMatchObject({ retryAfterMs: 1200 });
  expect(classify(429, said("Please retry in 20ms"))).toMatchObject({ retryAfterMs: 20 });
  expect(classify(429, said("slow down")).retryAfterMs).toBeUndefined();
});

test.each([
  [429, said("You exceeded your current quota", { code: "insufficient_quota" })],
  [402, said("Insufficient Balance")],
  [429, said("exceeded", { type: "exceeded_current_quota_error" })],
  [400, said("Your credit balance is too low to access the API")],
])("an empty account is not asked again: %i %o", (status, body) => {
  const failure = classify(status, body);
  expect(failure).toMatchObject({ kind: "refused", retryable: false, stopReason: "infrastructure" });
  expect(failure.message).toContain("HOST_API_KEY");
});

test("a minute's quota is a rate limit", () => {
  expect(classify(429, said("You exceeded your current quota. Please retry in 31.5s."))).toMatchObject({
    kind: "rate-limit",
    retryAfterMs: 31_500,
  });
});

test.each([
  [401, "does not accept the key (401; the key is HOST_API_KEY): set a valid one"],
  [403, "gives no access to deepseek-chat (403; the key is HOST_API_KEY)"],
  [404, "does not know deepseek-chat (404): check the model's name and api_base"],
  [307, "has moved (307): correct api_base"],
  [400, "refused the request for deepseek-chat (400): no such parameter"],
  [422, "refused the request for deepseek-chat (422)"],
])("status %i says what to do and is not tried again", (status, message) => {
  const failure = classify(status, { detail: "no such parameter" });
  expect(failure).toMatchObject({ kind: "refused", retryable: false, boundary: "infrastructure" });
  expect(failure.message).toContain(message);
});

test.each([
  [400, said("Please shorten.", { code: "context_length_exceeded" })],
  [400, said("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens")],
  [400, { object: "error", message: "This model's maximum context length is 4096 tokens.", code: 400 }],
  [400, said("The decoder prompt (length 9000) is longer than the maximum model length of 8192.")],
  [400, { message: "The input (9000 tokens) is longer than the model's context length (8192 tokens)." }],
  [400, said("Requested token count exceeds the model's maximum context length of 8192 tokens.")],
  [400, said("prompt is too long: 205000 tokens > 200000 maximum", { type: "invalid_request_error" })],
  [400, said("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")],
  [400, said("The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).")],
  [400, said("Your input exceeds the context window of this model. Please adjust your input and try again.")],
  [400, { message: "Input is too long for requested model." }],
  [413, said("too many tokens")],
  [400, said("the request exceeds the available context size, try increasing it")],
  [422, said("`inputs` tokens + `max_new_tokens` must be <= 8192")],
])("a full context is its own end, whatever the wording: %i %o", (status, body) => {
  expect(classify(status, body)).toMatchObject({
    kind: "context-overflow",
    retryable: false,
    stopReason: "context_overflow",
    boundary: "user",
  });
});

test("a request larger than a minute's tokens is no full context", () => {
  const body = said("Request too large for model on tokens per minute (TPM): Limit 6000; too many tokens");
  expect(classify(413, body).kind).toBe("refused");
});

test.each([
  [400, said("The response was filtered", { code: "content_filter" })],
  [400, said("Your request was rejected as a result of our safety system.")],
  [400, said("Content Exists Risk")],
  [400, said("Output data may contain inappropriate content.", { code: "data_inspection_failed" })],
  [403, said("Your input was flagged")],
])("a content filter is its own end: %i %o", (status, body) => {
  expect(classify(status, body)).toMatchObject({
    kind: "content-filter",
    retryable: false,
    stopReason: "content_filter",
  });
});

test("errors come as objects, texts, lists, plain text or a page", () => {
  expect(classify(500, { error: "busy" }).message).toMatch(/: busy$/);
  expect(classify(500, { detail: [{ msg: "odd" }] }).message).toMatch(/: \[\{"msg":"odd"\}\]$/);
  expect(classify(500, [said("listed")]).message).toMatch(/: listed$/);
  expect(classify(500, "plain\u0007\n text").message).toMatch(/: plain text$/);
  expect(classify(502, "<html><style>x{}</style><body>Bad <b>Gateway</b></body></html>").message).toMatch(
    /: Bad Gateway$/,
  );
  expect(classify(500, "").message).toMatch(/failed \(500\)$/);
});

test("a server's text is cut, and the key is struck out of it in every dress", () => {
  const key = "sk-very/secret+key";
  const dressed = [key, encodeURIComponent(key), Buffer.from(key).toString("base64")];
  const failure = classify(400, said(`bad: ${dressed.join(" ")} ${"x".repeat(1000)}`));
  for (const form of dressed) expect(failure.message).not.toContain(form);
  expect(failure.message.length).toBeLessThan(420);
  expect(failureOfReply(context, "nonsense", key).message).toContain("nonsense: [redacted]");
  // a key that spans the cut leaves no half behind
  expect(classify(400, said(`${"x".repeat(290)}${key}`)).message).not.toContain("sk-very");
});

test("transport errors are worth another try; what can never be sent or trusted is not", () => {
  const failure = (code: string) => failureOfTransport(context, Object.assign(new Error("m"), { code }));
  expect(failure("ECONNRESET")).toMatchObject({ kind: "network", retryable: true });
  expect(failure("ENOTFOUND")).toMatchObject({ kind: "network", retryable: true });
  expect(failure("UND_ERR_CONNECT_TIMEOUT")).toMatchObject({ kind: "timeout", retryable: true });
  expect(failure("UND_ERR_INVALID_ARG")).toMatchObject({ kind: "refused", retryable: false });
  expect(failure("DEPTH_ZERO_SELF_SIGNED_CERT")).toMatchObject({ kind: "refused", retryable: false });
  expect(failure("ECONNRESET").message).toBe("no answer from https://host/v1/chat/completions: ECONNRESET m");
});

test("Retry-After is read as milliseconds, seconds or a date", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(retryAfter({ "retry-after-ms": "250", "retry-after": "9" }, now)).toBe(250);
  expect(retryAfter({ "retry-after": "1.5" }, now)).toBe(1500);
  expect(retryAfter({ "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" }, now)).toBe(60_000);
  expect(retryAfter({ "retry-after": "Thu, 01 Jan 2020 00:01:00 GMT" }, now)).toBe(0);
  expect(retryAfter({ "retry-after": "soon" }, now)).toBeUndefined();
  expect(retryAfter({}, now)).toBeUndefined();
});

test("a date in Retry-After is held against the server's own Date, whatever our clock says", () => {
  const headers = { date: "Thu, 01 Jan 2026 00:00:30 GMT", "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" };
  for (const now of ["2025-12-31T23:00:00Z", "2026-01-02T00:00:00Z"])
    expect(retryAfter(headers, Date.parse(now))).toBe(30_000);
  expect(retryAfter({ ...headers, date: "?" }, Date.parse("2026-01-01T00:00:50Z"))).toBe(10_000);
});

test("a provider's Retry-After that LiteLLM hands on is read like its own, which comes first", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const provider = (value: string) => ({ "llm_provider-retry-after": value });
  expect(retryAfter(provider("42"), now)).toBe(42_000);
  expect(retryAfter({ "llm_provider-retry-after-ms": "250", ...provider("9") }, now)).toBe(250);
  expect(retryAfter({ "retry-after": "5", ...provider("42") }, now)).toBe(5000);
  expect(retryAfter({ "retry-after": "soon", ...provider("42") }, now)).toBe(42_000);
  const date = provider("Thu, 01 Jan 2026 00:01:00 GMT");
  expect(retryAfter(date, now)).toBe(60_000);
  expect(retryAfter({ ...date, date: "Thu, 01 Jan 2026 00:00:20 GMT" }, now)).toBe(40_000);
  const both = { date: "Thu, 01 Jan 2026 00:00:20 GMT", "llm_provider-date": "Thu, 01 Jan 2026 00:00:50 GMT" };
  expect(retryAfter({ ...date, ...both }, now)).toBe(10_000);
});
