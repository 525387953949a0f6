// From a party as written in the config to the model it uses and how.
import { existsSync } from "node:fs";
import { type JsonObject, type Location, UsageError } from "../core/index.ts";
import type { AgentPrompt, UserPrompt } from "../dialogue/index.ts";
import { readText } from "../files/index.ts";
import type { PartyModel, ToolFormat } from "../models/index.ts";
import { findText } from "./places.ts";
import { requirePlaceholders } from "./prompt-places.ts";
import type { AgentConfig, UserConfig } from "./schema.ts";

type PartyConfig = Exclude<UserConfig, string>;

/** What applies if the party itself says nothing, and the model it uses. */
export type PartyDefaults = {
  model: string;
  temperature?: number;
  topP?: number;
  thinking?: boolean;
  toolFormat?: ToolFormat;
  systemPromptFile?: string;
  location?: Location;
};

export function resolveAgent(
  config: AgentConfig | undefined,
  defaults: PartyDefaults,
): PartyModel & { prompt: AgentPrompt } {
  const party = toObject(config);
  const prompt = { systemPrompt: readSystemPrompt(party, "agent", defaults) };
  return { ...resolveParty(party, "agent", defaults), prompt };
}

export function resolveUser(
  config: UserConfig | undefined,
  defaults: PartyDefaults,
): PartyModel & { prompt: UserPrompt } {
  const party = toObject(config);
  const prompt: UserPrompt = {
    systemPrompt: readSystemPrompt(party, "user", defaults),
    guidelines: party.guidelines_file && readPrompt(party.guidelines_file),
    customGuidelines: party.custom_guidelines,
  };
  return { ...resolveParty(party, "user", defaults), prompt };
}

function resolveParty(config: PartyConfig, party: "agent" | "user", defaults: PartyDefaults): PartyModel {
  const options = typeof config.thinking === "object" ? (config.thinking as JsonObject) : undefined;
  const switched = typeof config.thinking === "boolean" ? config.thinking : options && options.type !== "disabled";
  return {
    model: defaults.model,
    settings: {
      temperature: config.temperature ?? defaults.temperature,
      topP: config.top_p ?? defaults.topP,
      maxTokens: config.max_tokens,
      thinking: config.enable_thinking ?? switched ?? defaults.thinking,
      thinkingOptions: options,
      sendSeed: config.send_seed,
      recoverTextCalls: config.recover_text_calls,
      timeoutSeconds: config.timeout,
      maxRetries: config.max_retries,
      extraParams: config.extra_params as JsonObject | undefined,
    },
    apiBase: config.api_base,
    apiKey: config.api_key ?? undefined,
    api: config.api,
    toolFormat: config.tool_format ?? defaults.toolFormat,
    places: {
      ...(config.temperature === undefined && { temperature: `${party}_temperature` }),
      ...(config.enable_thinking === undefined && {
        thinking: switched === undefined ? "enable_thinking" : `${party}.thinking`,
      }),
    },
  };
}

function readSystemPrompt(
  { system_prompt, system_prompt_file: own }: PartyConfig,
  party: "agent" | "user",
  { location, systemPromptFile }: PartyDefaults,
): string | undefined {
  if (system_prompt !== undefined && own !== undefined) {
    throw new UsageError("system_prompt and system_prompt_file exclude each other");
  }
  const system_prompt_file = own ?? (system_prompt === undefined ? systemPromptFile : undefined);
  const prompt = system_prompt ?? (system_prompt_file && readPrompt(system_prompt_file));
  if (prompt !== undefined)
    requirePlaceholders(prompt, party, (text) => {
      if (system_prompt_file) return findText(system_prompt_file, text);
      return (location && findText(location.file, text, location.line)) ?? location;
    });
  return prompt;
}

function readPrompt(file: string): string {
  if (!existsSync(file)) throw new UsageError(`There is no prompt file ${file}`);
  return readText(file).trim();
}

function toObject(config: AgentConfig | UserConfig | undefined): PartyConfig {
  return typeof config === "string" ? { model: config } : (config ?? {});
}
