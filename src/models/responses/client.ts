// The wire of OpenAI's Responses API: what its newer models need for tools, and vLLM and LiteLLM serve too.
import { isObject, type ModelClient, withExactNumbers } from "../../core/index.ts";
import { type FailureContext, failureOfReply } from "../failure.ts";
import { failureOfError, parseObject } from "../openai/error-object.ts";
import type { Answer } from "../post.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";
import { withServed } from "../served.ts";
import { createWireClient, type WireDeps } from "../wire-client.ts";
import { readResponse } from "./reply.ts";
import { createItemsWriter, responseParameters } from "./request.ts";

export function createResponsesClient(model: ResolvedModel, settings: CallSettings, deps: WireDeps): ModelClient {
  const parameters = responseParameters(model, settings);
  const maxTokens = parameters.max_output_tokens;
  const wire = {
    path: "/responses",
    writeBody: createItemsWriter(model, parameters),
    readReply(context: FailureContext, { text, headers }: Answer) {
      const response = parseObject(text);
      if (response === undefined) throw failureOfReply(context, "with a body that is cut or no JSON", text);
      if (isObject(response.error)) throw failureOfError(context, response.error, text);
      if (!Array.isArray(response.output)) throw failureOfReply(context, "without output", text);
      if (response.status === "failed" || response.status === "cancelled")
        throw failureOfReply(context, `with a reply it broke off (${response.status})`, text);
      const reply = readResponse(withExactNumbers(response, text), { prices: model.prices, maxTokens });
      return withServed(reply, { asked: model.model, model: response.model, id: response.id, headers });
    },
  };
  return createWireClient(wire, model, settings, deps);
}
