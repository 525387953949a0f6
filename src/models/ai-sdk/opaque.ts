// What a provider wants back untouched: its signatures and encrypted thoughts, with the parts of the reply that they
// belong to, in order. Calls are kept by position only, since their ids and arguments are in the record.
import type { LanguageModelV3Content, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import { isObject, type Json } from "../../core/index.ts";

export type KeptPart =
  | { type: "text" | "reasoning"; text: string; options?: SharedV3ProviderMetadata }
  | { type: "call"; options?: SharedV3ProviderMetadata };

/** Undefined if nothing in the reply carries provider data. */
export function toOpaque(content: readonly LanguageModelV3Content[]): Json | undefined {
  const parts = content.flatMap(keep);
  return parts.some(({ options }) => options !== undefined)
    ? (JSON.parse(JSON.stringify({ parts })) as Json)
    : undefined;
}

/** Undefined if there are none. Options are keyed by provider: another one ignores them. */
export function keptParts(opaque: Json | undefined): KeptPart[] | undefined {
  return isObject(opaque) && Array.isArray(opaque.parts) ? (opaque.parts as KeptPart[]) : undefined;
}

function keep(part: LanguageModelV3Content): KeptPart[] {
  const options = part.providerMetadata && { options: part.providerMetadata };
  if (part.type === "text" || part.type === "reasoning") return [{ type: part.type, text: part.text, ...options }];
  return part.type === "tool-call" && !part.providerExecuted ? [{ type: "call", ...options }] : [];
}
