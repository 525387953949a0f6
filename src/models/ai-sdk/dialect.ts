// A dialect that goes through an AI SDK provider package, at the level of a single request. A dialect's own file says what
// is special about it; the rest is the same for all of them.
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { Json, JsonObject, Variables } from "../../core/index.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { HabitRule } from "../habit-rule.ts";
import type { ResolvedModel } from "../resolved.ts";
import { createAiSdkClient } from "./client.ts";

/** Makes the package's model with the given `fetch`: cheap enough to do for every call. */
export type OpenModel = (fetch: typeof globalThis.fetch) => LanguageModelV3;

/** What every package is given, so that none of them reads the process's environment. */
export type CommonOptions = {
  baseURL: string;
  apiKey: string;
  headers: { [name: string]: string };
  generateId: () => string;
};

/** What the settings say about thinking. */
export type ThinkingWish = {
  /** undefined: the provider's default */
  on: boolean | undefined;
  type: string | undefined;
  effort: Json | undefined;
  /** the other options as the config wrote them, in camel case */
  others: JsonObject;
};

export type AiSdkTraits = {
  name: string;
  habits?: HabitRule[];
  secrets?: Dialect["secrets"];
  /** Loads the package when a model of the dialect is first called. */
  load(common: CommonOptions, model: ResolvedModel, env: Variables): Promise<OpenModel>;
  /** Throws a UsageError for what is known to be missing before a call. */
  check?(model: ResolvedModel, env: Variables): void;
  /** the address of a call, if it is not the base with the package's path at its end */
  locate?(base: URL, model: ResolvedModel): URL;
  /** the provider options for a thinking setting; called only if there is one and the model can think */
  thinking(wish: ThinkingWish, model: ResolvedModel): JsonObject;
  /** provider options of every call */
  always?(model: ResolvedModel): JsonObject;
  /** changes a request's body before it is sent */
  editBody?(body: JsonObject, wish: ThinkingWish): JsonObject;
  /** a message list must not start with an assistant message */
  userFirst?: boolean;
  /** reasoning that the provider did not sign is not accepted back */
  signsReasoning?: boolean;
  /** tools cannot be listed and forbidden at once */
  alwaysAuto?: boolean;
  /** what is added to the body must go through the package, which signs it */
  signsBody?: boolean;
  /** a call's id as the wire accepts it */
  callId?(id: string): string;
  /** the longest reply if the settings give none, for wires that require a number */
  maxTokens?: number;
  /** the package's name for its options, if it is not the dialect's name */
  optionsName?: string;
};

export function createAiSdkDialect(traits: AiSdkTraits): Dialect {
  const { name, habits, secrets } = traits;
  return {
    name,
    habits,
    secrets,
    createClient: (model, settings, deps) => createAiSdkClient(traits, model, settings, deps),
  };
}
