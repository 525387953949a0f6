// What a recorded request said, as short hashes of its parts: enough to tell whether a new request is the same one,
// and to name what differs if it is not.
import { contentHash, type Json, type ModelRequest, remember, type ToolSpec } from "../../core/index.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";

export type RequestFingerprint = {
  model: string;
  settings: string;
  system: string;
  tools: string;
  tool_choice: string;
  message_count: number;
  messages: string;
};

/** What shapes a client's replies besides its requests. */
export type ClientFacts = { model: Pick<ResolvedModel, "id" | "body" | "reasoning">; settings: CallSettings };

export function createFingerprinter({ model, settings }: ClientFacts): (request: ModelRequest) => RequestFingerprint {
  // how long we wait and how often we retry is not part of what was asked
  const { timeoutSeconds: _timeout, maxRetries: _retries, ...sampling } = settings;
  const own = contentHash({ ...sampling, body: model.body, reasoning: model.reasoning });
  return (request) => ({
    model: model.id,
    settings: settings.sendSeed ? contentHash(`${own} ${request.origin.seed}`) : own,
    system: contentHash(request.system),
    tools: toolsHash(request.tools),
    tool_choice: request.toolChoice,
    message_count: request.messages.length,
    messages: contentHash(request.messages),
  });
}

/** In words, or undefined if the two are the same request. */
export function differenceOf(recorded: RequestFingerprint, now: RequestFingerprint): string | undefined {
  const differences: string[] = [];
  const add = (part: keyof RequestFingerprint, text: string) => {
    if (recorded[part] !== now[part]) differences.push(text);
  };
  add("model", `the model (${recorded.model} → ${now.model})`);
  add("settings", "the model's settings");
  add("system", "the system prompt");
  add("tools", "the tools");
  add("tool_choice", `whether tools may be called (${recorded.tool_choice} → ${now.tool_choice})`);
  const counts = [...new Set([recorded.message_count, now.message_count])].join(" → ");
  add("messages", `the messages (${counts} of them)`);
  return differences.length === 0 ? undefined : differences.join(", ");
}

/** Every rollout of a domain uses the same list object. */
const toolsHash = remember((tools: ToolSpec[]): string =>
  contentHash(
    tools.map(({ name, description, parameters, others }): Json => ({ name, description, parameters, ...others })),
  ),
);
