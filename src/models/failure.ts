// Every bad answer of a model server in our terms: what failed, whether a retry can help, how long to wait, and
// what the user can do. Texts from servers are cut and redacted; a key is only ever named.
import {
  type Blame,
  isObject,
  type Json,
  type LoopReason,
  MAX_JSON_DEPTH,
  parseJson,
  RolloutError,
} from "../core/index.ts";

export const FAILURE_KINDS = [
  "rate-limit",
  "server",
  "network",
  "timeout",
  "bad-reply",
  /** our own breaker blocks the request */
  "unavailable",
  "refused",
  "context-overflow",
  "content-filter",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export class ModelFailure extends RolloutError {
  declare readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** the key, the model's name or the address is wrong: no request like this can succeed */
  readonly wrongSetup: boolean;
  constructor(kind: FailureKind, message: string, options: ModelFailureOptions = {}) {
    super(options.boundary ?? "infrastructure", message, { own: !options.wrongSetup, ...options, kind });
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.wrongSetup = options.wrongSetup ?? false;
  }

  /** The same failure in other words, or with another meaning for the caller. */
  restate(changes: ModelFailureOptions & { message?: string }): ModelFailure {
    const { status, retryAfterMs, retryable, boundary, stopReason, own, wrongSetup } = this;
    const same = { status, retryAfterMs, retryable, boundary, stopReason, own, wrongSetup };
    return new ModelFailure(this.kind, changes.message ?? this.message, { ...same, cause: this, ...changes });
  }
}

type ModelFailureOptions = {
  boundary?: Blame;
  retryable?: boolean;
  stopReason?: LoopReason;
  cause?: unknown;
  status?: number;
  retryAfterMs?: number | undefined;
  own?: boolean;
  wrongSetup?: boolean;
};

/** Who was asked, as far as an error message may tell. */
export type FailureContext = {
  /** shown in messages: no credentials, no query */
  endpoint: string;
  model: string;
  keyName?: string;
  /** who asked: a full context or a filtered text is blamed on them */
  party: Blame;
  redact: (text: string) => string;
};

/** The failure that an HTTP status outside 2xx means, or an error object inside a successful reply. */
export function failureOfStatus(
  context: FailureContext,
  answer: { status: number; text: string; retryAfterMs?: number | undefined },
): ModelFailure {
  const { status } = answer;
  const { endpoint, model, keyName } = context;
  const { message, code } = readError(answer.text);
  const said = excerpt(context, message);
  const key = keyName === undefined ? "no key is set" : `the key is ${keyName}`;
  const refused = (text: string, options: ModelFailureOptions = {}) =>
    new ModelFailure("refused", `${text}${said}`, { status, ...options });
  const wrong = (text: string) => refused(text, { wrongSetup: true });
  const own = (kind: FailureKind, stopReason: LoopReason, text: string) =>
    new ModelFailure(kind, `${text}${said}`, { status, stopReason, boundary: context.party });

  if (status < 500 && status !== 429 && !/tokens? per (min|day)/i.test(message)) {
    if (OVERFLOW.test(code) || OVERFLOW.test(message))
      return own("context-overflow", "context_overflow", `the dialogue no longer fits ${model}'s context`);
    if (FILTERED.test(code) || FILTERED.test(message))
      return own("content-filter", "content_filter", `${endpoint} filtered the request`);
  }
  if (status === 402 || OUT_OF_CREDIT.test(code) || (status < 500 && OUT_OF_CREDIT.test(message)))
    return wrong(`the account at ${endpoint} has no credit or quota left (${status}; ${key})`);
  if (status === 429) {
    const retryAfterMs = answer.retryAfterMs ?? retryAfterInText(answer.text);
    const options = { status, retryable: true, retryAfterMs, own: false };
    return new ModelFailure("rate-limit", `${endpoint} limits its rate (429)${said}`, options);
  }
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    const options = { status, retryable: true, retryAfterMs: answer.retryAfterMs };
    return new ModelFailure("server", `${endpoint} failed (${status})${said}`, options);
  }
  if (status === 401) return wrong(`${endpoint} does not accept the key (401; ${key}): set a valid one`);
  if (status === 403) return wrong(`${endpoint} gives no access to ${model} (403; ${key})`);
  if (status === 404) return wrong(`${endpoint} does not know ${model} (404): check the model's name and api_base`);
  if (status >= 300 && status < 400) return wrong(`${endpoint} has moved (${status}): correct api_base`);
  return refused(`${endpoint} refused the request for ${model} (${status})`);
}

/** The failure behind an error of the HTTP client or the operating system. */
export function failureOfTransport(context: FailureContext, error: unknown): ModelFailure {
  const code = isObject(error) && typeof error.code === "string" ? error.code : "";
  const message = error instanceof Error ? error.message : String(error);
  if (code === "UND_ERR_INVALID_ARG")
    return new ModelFailure("refused", `a request to ${context.endpoint} cannot be sent${excerpt(context, message)}`);
  if (code === "TOO_LARGE") return new ModelFailure("bad-reply", `${context.endpoint} answered with ${message}`);
  const said = excerpt(context, [code, message].filter(Boolean).join(" "));
  if (/CERT|^ERR_TLS|^ERR_SSL/.test(code))
    return new ModelFailure("refused", `no secure connection to ${context.endpoint}${said}`, {
      wrongSetup: true,
      cause: error,
    });
  const kind = code.includes("TIMEOUT") || code === "ETIMEDOUT" ? "timeout" : "network";
  const wrongSetup = NOBODY_THERE.has(code);
  const options = { retryable: true, wrongSetup, own: !wrongSetup && !CONNECTING.has(code), cause: error };
  return new ModelFailure(kind, `no answer from ${context.endpoint}${said}`, options);
}

/** The address has no host, or no server. */
const NOBODY_THERE = new Set(["ENOTFOUND", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"]);
/** The request was never sent. */
const CONNECTING = new Set(["EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** A reply that our own code, and a trainer's, could not walk through. */
export function failureOfDepth(context: FailureContext): ModelFailure {
  return new ModelFailure(
    "bad-reply",
    `${context.endpoint} answered with JSON nested deeper than ${MAX_JSON_DEPTH} levels`,
  );
}

/** An answer that is not a reply: cut, not JSON, or without a choice. Nothing is guessed. */
export function failureOfReply(context: FailureContext, what: string, text = ""): ModelFailure {
  return new ModelFailure("bad-reply", `${context.endpoint} answered ${what}${excerpt(context, text)}`, {
    retryable: true,
  });
}

/** Milliseconds that `Retry-After` (seconds or a date) or `Retry-After-Ms` asks for. */
export function retryAfter(headers: { [name: string]: string | string[] | undefined }, now: number) {
  const milliseconds = Number(first(headers["retry-after-ms"]) || Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const value = first(headers["retry-after"])?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

// The wordings of OpenAI, DeepSeek, vLLM, SGLang, Anthropic, Google, Bedrock, Mistral, TGI and llama.cpp.
const OVERFLOW = new RegExp(
  [
    "context_length_exceeded|exceed_context_size|model_max_prompt_tokens_exceeded",
    "maximum context length|max(imum)? model length|maximum prompt length",
    "(exceeds?|longer than|beyond|larger than) (the )?(model'?s? |available |maximum |allowed )*context",
    "context (window|limit|size|length)( of this model)? (is |was )?exceeded",
    "prompt is too long|(input|prompt|request) is too long for|too many (input |prompt )?tokens",
    "token count .{0,40}exceeds|reduce the length of the (messages|prompt|input)",
    "inputs. tokens \\+ .max_new_tokens. must be",
  ].join("|"),
  "i",
);
const FILTERED = new RegExp(
  [
    "content[_ ]?filter|content_policy|content policy|content management policy|safety system",
    "content exists risk|data_?inspection_?failed|inappropriate content|violat\\w+ .{0,20}usage polic",
    "input was flagged|requires moderation|prohibited_content",
  ].join("|"),
  "i",
);
// "exceeded your current quota" is not here: Google also says it about a minute's quota
const OUT_OF_CREDIT =
  /insufficient_quota|exceeded_current_quota|insufficient (balance|credit|fund)|credit balance is too low|billing_hard_limit/i;

const MAX_TEXT = 300;

/** `: text` for the end of a message, or nothing. */
function excerpt(context: FailureContext, text: string): string {
  // redact before cutting, so that no partial key is left at the edge
  const line = context
    .redact(text.slice(0, 20_000))
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
  if (line === "") return "";
  return `: ${line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line}`;
}

/** `{error: {message, code, type}}`, `{error: "…"}`, `{message}`, `{detail}`, a list of one of these, or plain text. */
function readError(text: string): { message: string; code: string } {
  const parsed = parseJson(text);
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isObject(body)) return { message: typeof body === "string" ? body : stripTags(text), code: "" };
  const error = isObject(body.error) ? body.error : body;
  const message = [error.message, body.error, body.message, body.detail].find((part) => part !== undefined) as Json;
  const code = [error.code, error.type, error.status].filter((part) => typeof part === "string").join(" ");
  return { message: typeof message === "string" ? message : JSON.stringify(message ?? body), code };
}

function stripTags(text: string): string {
  return /^\s*</.test(text) ? text.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, " ") : text;
}

function retryAfterInText(text: string): number | undefined {
  const match = /(?:try again|retry) in ([\d.]+) ?(ms|s)\b/i.exec(text);
  return match ? Math.ceil(Number(match[1]) * (match[2] === "ms" ? 1 : 1000)) : undefined;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
