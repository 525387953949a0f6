// How many tokens a record has by a named tokenizer: texts, reasoning, calls, the system prompt and the tools, and four for
// each message as templates add them. Offline; other models' own tokenizers differ by a few per cent.
import type { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { didYouMean, UsageError } from "../core/index.ts";
import type { ExportRecord } from "./record.ts";
import { sharedText } from "./row-text.ts";

export const TOKENIZERS = ["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "r50k_base"] as const;

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
  const count = await createTextCounter(name);
  const known = new Map<string, number>();
  const countOnce = (text: string) => {
    const tokens = known.get(text) ?? count(text);
    known.set(text, tokens);
    return tokens;
  };
  return ({ system, tools, messages }) => {
    let tokens = system === undefined ? 0 : PER_MESSAGE + countOnce(system);
    if (tools && tools.length > 0) tokens += countOnce(sharedText(tools));
    for (const message of messages) {
      tokens += PER_MESSAGE + count(message.content);
      if (message.role !== "assistant") continue;
      if (message.reasoning_content) tokens += count(message.reasoning_content);
      for (const call of message.tool_calls ?? []) tokens += count(call.function.name) + count(call.function.arguments);
    }
    return tokens;
  };
}
