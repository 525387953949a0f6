import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { connectDialect } from "../../test/support/dialect-client.ts";
import { completion, failing, type ModelAnswer, requestOf } from "../../test/support/model-server.ts";
import { createRedactor, type Json } from "../core/index.ts";
import { failureOfReply, failureOfStatus, type ModelFailure } from "./failure.ts";
import { waitInText } from "./overflow.ts";
import { WORDINGS } from "./overflow-wordings.ts";

const context = { endpoint: "https://host/v1", model: "m", party: "agent", redact: createRedactor([]) } as const;
const classify = (status: number, body: Json) =>
  failureOfStatus(context, { status, text: typeof body === "string" ? body : JSON.stringify(body) });
const said = (message: string, more: object = {}) => ({ error: { message, ...more } });

/** How a call ends over a real connection. */
async function failureOver(dialect: string, ...answers: ModelAnswer[]): Promise<ModelFailure> {
  const { client } = await connectDialect(dialect, answers, { model: { apiKey: "sk-planted" } });
  return await client.complete(requestOf(), new AbortController().signal).then(
    () => expect.unreachable(),
    (error: ModelFailure) => error,
  );
}

const full = {
  kind: "context-overflow",
  retryable: false,
  stopReason: "context_overflow",
  boundary: "agent",
};

test.each(WORDINGS.map((wording) => [wording.server, wording] as const))("%s: a full context", (_, wording) => {
  expect(classify(wording.status, wording.body)).toMatchObject({ ...full, status: wording.status });
  // the row's own pattern does it, not the words that many servers share
  expect(JSON.stringify(wording.body)).toMatch(new RegExp(wording.pattern.source, "i"));
  expect(wording.source).toMatch(/^https:\/\//);
});

test("the pages name every server of the table", () => {
  const servers = new Set(WORDINGS.flatMap(({ server }) => server.replace(/ \(.*/, "").split(", ")));
  for (const page of ["docs/models.md", "docs/zh/models.md"])
    for (const server of servers) expect(readFileSync(page, "utf8")).toContain(server);
});

test.each([
  ["openai", WORDINGS.filter(({ server }) => /vLLM|llama|TGI|OpenRouter|LiteLLM|DashScope/.test(server))],
  ["anthropic", WORDINGS.filter(({ server }) => server === "Anthropic")],
  ["google", WORDINGS.filter(({ server }) => server === "Google")],
  ["mistral", WORDINGS.filter(({ server }) => server === "Mistral")],
  ["cohere", WORDINGS.filter(({ server }) => server === "Cohere")],
])("over a connection, with the dialect %s", async (dialect, wordings) => {
  expect(wordings.length).toBeGreaterThan(0);
  for (const { status, body } of wordings) {
    const headers = { "content-type": "application/json" };
    expect(await failureOver(dialect, failing(status, JSON.stringify(body), headers))).toMatchObject(full);
  }
});

test.each<[string, Json | string]>([
  ["a code that is no status", said("Too long.", { code: "context_length_exceeded" })],
  ["a status as a number", said("prompt is too long: 9 tokens > 8 maximum", { code: 400 })],
  [
    "an error in a stream",
    `data: ${JSON.stringify(said("prompt is too long: 9 tokens > 8 maximum"))}\n\ndata: [DONE]\n`,
  ],
])("a full context inside a 200: %s", async (_, body) => {
  const send: ModelAnswer = (response) => response.end(typeof body === "string" ? body : JSON.stringify(body));
  expect(await failureOver("openai", send)).toMatchObject(full);
});

test("a reply that says it ended for want of room is a full context", async () => {
  const reply = completion({ content: "Hel" }, {}, "model_context_window_exceeded");
  expect(await failureOver("openai", reply)).toMatchObject(full);
});

test.each<[string, number, Json | string]>([
  ["other words for it", 400, said("Prompt has 300,000 tokens, which exceeds the model's context window")],
  ["no numbers", 400, said("This model's maximum context length has been exceeded.")],
  ["in Chinese", 400, said("输入内容超过模型最大上下文长度")],
  ["plain text", 413, "the conversation is too long for this model"],
  [
    "a gateway's 503",
    503,
    said(
      "litellm.ServiceUnavailableError: Requested token count exceeds the model's maximum context length of 10 tokens.",
    ),
  ],
  [
    "two gateways",
    400,
    said("Provider returned error", {
      metadata: {
        raw: JSON.stringify(
          said("Provider returned error", { metadata: { raw: said("prompt is too long: 9 tokens > 8 maximum") } }),
        ),
      },
    }),
  ],
  [
    "a Python text of an error",
    400,
    said(
      "OpenAIException - Error code: 400 - {'error': {'message': 'litellm.BadRequestError: prompt is too long: 209303 tokens > 200000 maximum', 'type': None}}",
    ),
  ],
  ["a list of details", 422, { detail: [{ loc: ["body"], msg: "prompt is too long: 9 tokens > 8 maximum" }] }],
])("not in the table, but a full context: %s", (_, status, body) => {
  expect(classify(status, body)).toMatchObject({ kind: "context-overflow" });
});

const tpm =
  "Request too large for model `llama-3.1-8b-instant` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 12328, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing";

test.each<[string, number, Json | string, string]>([
  [
    "max_tokens above the model's",
    400,
    said(
      "max_tokens is too large: 10000. This model supports at most 4096 completion tokens, whereas you provided 10000.",
    ),
    "refused",
  ],
  [
    "max_tokens, by Cohere",
    400,
    {
      message:
        "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.",
    },
    "refused",
  ],
  [
    "max_tokens, by Groq",
    400,
    said("max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000"),
    "refused",
  ],
  [
    "max_tokens, by TGI",
    422,
    { error: "Input validation error: `max_new_tokens` must be <= 192. Given: 200" },
    "refused",
  ],
  [
    "max_tokens, by DeepSeek",
    400,
    said("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"),
    "refused",
  ],
  [
    "max_tokens, by Ark",
    400,
    said(
      "The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 16384 instead.",
    ),
    "refused",
  ],
  [
    "a body too large for a proxy",
    413,
    "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>nginx/1.24.0</center>\r\n</body>\r\n</html>",
    "refused",
  ],
  [
    "a body too large for Anthropic",
    413,
    { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
    "refused",
  ],
  [
    "too many tools",
    400,
    said(
      "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 130 instead.",
    ),
    "refused",
  ],
  [
    "a long description",
    400,
    said(
      "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got a string with length 2000 instead.",
    ),
    "refused",
  ],
  [
    "an image",
    400,
    said("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"),
    "refused",
  ],
  ["a quota", 403, said("Monthly token limit exceeded for this account."), "refused"],
  ["Bedrock's throttle", 429, { message: "Too many tokens, please wait before trying again." }, "rate-limit"],
  ["the same, by a gateway", 400, { message: "Too many tokens, please wait before trying again." }, "rate-limit"],
  ["tokens per day", 429, { message: "Too many tokens per day, please wait before trying again." }, "rate-limit"],
  [
    "the user's words in quotes",
    400,
    said(
      'Invalid content in messages[3]: "This model\'s maximum context length is 4096 tokens. What does it mean?" is not allowed',
    ),
    "refused",
  ],
  [
    "the same in single quotes",
    400,
    said("Invalid value: 'The prompt is too long: 9 tokens > 8 maximum, it said'. Supported values are: 'text'."),
    "refused",
  ],
  [
    "the user's words beside the message",
    422,
    {
      detail: [
        {
          loc: ["body", "messages"],
          msg: "Field required",
          input: "This model's maximum context length is 4096 tokens",
        },
      ],
    },
    "refused",
  ],
  [
    "a question about it",
    400,
    said("unexpected role after: what is the maximum context length of this model"),
    "refused",
  ],
  [
    "an echoed request",
    400,
    {
      error: {
        message: "Invalid request",
        request: { messages: [{ content: "prompt is too long: 9 tokens > 8 maximum" }] },
      },
    },
    "refused",
  ],
  ["a wrong key", 401, said("Your key's maximum context length is 4096 tokens"), "refused"],
])("tokens or length, but no full context: %s", (_, status, body, kind) => {
  const failure = classify(status, body);
  expect(failure).toMatchObject({ kind, stopReason: "infrastructure" });
});

test.each([
  [
    "OpenRouter",
    "This endpoint's maximum context length is 262000 tokens. However, you requested about 263390 tokens (658 of text input, 732 of tool input, 262000 in the output).",
  ],
  [
    "vLLM",
    "This model's maximum context length is 8192 tokens. However, you requested 8246 tokens (54 in the messages, 8192 in the completion).",
  ],
  [
    "vLLM, newer",
    "This model's maximum context length is 2048 tokens. However, your request has 8 input tokens plus 2050 'max_tokens'. Please reduce one or the other.",
  ],
  [
    "vLLM, between",
    "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 4096 tokens and your request has 8 input tokens (9000 > 4096 - 8).",
  ],
  [
    "SGLang",
    "Requested token count exceeds the model's maximum context length of 1000 tokens. You requested a total of 1206 tokens: 6 tokens from the input messages and 1200 tokens for the completion.",
  ],
  [
    "TGI",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 10 `inputs` tokens and 2048 `max_new_tokens`",
  ],
  [
    "Anthropic",
    "input length and `max_tokens` exceed context limit: 10 + 200000 > 200000, decrease input length or `max_tokens` and try again",
  ],
])("a max_tokens that no context holds is a setting: %s", (_, message) => {
  const failure = classify(400, said(message));
  expect(failure).toMatchObject({ kind: "refused", retryable: false, wrongSetup: true });
  expect(failure.message).toMatch(/^max_tokens \(\d+\) is more than m's context holds: lower it/);
});

test("a limit per minute is waited for, whatever its status", () => {
  const used =
    "Rate limit reached for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in 4.77s. Need more tokens?";
  for (const status of [429, 413, 400])
    expect(classify(status, said(used, { type: "tokens", code: "rate_limit_exceeded" }))).toMatchObject({
      ...{ kind: "rate-limit", status, retryable: true, retryAfterMs: 4770, stopReason: "infrastructure" },
    });
  const failure = failureOfStatus(context, { status: 413, text: JSON.stringify(said(used)), retryAfterMs: 9000 });
  expect(failure).toMatchObject({ kind: "rate-limit", retryAfterMs: 9000 });
});

test.each([
  [413, tpm, 6000],
  [
    429,
    "Request too large for gpt-4o in organization org on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.",
    30_000,
  ],
  [
    429,
    "Rate limit reached for model `llama3-70b-8192` on tokens per minute (TPM): Limit 7000, Used 0, Requested ~12903. Please try again in 50.597142857s.",
    7000,
  ],
])("a request larger than a minute's limit is not waited for: %i %s", (status, message, limit) => {
  const failure = classify(status, said(message, { type: "tokens", code: "rate_limit_exceeded" }));
  expect(failure).toMatchObject({ kind: "refused", retryable: false, wrongSetup: true });
  expect(failure.message).toContain(`a single request is larger than the ${limit} tokens that https://host/v1 allows`);
});

test.each([
  ["Please try again in 9m38.016s. Need more", 578_016],
  ["Please try again in 1h2m3.5s.", 3_723_500],
  ["please retry after 30 seconds", 30_000],
  ["Please retry in 59.44s.", 59_440],
  ["Please wait 2 minutes and 5 seconds before", 125_000],
  ["try again in 20ms", 20],
  ["Try again in 2 days", 172_800_000],
  ['{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay": "31s"}', 31_000],
  ['{"error":{"message":"busy","retry_after": 12}}', 12_000],
  ["please wait before trying again", undefined],
  ["try again later", undefined],
  ["try again in 3 steps", undefined],
])("a wait in a text: %s", (text, milliseconds) => {
  expect(waitInText(text)).toBe(milliseconds);
});

test("error bodies of any depth and size become a failure, quickly", () => {
  const deep = (open: string, close: string, inside = "") => open.repeat(50_000) + inside + close.repeat(50_000);
  const bodies = [
    deep("[", "]"),
    deep('{"error":', "}", '"x"'),
    `{"error":{"message":"busy","details":${deep("[", "]")}}}`,
    `{"error":{"message":${deep("[", "]")}}}`,
    `{"error":{"message":"Provider returned error","metadata":{"raw":${JSON.stringify(deep('{"error":', "}", "1"))}}}}`,
    `{"error":{"message":"${"x".repeat(30_000_000)}"}}`,
    "'a ".repeat(1_000_000),
    '"'.repeat(1_000_000),
    "<".repeat(1_000_000),
    "limit 1 ".repeat(200_000),
  ];
  for (const body of bodies) {
    const start = performance.now();
    for (const status of [400, 413, 429, 500]) {
      const failure = failureOfStatus(context, { status, text: body });
      expect(failure.message.length).toBeLessThan(1000);
      failureOfReply(context, "with an error", body);
    }
    expect(performance.now() - start).toBeLessThan(10_000);
  }
  expect(
    classify(400, `{"error":{"message":"prompt is too long: 9 tokens > 8 maximum","x":${deep("[", "]")}}}`),
  ).toMatchObject(full);
});
