// Every bad answer of a model server in our terms: what failed, whether a retry can help, how long to wait, and
// what the user can do. Texts from servers are cut and redacted; a key is only ever named.
import {
  type Blame,
  isObject,
  isTooDeep,
  type Json,
  type LoopReason,
  MAX_JSON_DEPTH,
  type ModelParty,
  parseJson,
  RolloutError,
} from "../core/index.ts";
import { isOutOfDescriptors, OUT_OF_DESCRIPTORS } from "../files/index.ts";
import { hopelessMaxTokens, hopelessRate, isOverflow, isRateLimit, waitInText } from "./overflow.ts";

export const FAILURE_KINDS = [
  "rate-limit",
  "server",
  "network",
  "timeout",
  "bad-reply",
  /** our own breaker blocks the request */
  "unavailable",
  /** this machine's own limits: no endpoint is to blame */
  "local",
  "refused",
  "context-overflow",
  "content-filter",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export class ModelFailure extends RolloutError {
  declare readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** the key, the model's name, the address or a setting is wrong: no request like this can succeed */
  readonly wrongSetup: boolean;
  /** it is a setting of the party that is wrong, not the model */
  readonly wrongSetting: boolean;
  readonly #answer: string | undefined;
  constructor(kind: FailureKind, message: string, options: ModelFailureOptions = {}) {
    super(options.boundary ?? "infrastructure", message, { own: !options.wrongSetup, ...options, kind });
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.wrongSetup = options.wrongSetup ?? false;
    this.wrongSetting = options.wrongSetting ?? false;
    this.#answer = options.answer;
  }

  /** What the server wrote, as far as it is worth reading; never to be shown. */
  get answer(): string | undefined {
    return this.#answer;
  }

  /** The same failure in other words, or with another meaning for the caller. */
  restate(changes: ModelFailureOptions & { message?: string }): ModelFailure {
    const { status, retryAfterMs, retryable, boundary, stopReason, own, wrongSetup, wrongSetting } = this;
    const same = { status, retryAfterMs, retryable, boundary, stopReason, own, wrongSetup, wrongSetting };
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
  wrongSetting?: boolean;
  answer?: string;
};

/** Who was asked, as far as an error message may tell. */
export type FailureContext = {
  /** shown in messages: no credentials, no query */
  endpoint: string;
  model: string;
  keyName?: string;
  /** who asked: a full context or a filtered text is blamed on them */
  party: ModelParty;
  redact: (text: string) => string;
};

/** The failure that an HTTP status outside 2xx means, or an error object inside a successful reply. */
export function failureOfStatus(
  context: FailureContext,
  answer: { status: number; text: string; retryAfterMs?: number | undefined },
): ModelFailure {
  const { status } = answer;
  const { endpoint, model, keyName } = context;
  const error = readError(answer.text);
  const { message, code } = error;
  const said = excerpt(context, message);
  const key = keyName === undefined ? "no key is set" : `the key is ${keyName}`;
  const refused = (text: string, options: ModelFailureOptions = {}) =>
    new ModelFailure("refused", `${text}${said}`, { status, ...options });
  const wrong = (text: string) => refused(text, { wrongSetup: true });
  const isLimited = status === 429 || (RATE_LIMITED.has(status) && isRateLimit(error.words, code));

  if (!isLimited && status !== 401 && status !== 402) {
    const full = overflowOf(context, error, status);
    if (full) return full;
    if (status < 500 && (FILTERED.test(code) || FILTERED.test(message))) {
      const options = { status, stopReason: "content_filter", boundary: blameOf(context.party) } as const;
      return new ModelFailure("content-filter", `${endpoint} filtered the request${said}`, options);
    }
  }
  if (status === 402 || OUT_OF_CREDIT.test(code) || (status < 500 && OUT_OF_CREDIT.test(message)))
    return wrong(`the account at ${endpoint} has no credit or quota left (${status}; ${key})`);
  if (isLimited) {
    const limit = hopelessRate(message);
    if (limit !== undefined)
      return wrong(
        `a single request is larger than the ${limit} tokens that ${endpoint} allows per period (${status}), so waiting cannot help: lower max_tokens, shorten prompt and tools, or have the limit raised`,
      );
    const retryAfterMs = answer.retryAfterMs ?? waitInText(answer.text.slice(0, MAX_READ));
    const options = { status, retryable: true, retryAfterMs, own: false };
    return new ModelFailure("rate-limit", `${endpoint} limits its rate (${status})${said}`, options);
  }
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    const options = { status, retryable: true, retryAfterMs: answer.retryAfterMs };
    return new ModelFailure("server", `${endpoint} failed (${status})${said}`, options);
  }
  if (status === 401) return wrong(`${endpoint} does not accept the key (401; ${key}): set a valid one`);
  if (status === 403) return wrong(`${endpoint} gives no access to ${model} (403; ${key})`);
  if (status === 404) return wrong(`${endpoint} does not know ${model} (404): check the model's name and api_base`);
  if (status >= 300 && status < 400) return wrong(`${endpoint} has moved (${status}): correct api_base`);
  return refused(`${endpoint} refused the request for ${model} (${status})`, {
    answer: answer.text.slice(0, MAX_READ),
  });
}

/** Statuses that some servers send instead of 429. */
const RATE_LIMITED = new Set([400, 403, 413, 422]);

/** A reply that ended with the context: its prompt fitted. */
export function failureOfFullContext(context: FailureContext): ModelFailure {
  return failureOfOverflow(context, "", 200);
}

/** A dialogue that is too long, in a server's words. */
function failureOfOverflow(context: FailureContext, message: string, status?: number): ModelFailure {
  const options = { ...(status === undefined ? {} : { status }), boundary: blameOf(context.party) };
  const text = `the dialogue does not fit ${context.model}'s context${excerpt(context, message)}`;
  return new ModelFailure("context-overflow", text, { ...options, stopReason: "context_overflow" });
}

function overflowOf(context: FailureContext, error: ServerError, status?: number): ModelFailure | undefined {
  if (!isOverflow(error.words, error.code)) return undefined;
  const maxTokens = hopelessMaxTokens(error.words);
  if (maxTokens === undefined) return failureOfOverflow(context, error.message, status);
  const text = `max_tokens (${maxTokens}) is more than ${context.model}'s context holds: lower it`;
  const options = { ...(status === undefined ? {} : { status }), wrongSetup: true };
  return new ModelFailure("refused", `${text}${excerpt(context, error.message)}`, options);
}

/** The failure behind an error of the HTTP client or the operating system. */
export function failureOfTransport(context: FailureContext, error: unknown): ModelFailure {
  const code = isObject(error) && typeof error.code === "string" ? error.code : "";
  const message = error instanceof Error ? error.message : String(error);
  if (code === "UND_ERR_INVALID_ARG")
    return new ModelFailure("refused", `a request to ${context.endpoint} cannot be sent${excerpt(context, message)}`);
  if (code === "TOO_LARGE") return new ModelFailure("bad-reply", `${context.endpoint} answered with ${message}`);
  if (isOutOfDescriptors(error)) {
    const options = { retryable: true, own: false, cause: error };
    return new ModelFailure("local", `no connection to ${context.endpoint}: ${OUT_OF_DESCRIPTORS}`, options);
  }
  const said = excerpt(context, [code, message].filter(Boolean).join(" "));
  if (/CERT|^ERR_TLS|^ERR_SSL/.test(code))
    return new ModelFailure("refused", `no secure connection to ${context.endpoint}${said}`, {
      wrongSetup: true,
      cause: error,
    });
  if (isObject(error) && error.name === "HTTPParserError")
    return new ModelFailure("bad-reply", `${context.endpoint} answered what is no HTTP${said}`, { retryable: true });
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

/** An answer that is not a reply: cut, not JSON, or without a choice. Nothing is guessed; an error in it is read. */
export function failureOfReply(context: FailureContext, what: string, text = ""): ModelFailure {
  const error = /"error"\s*:/.test(text.slice(0, MAX_READ)) ? readError(text) : undefined;
  const full = error && overflowOf(context, error);
  if (full) return full;
  return new ModelFailure("bad-reply", `${context.endpoint} answered ${what}${excerpt(context, text)}`, {
    retryable: true,
  });
}

type Headers = { [name: string]: string | string[] | undefined };

/** LiteLLM hands on the headers of the provider behind it under this prefix. */
const HANDED_ON = "llm_provider-";

/** Milliseconds that `Retry-After` (seconds or a date) or `Retry-After-Ms` asks for; the nearest server's word counts. */
export function retryAfter(headers: Headers, now: number): number | undefined {
  return readRetryAfter(headers, now, "") ?? readRetryAfter(headers, now, HANDED_ON);
}

function readRetryAfter(headers: Headers, now: number, prefix: string): number | undefined {
  const read = (name: string) => first(headers[prefix + name]);
  const milliseconds = Number(read("retry-after-ms") || Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const value = read("retry-after")?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1000;
  const date = Date.parse(value);
  // the server's own clock wrote both dates; ours may be wrong, or may have been set meanwhile
  const sent = Date.parse(read("date") ?? first(headers.date) ?? "");
  return Number.isNaN(date) ? undefined : Math.max(0, date - (sent < date ? sent : now));
}

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
    .redact(text.slice(0, MAX_READ))
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
  if (line === "") return "";
  return `: ${line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line}`;
}

/** Larger and deeper bodies are not parsed: their beginning is read as text. */
const MAX_BODY = 1024 * 1024;
const MAX_READ = 20_000;
/** A gateway's error may hold the error of the server behind it, which may be a gateway. */
const MAX_NESTING = 3;

/** `words` is what the server itself says; a message may also hold what it was sent. */
type ServerError = { message: string; code: string; words: string };

/** `{error: {message, code, type}}`, `{error: "…"}`, `{message}`, `{detail}`, a list of one of these, or plain text. */
function readError(body: string, nesting = 0): ServerError {
  const text = body.slice(0, MAX_BODY).replace(/^\s*(?:event:[^\n]*\n\s*)?data:/, "");
  const parsed = body.length > MAX_BODY || isTooDeep(text) ? undefined : parseJson(text);
  const value = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isObject(value)) {
    const plain = typeof value === "string" ? value.slice(0, MAX_READ) : stripTags(text);
    return { message: plain, code: "", words: plain };
  }
  const error = isObject(value.error) ? value.error : value;
  const given = [error.message, value.error, value.message, value.detail].find((part) => part !== undefined) as Json;
  const message = (typeof given === "string" ? given : JSON.stringify(given ?? value)).slice(0, MAX_READ);
  const names = [error.code, error.type, error.status, value.code, value.type, value.__type];
  const code = names.filter((part) => typeof part === "string").join(" ");
  const words = Array.isArray(given) ? given.map((part) => (isObject(part) ? part.msg : part)).join(" ") : message;
  const raw = isObject(error.metadata) ? error.metadata.raw : undefined;
  if (raw === undefined || nesting === MAX_NESTING) return { message, code, words };
  const inner = readError(typeof raw === "string" ? raw : JSON.stringify(raw), nesting + 1);
  return {
    message: `${message}: ${inner.message}`,
    code: `${code} ${inner.code}`,
    words: `${words}: ${inner.words}`,
  };
}

function stripTags(text: string): string {
  const start = text.slice(0, MAX_READ);
  return /^\s*</.test(start) ? start.replace(/<(style|script)[\s\S]*?<\/\1>|<[^<>]*>/gi, " ") : start;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Who summarises works for the agent. */
function blameOf(party: ModelParty): Blame {
  return party === "summary" ? "agent" : party;
}
