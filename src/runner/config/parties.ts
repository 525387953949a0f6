// From a party as the config writes it to the model it uses and how.
import { existsSync, readFileSync } from "node:fs";
import { type JsonObject, UsageError } from "../../core/index.ts";
import type { AgentPrompt, UserPrompt } from "../../dialogue/index.ts";
import type { CallSettings } from "../../models/index.ts";
import type { PartySpec } from "../spec.ts";
import type { AgentConfig, UserConfig } from "./schema.ts";

type PartyConfig = Exclude<UserConfig, string>;

/** The model it comes to, and what applies where the party itself says nothing. */
export type PartyDefaults = { model: string; temperature?: number; thinking?: boolean };

export function resolveAgent(
  config: AgentConfig | undefined,
  defaults: PartyDefaults,
): PartySpec & { prompt: AgentPrompt } {
  const party = asObject(config);
  return { ...toParty(party, defaults), prompt: systemPromptOf(party) };
}

export function resolveUser(
  config: UserConfig | undefined,
  defaults: PartyDefaults,
): PartySpec & { prompt: UserPrompt } {
  const party = asObject(config);
  const prompt: UserPrompt = {
    ...systemPromptOf(party),
    ...(party.guidelines_file ? { guidelines: readPrompt(party.guidelines_file) } : {}),
    ...(party.custom_guidelines ? { customGuidelines: party.custom_guidelines } : {}),
  };
  return { ...toParty(party, defaults), prompt };
}

function toParty(config: PartyConfig, defaults: PartyDefaults): PartySpec {
  const options = typeof config.thinking === "object" ? (config.thinking as JsonObject) : undefined;
  const switched = typeof config.thinking === "boolean" ? config.thinking : options && options.type !== "disabled";
  const settings: CallSettings = defined({
    temperature: config.temperature ?? defaults.temperature,
    topP: config.top_p,
    maxTokens: config.max_tokens,
    thinking: config.enable_thinking ?? switched ?? defaults.thinking,
    thinkingOptions: options,
    sendSeed: config.send_seed,
    recoverTextCalls: config.recover_text_calls,
    timeoutSeconds: config.timeout,
    maxRetries: config.max_retries,
    extraParams: config.extra_params as JsonObject | undefined,
  });
  return {
    model: defaults.model,
    settings,
    ...defined({ apiBase: config.api_base, apiKey: config.api_key ?? undefined }),
  };
}

function systemPromptOf({ system_prompt, system_prompt_file }: PartyConfig): { systemPrompt?: string } {
  if (system_prompt !== undefined && system_prompt_file !== undefined) {
    throw new UsageError("system_prompt and system_prompt_file exclude each other");
  }
  if (system_prompt !== undefined) return { systemPrompt: system_prompt };
  return system_prompt_file ? { systemPrompt: readPrompt(system_prompt_file) } : {};
}

function readPrompt(file: string): string {
  if (!existsSync(file)) throw new UsageError(`There is no prompt file ${file}`);
  return readFileSync(file, "utf8").trim();
}

function asObject(config: AgentConfig | UserConfig | undefined): PartyConfig {
  return typeof config === "string" ? { model: config } : (config ?? {});
}

export function defined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
