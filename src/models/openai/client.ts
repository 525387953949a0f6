// The OpenAI-compatible dialect: one call to one endpoint, directly on undici. It neither waits nor retries; every
// way a call can fail is a ModelFailure, and an abort by the caller comes back as the caller's reason.
import { createRedactor, isObject, isTooDeep, type ModelClient, parseExact, UsageError } from "../../core/index.ts";
import { callLimits } from "../call-limits.ts";
import type { DialectDeps } from "../dialects/dialect.ts";
import {
  type FailureContext,
  failureOfDepth,
  failureOfReply,
  failureOfStatus,
  failureOfTransport,
  retryAfter,
} from "../failure.ts";
import { type Answer, post } from "../post.ts";
import { requestHeaders } from "../request-headers.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";
import { secretsOf } from "../secrets.ts";
import { recoverTextCalls } from "../text-calls/recover.ts";
import { type Choice, readReply } from "./reply.ts";
import { createBodyWriter } from "./request.ts";

export type OpenAiDeps = Omit<DialectDeps, "env">;

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json" };
/** A client for the model's first base URL. */
export function createOpenAiClient(model: ResolvedModel, settings: CallSettings, deps: OpenAiDeps): ModelClient {
  const url = completionsUrl(model.baseUrls[0] ?? "");
  const dispatcher = deps.dispatchers.for(url);
  const headers = { ...JSON_HEADERS, ...bearer(model), ...requestHeaders(model) };
  const writeBody = createBodyWriter(model, settings);
  const redact = createRedactor(secretsOf(model));
  const limits = callLimits(settings, deps.idleSeconds);
  const target = { origin: url.origin, path: url.pathname + url.search, headers, limits };
  const shown = { endpoint: url.origin + url.pathname, model: model.model, keyName: model.keyName, redact };

  return {
    id: model.id,
    async complete(request, signal) {
      const context: FailureContext = { ...shown, party: request.origin.party };
      const sent = post(dispatcher, { target, body: writeBody(request) }, signal);
      let answer: Answer;
      try {
        answer = await sent;
      } catch (error) {
        signal.throwIfAborted();
        throw failureOfTransport(context, error);
      }
      const { status, text } = answer;
      if (status < 200 || status >= 300)
        throw failureOfStatus(context, { status, text, retryAfterMs: retryAfter(answer.headers, deps.clock.now()) });
      const { choice, usage, scripted } = readCompletion(context, text);
      const read = readReply(choice, usage, model.prices);
      const reply = scripted ? { ...read, scripted } : read;
      return settings.recoverTextCalls && request.toolChoice === "auto"
        ? recoverTextCalls(reply, request.tools)
        : reply;
    },
  };
}

/** How `rollout mock-llm` signs its replies, so that a rehearsal is never taken for a model's output. */
export const MOCK_FINGERPRINT = "rollout-mock";

/** Reasons for which the server itself breaks off a reply: the model did not say this. */
const BROKEN_OFF = new Set(["error", "abort", "insufficient_system_resource"]);

type Completion = { choice: Choice; usage: unknown; scripted?: true };

function readCompletion(context: FailureContext, text: string): Completion {
  if (isTooDeep(text)) throw failureOfDepth(context);
  const completion = parse(text);
  if (completion === undefined) throw failureOfReply(context, "with a body that is cut or no JSON", text);
  // some gateways wrap a failure of the server behind them in a 200
  if (isObject(completion.error)) throw failureOfError(context, completion.error, text);
  const choice = Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  if (!isObject(choice)) throw failureOfReply(context, "without a choice", text);
  if (isObject(choice.error)) throw failureOfError(context, choice.error, JSON.stringify(choice));
  if (!isObject(choice.message)) throw failureOfReply(context, "without a message", text);
  const finishReason = typeof choice.finish_reason === "string" ? choice.finish_reason : "";
  if (BROKEN_OFF.has(finishReason)) throw failureOfReply(context, `with a reply it broke off (${finishReason})`);
  const scripted = completion.system_fingerprint === MOCK_FINGERPRINT ? { scripted: true as const } : {};
  return {
    choice: { message: exactMessage(choice.message, text), finishReason },
    usage: completion.usage,
    ...scripted,
  };
}

/** Arguments that a server sends as objects keep their numbers; as texts, which is usual, they keep them anyway. */
function exactMessage(message: Record<string, unknown>, text: string): Choice["message"] {
  const calls = [message.tool_calls, message.function_call].flat().filter(isObject);
  const called = calls.map((call) => (isObject(call.function) ? call.function : call));
  if (!called.some((each) => isObject(each.arguments))) return message;
  const [choice] = (parseExact(text) as { choices: [Choice] }).choices;
  return choice.message;
}

function failureOfError(context: FailureContext, error: Record<string, unknown>, text: string): Error {
  const status = Number(error.code ?? error.status);
  return status >= 400 && status < 600
    ? failureOfStatus(context, { status, text })
    : failureOfReply(context, "with an error", text);
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function completionsUrl(base: string): URL {
  if (!URL.canParse(base)) throw new UsageError(`api_base "${base}" is not a URL`);
  const url = new URL(base);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/chat/completions") ? path : `${path}/chat/completions`;
  return url;
}

function bearer({ apiKey }: ResolvedModel): { authorization?: string } {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
