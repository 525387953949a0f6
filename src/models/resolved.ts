// What a model name resolves to: everything a client needs to make calls, and nothing else.
import type { JsonObject } from "../core/index.ts";
import type { Refusals } from "./refusals.ts";
import type { ToolFormat } from "./tool-format/formats.ts";

/**
 * How a model is told to think, and what happens to its reasoning.
 * - `thinking`: DeepSeek-style `thinking: {type: "enabled" | "disabled"}`; `template`: Qwen-style
 *   `chat_template_kwargs: {enable_thinking}`; `flag`: DashScope-style `enable_thinking`; `effort`:
 *   OpenAI-style `reasoning_effort`; `anthropic`: thinking with a budget; `none`: nothing is sent.
 */
export const THINKING_STYLES = ["none", "thinking", "template", "flag", "effort", "anthropic"] as const;
export type ThinkingStyle = (typeof THINKING_STYLES)[number];

export type ReasoningHabits = {
  style: ThinkingStyle;
  /**
   * whether this turn's reasoning goes back with the following requests, and in which field; "all": also reasoning of
   * earlier replies that called tools, if the provider refuses the dialogue without it
   */
  sendBack: boolean | "all";
  field: string;
};

/** Dollars per token. */
export type Prices = { input: number; output: number; cachedInput?: number };

export type EndpointLimits = { maxInFlight?: number; requestsPerMinute?: number; tokensPerMinute?: number };

export type ResolvedModel = {
  /** `provider/model`, as in records */
  id: string;
  provider: string;
  /** the name that goes over the wire */
  model: string;
  /** the name of its wire format; `scripted` for none */
  dialect: string;
  /** one or more replicas that serve the same model */
  baseUrls: string[];
  /** the key itself never leaves src/models; `keyName` (a variable's name, or "<literal>") is what may be shown */
  apiKey?: string;
  keyName?: string;
  prices?: Prices;
  contextLength?: number;
  /** the provider's models are listed, and this one is not among them */
  unlisted?: true;
  reasoning: ReasoningHabits;
  /** where the party that uses it says nothing */
  toolFormat?: ToolFormat;
  limits: EndpointLimits;
  headers: { [name: string]: string };
  /** merged into every request body */
  body: JsonObject;
  /** members of the body that the registry has in its extra_body, not in its extra_params */
  extraBody?: readonly string[];
  /** settings that it answers with a 400 */
  refuses?: Refusals;
};

/** How one party of one dataset uses a model. */
export type CallSettings = {
  temperature?: number;
  topP?: number;
  maxTokens?: number;
  /** true, false, or undefined: the provider's default */
  thinking?: boolean;
  /** e.g. `{type: "enabled", budget_tokens: 4000}` or `{effort: "high"}`, as the config wrote it */
  thinkingOptions?: JsonObject;
  /** send the rollout's seed to the provider */
  sendSeed?: boolean;
  /** recover tool calls that the model wrote as text; the reply is then tagged */
  recoverTextCalls?: boolean;
  /** whole-call limit in seconds */
  timeoutSeconds?: number;
  maxRetries?: number;
  extraParams?: JsonObject;
};

/** A party's model and how it is used: what a config says of an agent, a user or a judge. */
export type PartyModel = {
  model: string;
  settings: CallSettings;
  apiBase?: string | string[];
  apiKey?: string;
  api?: "chat" | "responses";
  toolFormat?: ToolFormat;
  /** where the config sets what is set elsewhere than under the party */
  places?: SettingPlaces;
};

/** Paths in a config. */
export type SettingPlaces = { temperature?: string; thinking?: string };
