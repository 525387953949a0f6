// The secrets of a model, learnt when a client for it is made; those that variables hold are learnt when it is resolved.
import { learnAll, learnSecret, learnSetting, learnUrl } from "../core/index.ts";
import type { CallSettings, ResolvedModel } from "./resolved.ts";

export function learnModel(model: Pick<ResolvedModel, "apiKey" | "headers" | "baseUrls" | "body">): void {
  if (model.apiKey !== undefined) learnSecret(model.apiKey);
  for (const [name, text] of Object.entries(model.headers)) {
    // `X-Token-2` is one too
    learnSetting(/token/i.test(name) ? "token" : name, { text });
  }
  for (const text of model.baseUrls) learnUrl({ text });
  learnAll(model.body);
}

export function learnCallSettings({ extraParams, thinkingOptions }: CallSettings): void {
  learnAll(extraParams);
  learnAll(thinkingOptions);
}
