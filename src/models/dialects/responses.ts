// OpenAI's Responses API. The reasoning models that OpenAI serves today take function tools only there.
import { habits } from "../habit-rule.ts";
import { createResponsesClient } from "../responses/client.ts";
import type { Dialect } from "./dialect.ts";

export const responses: Dialect = {
  name: "responses",
  habits: [
    { model: /(^|\/)gpt-oss/i, habits: habits("effort", "send back") },
    { provider: /^openai$/, habits: habits("effort", "send back") },
  ],
  createClient: createResponsesClient,
};

/** Whether OpenAI itself expects this model's calls there: its reasoning models, by name. */
export function needsResponses(provider: string, model: string): boolean {
  return (
    provider === "openai" && /^(o\d|gpt-([5-9]|\d\d)|codex|computer-use)/.test(model) && !/chat|search-api/.test(model)
  );
}
