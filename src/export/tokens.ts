// How many tokens a record has by a named tokenizer, by who or what they come from, and in all, with four for each
// message as templates add them. Offline; other models' own tokenizers differ by a few per cent.
import type { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { didYouMean, sum, UsageError } from "../core/index.ts";
import type { ExportRecord } from "./record.ts";
import { sharedText } from "./row-text.ts";

export const TOKENIZERS = ["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "r50k_base"] as const;

export const TOKEN_KINDS = [
  "system",
  "tools",
  "user",
  "tool_results",
  "agent_text",
  "agent_reasoning",
  "agent_calls",
] as const;
export type TokenKinds = { [kind in (typeof TOKEN_KINDS)[number]]: number };

type Encoding = { countTokens: typeof countTokens };
const PER_MESSAGE = 4;

/** For any text; special tokens in it count as the letters they are. */
export async function createTextCounter(name: string): Promise<(text: string) => number> {
  if (!(TOKENIZERS as readonly string[]).includes(name)) {
    const hint = didYouMean(name, TOKENIZERS) || `; there are: ${TOKENIZERS.join(", ")}`;
    throw new UsageError(`There is no tokenizer "${name}"${hint}`);
  }
  const encoding = (await import(`gpt-tokenizer/encoding/${name}`)) as Encoding;
  return (text) => encoding.countTokens(text, { disallowedSpecial: new Set() });
}

export async function createTokenCounter(name: string): Promise<(record: ExportRecord) => number> {
  const countKinds = await createKindCounter(name);
  return (record) => totalTokens(record, countKinds(record));
}

/** Of all kinds, with what templates put around each message. */
export function totalTokens({ system, messages }: ExportRecord, kinds: TokenKinds): number {
  return sum(Object.values(kinds)) + PER_MESSAGE * (messages.length + (system === undefined ? 0 : 1));
}

export async function createKindCounter(name: string): Promise<(record: ExportRecord) => TokenKinds> {
  const count = await createTextCounter(name);
  const known = new Map<string, number>();
  const countOnce = (text: string) => {
    const tokens = known.get(text) ?? count(text);
    known.set(text, tokens);
    return tokens;
  };
  return ({ system, tools, messages }) => {
    const kinds = Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, 0])) as TokenKinds;
    if (system !== undefined) kinds.system = countOnce(system);
    if (tools && tools.length > 0) kinds.tools = countOnce(sharedText(tools));
    for (const message of messages) {
      kinds[message.role === "user" ? "user" : message.role === "tool" ? "tool_results" : "agent_text"] += count(
        message.content,
      );
      if (message.role !== "assistant") continue;
      if (message.reasoning_content) kinds.agent_reasoning += count(message.reasoning_content);
      for (const call of message.tool_calls ?? [])
        kinds.agent_calls += count(call.function.name) + count(call.function.arguments);
    }
    return kinds;
  };
}
