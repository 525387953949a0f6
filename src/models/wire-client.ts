// One call to one endpoint, directly on undici, for the wires that are our own. It neither waits nor retries; every
// way a call can fail is a ModelFailure, and an abort by the caller comes back as the caller's reason.
import { isTooDeep, type ModelClient, type ModelReply, type ModelRequest, redactText } from "../core/index.ts";
import { joinAddress } from "./address.ts";
import { callLimits } from "./call-limits.ts";
import { labelCut } from "./context-length.ts";
import type { DialectDeps } from "./dialects/dialect.ts";
import { type FailureContext, failureOfDepth, failureOfStatus, failureOfTransport, retryAfter } from "./failure.ts";
import { malformedReply } from "./malformed-replies.ts";
import type { Body } from "./message-bytes.ts";
import { type Answer, post } from "./post.ts";
import { createHeaderFiller, requestHeaders } from "./request-headers.ts";
import type { CallSettings, ResolvedModel } from "./resolved.ts";
import { learnCallSettings, learnModel } from "./secrets.ts";
import { recoverTextCalls } from "./text-calls/recover.ts";

export type WireDeps = Omit<DialectDeps, "env">;

/** What differs between our own wires. */
export type Wire = {
  /** after the base URL */
  path: string;
  writeBody(request: ModelRequest): Body;
  /** Throws a ModelFailure for an answer that is no reply. */
  readReply(context: FailureContext, answer: Answer): ModelReply;
};

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json" };

/** A client for the model's first base URL. */
export function createWireClient(
  wire: Wire,
  model: ResolvedModel,
  settings: CallSettings,
  deps: WireDeps,
): ModelClient {
  const url = joinAddress(model.baseUrls[0] ?? "", wire.path);
  const dispatcher = deps.dispatchers.for(url);
  const headers = { ...JSON_HEADERS, ...bearer(model), ...requestHeaders(model) };
  learnModel(model);
  learnCallSettings(settings);
  const limits = callLimits(settings, deps.idleSeconds);
  const fillHeaders = createHeaderFiller(model, deps.run);
  const target = { origin: url.origin, path: url.pathname + url.search, headers, limits };
  const shown = { endpoint: url.origin + url.pathname, model: model.model, keyName: model.keyName, redact: redactText };
  const contexts: { [party: string]: FailureContext } = {};

  return {
    id: model.id,
    async complete(request, signal) {
      const { party } = request.origin;
      contexts[party] ??= { ...shown, party };
      const context = contexts[party];
      const own = fillHeaders ? { ...target, headers: { ...headers, ...fillHeaders(request.origin) } } : target;
      const body = wire.writeBody(request);
      const sent = post(dispatcher, { target: own, body: body.bytes }, signal);
      let answer: Answer;
      try {
        answer = await sent;
      } catch (error) {
        signal.throwIfAborted();
        throw failureOfTransport(context, error);
      }
      const { status, text } = answer;
      const malformed = malformedReply(answer);
      if (!malformed && (status < 200 || status >= 300))
        throw failureOfStatus(context, { status, text, retryAfterMs: retryAfter(answer.headers, deps.clock.now()) });
      if (isTooDeep(text)) throw failureOfDepth(context);
      const reply = malformed ?? labelCut(wire.readReply(context, answer), model, settings.maxTokens);
      body.release(); // who replies has read it to its end; what failed may still be on its way
      return settings.recoverTextCalls && request.toolChoice === "auto"
        ? recoverTextCalls(reply, request.tools)
        : reply;
    },
  };
}

function bearer({ apiKey }: ResolvedModel): { authorization?: string } {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
