// The wire of OpenAI's chat completions, which vLLM, SGLang and most hosts speak too.
import { isObject, type ModelClient, parseExact } from "../../core/index.ts";
import { type FailureContext, failureOfFullContext, failureOfReply } from "../failure.ts";
import type { Answer } from "../post.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";
import { withServed } from "../served.ts";
import { createWireClient, type WireDeps } from "../wire-client.ts";
import { failureOfError, parseObject } from "./error-object.ts";
import { type Choice, readReply } from "./reply.ts";
import { createBodyWriter } from "./request.ts";

export function createOpenAiClient(model: ResolvedModel, settings: CallSettings, deps: WireDeps): ModelClient {
  const wire = {
    path: "/chat/completions",
    writeBody: createBodyWriter(model, settings),
    readReply(context: FailureContext, { text, headers }: Answer) {
      const { choice, completion } = readCompletion(context, text);
      const { id, model: name, system_fingerprint: fingerprint } = completion;
      const read = readReply(choice, completion.usage, model.prices);
      const reply = withServed(read, { asked: model.model, model: name, id, fingerprint, headers });
      return fingerprint === MOCK_FINGERPRINT ? { ...reply, scripted: true as const } : reply;
    },
  };
  return createWireClient(wire, model, settings, deps);
}

/** How `rollout mock-llm` signs its replies, so that a rehearsal is never taken for a model's output. */
export const MOCK_FINGERPRINT = "rollout-mock";

/** Reasons for which the server itself breaks off a reply: the model did not say this. */
const BROKEN_OFF = new Set(["error", "abort", "insufficient_system_resource"]);

function hasParsed(call: unknown): boolean {
  return isObject(call) && isObject(isObject(call.function) ? call.function.arguments : call.arguments);
}

type Completion = { choice: Choice; completion: Record<string, unknown> };

function readCompletion(context: FailureContext, text: string): Completion {
  const completion = parseObject(text);
  if (completion === undefined) throw failureOfReply(context, "with a body that is cut or no JSON", text);
  // some gateways wrap a failure of the server behind them in a 200
  if (isObject(completion.error)) throw failureOfError(context, completion.error, text);
  const choice = Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  if (!isObject(choice)) throw failureOfReply(context, "without a choice", text);
  if (isObject(choice.error)) throw failureOfError(context, choice.error, JSON.stringify(choice));
  if (!isObject(choice.message)) throw failureOfReply(context, "without a message", text);
  const finishReason = typeof choice.finish_reason === "string" ? choice.finish_reason : "";
  if (finishReason === "model_context_window_exceeded") throw failureOfFullContext(context);
  if (BROKEN_OFF.has(finishReason)) throw failureOfReply(context, `with a reply it broke off (${finishReason})`);
  return { choice: { message: exactMessage(choice.message, text), finishReason }, completion };
}

/** Arguments that a server sends as objects keep their numbers; as texts, which is usual, they keep them anyway. */
function exactMessage(message: Record<string, unknown>, text: string): Choice["message"] {
  const { tool_calls: calls, function_call: legacy } = message;
  if (!hasParsed(legacy) && !(Array.isArray(calls) && calls.some(hasParsed))) return message;
  const [choice] = (parseExact(text) as { choices: [Choice] }).choices;
  return choice.message;
}
