// How many tokens a trainer learns from the rows, by kind. Counting takes longer than writing, so beyond some megabytes the
// rest is estimated from its characters.
import type { AgentMessage } from "./training-dialogue.ts";

const COUNTED_CHARACTERS = 4 << 20;

export type TrainedReport = {
  /** reasoning, text, calls */
  tokens: { [kind: string]: number };
  tokenizer: string;
  /** false if part of it is estimated */
  exact: boolean;
};

export class TrainedTokens {
  readonly #count: (text: string) => number;
  readonly #tokenizer: string;
  readonly #kinds = new Map<string, { characters: number; counted: number; tokens: number }>();
  #counted = 0;

  constructor(tokenizer: string, count: (text: string) => number) {
    this.#tokenizer = tokenizer;
    this.#count = count;
  }

  see(learnt: readonly AgentMessage[]): void {
    for (const { reasoning, content, calls } of learnt) {
      if (reasoning) this.#add("reasoning", reasoning);
      if (content !== "") this.#add("text", content);
      for (const call of calls) this.#add("calls", `${call.name}${call.arguments}`);
    }
  }

  report(): TrainedReport {
    const kinds = [...this.#kinds].map(([kind, { characters, counted, tokens }]) => [
      kind,
      counted === 0 ? Math.round(characters / 4) : Math.round((tokens * characters) / counted),
    ]);
    const exact = [...this.#kinds.values()].every(({ characters, counted }) => characters === counted);
    return { tokens: Object.fromEntries(kinds), tokenizer: this.#tokenizer, exact };
  }

  #add(kind: string, text: string): void {
    const sum = this.#kinds.get(kind) ?? { characters: 0, counted: 0, tokens: 0 };
    this.#kinds.set(kind, sum);
    sum.characters += text.length;
    if (this.#counted > COUNTED_CHARACTERS) return;
    this.#counted += text.length;
    sum.counted += text.length;
    sum.tokens += this.#count(text);
  }
}
