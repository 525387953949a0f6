// Tokens of whole texts, counted offline as OpenAI's recent models count them: other tokenizers differ by a tenth or two,
// which is near enough for estimates. The tables are loaded at the first count.

export async function countTokens(...texts: string[]): Promise<number> {
  const { countTokens: count } = await import("gpt-tokenizer");
  return texts.reduce((sum, text) => sum + count(text, { allowedSpecial: "all" }), 0);
}
