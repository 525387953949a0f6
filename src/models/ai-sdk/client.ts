// Every dialect but OpenAI's, through a provider package at the level of a single request: one call to one endpoint. It
// neither waits nor retries; every way a call can fail is a ModelFailure, and an abort by the caller comes
// back as the caller's reason.
import type { LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import { learnSecret, type ModelClient, type ModelRequest, messageOf, redactText } from "../../core/index.ts";
import { joinAddress, readAddress, trimmedPath } from "../address.ts";
import { callLimits } from "../call-limits.ts";
import { labelCut } from "../context-length.ts";
import type { DialectDeps } from "../dialects/dialect.ts";
import { type FailureContext, failureOfFullContext, failureOfReply, ModelFailure } from "../failure.ts";
import { createHeaderFiller, requestHeaders } from "../request-headers.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";
import { learnCallSettings, learnModel } from "../secrets.ts";
import { withServed } from "../served.ts";
import { recoverTextCalls } from "../text-calls/recover.ts";
import type { AiSdkTraits, CommonOptions, OpenModel } from "./dialect.ts";
import { createExchange, type Exchange, NO_KEY } from "./exchange.ts";
import { callOptions, createBodyEditor } from "./options.ts";
import { createPromptWriter, toTools } from "./prompt.ts";
import { readResult } from "./reply.ts";

/** A client for the model's first base URL. Its package is loaded at the first call. */
export function createAiSdkClient(
  traits: AiSdkTraits,
  model: ResolvedModel,
  settings: CallSettings,
  deps: DialectDeps,
): ModelClient {
  const { dispatchers, clock, env } = deps;
  const baseUrl = model.baseUrls[0] ?? "";
  const base = readAddress(baseUrl);
  const basePath = trimmedPath(base);
  traits.check?.(model, env);
  learnModel(model);
  learnCallSettings(settings);
  for (const secret of traits.secrets?.(env) ?? []) learnSecret(secret);
  const shown = {
    endpoint: base.origin + base.pathname,
    model: model.model,
    keyName: model.keyName,
    redact: redactText,
  };
  const limits = callLimits(settings, deps.idleSeconds);
  const fillHeaders = createHeaderFiller(model, deps.run);
  const options = callOptions(traits, model, settings);
  const toPrompt = createPromptWriter(model, traits);
  const edit = createBodyEditor(traits, model, settings);
  const agent = { "user-agent": requestHeaders(model)["user-agent"] as string };
  const ownHeaders = (origin: ModelRequest["origin"]) => ({ ...agent, ...fillHeaders?.(origin) });
  // a package adds its path to the end of what it is given, after a query too
  const common = commonOptions(model, base.origin + basePath);
  const locate = (asked: URL) =>
    traits.locate?.(base, model) ?? joinAddress(baseUrl, asked.pathname.slice(basePath.length));
  let provider: Promise<OpenModel> | undefined;

  return {
    id: model.id,
    async complete(request, signal) {
      signal.throwIfAborted();
      provider ??= traits.load(common, model, env);
      const open = await provider;
      const context: FailureContext = { ...shown, party: request.origin.party };
      const exchange = createExchange({
        dispatchers,
        clock,
        context,
        limits,
        signal,
        locate,
        edit,
        headers: ownHeaders(request.origin),
      });
      let result: LanguageModelV3GenerateResult;
      try {
        result = await open(exchange.fetch).doGenerate({
          ...options,
          prompt: toPrompt(request),
          ...toolOptions(request, traits),
          stopSequences: request.stop,
          seed: settings.sendSeed ? request.origin.seed : undefined,
          abortSignal: signal,
        });
      } catch (error) {
        signal.throwIfAborted();
        throw exchange.failure() ?? failureOfPackage(context, error, exchange);
      }
      refuseBrokenReply(context, result);
      for (const text of settingsChanged(result)) deps.onNote?.(`${model.id}: ${text}`);
      const { id, modelId } = result.response ?? {};
      const answered = { asked: model.model, id, model: modelId, headers: exchange.headers() };
      const read = withServed(readResult(result, model.prices), answered);
      const reply = labelCut(read, model, settings.maxTokens);
      return settings.recoverTextCalls && request.toolChoice === "auto"
        ? recoverTextCalls(reply, request.tools)
        : reply;
    },
  };
}

/** The tools stay listed even if none may be called: history names them, and the server's prefix cache stays warm. */
function toolOptions({ tools, toolChoice }: ModelRequest, { alwaysAuto }: AiSdkTraits) {
  if (tools.length === 0) return {};
  return { tools: toTools(tools), toolChoice: { type: alwaysAuto ? ("auto" as const) : toolChoice } };
}

function commonOptions(model: ResolvedModel, baseURL: string): CommonOptions {
  return {
    baseURL,
    apiKey: model.apiKey ?? NO_KEY,
    headers: requestHeaders(model),
    // calls that come without an id get one from the dialogue
    generateId: () => "",
  };
}

/** The package could not make sense of the answer, or made no request at all. Its own error may hold headers and keys. */
function failureOfPackage(context: FailureContext, error: unknown, exchange: Exchange): ModelFailure {
  const answer = exchange.answer();
  if (answer !== undefined) return failureOfReply(context, "with a body that is cut or no reply", answer);
  const reason = context.redact(messageOf(error)).slice(0, 300);
  return new ModelFailure("refused", `a request to ${context.endpoint} cannot be sent: ${reason}`);
}

/** What the package left out or changed of the settings: it knows its provider's rules. */
function settingsChanged({ warnings }: LanguageModelV3GenerateResult): string[] {
  return warnings.flatMap((warning) => {
    if (
      warning.type === "other" ||
      !/^(temperature|topP|seed|budgetTokens|.*(reasoning|thinking).*)$/i.test(warning.feature)
    )
      return [];
    return [warning.details ?? `${warning.feature} is not sent: its wire has no such setting`];
  });
}

/** Reasons for which the server itself breaks off a reply: the model did not say this. */
const BROKEN_OFF = new Set(["error", "timeout"]);

function refuseBrokenReply(context: FailureContext, { content, finishReason }: LanguageModelV3GenerateResult): void {
  const reason = finishReason.raw?.toLowerCase();
  if (reason === "model_context_window_exceeded") throw failureOfFullContext(context);
  if (reason !== undefined && BROKEN_OFF.has(reason))
    throw failureOfReply(context, `with a reply it broke off (${reason})`);
  if (reason === undefined && content.length === 0) throw failureOfReply(context, "without a reply");
}
