// How full the agent's context is, by what its server has counted so far, and requests that still fit into it.
import {
  type ChatMessage,
  type ModelClient,
  type ModelReply,
  type ModelRequest,
  RESULTS_READ,
  SUMMARY_REQUEST,
  wellFormed,
} from "../core/index.ts";
import { estimateTokens, TokenScale } from "../models/index.ts";

export type ContextPolicy = {
  /** tokens that a request may have, the reply's share not counted */
  limit: number;
  /** at the limit: end there, ask once for the answer, or go on from a summary */
  onFull: "end" | "answer" | "summarise";
  /** who writes the summaries */
  summariser: ModelClient;
};

type SummaryFault = "content_filter" | "empty_summary" | "broken_summary" | "long_summary";

export class ContextRoom {
  readonly policy: ContextPolicy;
  readonly #scale = new TokenScale();

  constructor(policy: ContextPolicy) {
    this.policy = policy;
  }

  /** What the server counted for a request tells what it will count for the next. */
  learn(request: ModelRequest, { usage, finish }: ModelReply): void {
    if (finish !== "context-length") this.#scale.learn(estimateTokens(request), usage.inputTokens);
  }

  isFull(request: ModelRequest): boolean {
    return this.#tokensOf(request) > this.policy.limit;
  }

  /** Why a rollout ends here. */
  describe(request: ModelRequest): string {
    return `the next request would have about ${this.#tokensOf(request)} tokens, and ${this.policy.limit} fit`;
  }

  /** The summary that is asked for at the end of the request. */
  summarise(request: ModelRequest, isTight: boolean, signal: AbortSignal): Promise<ModelReply> {
    return this.policy.summariser.complete(this.fit(request, SUMMARY_REQUEST, isTight), signal);
  }

  /** Why a summary cannot be used; `next` is the agent's request if it were. */
  findFault({ content, finish }: ModelReply, next: ModelRequest): SummaryFault | undefined {
    if (finish === "content-filter") return "content_filter";
    if (content.trim() === "") return "empty_summary";
    if (finish !== "stop" && finish !== "other") return "broken_summary";
    return this.isFull(next) ? "long_summary" : undefined;
  }

  /** The request with this to say at its end, and its longest results cut until it fits; `isTight`: by half. */
  fit(request: ModelRequest, instruction: string, isTight: boolean): ModelRequest {
    const limit = this.policy.limit * (isTight ? 0.5 : 1);
    let fitting = { ...request, messages: withInstruction(request.messages, instruction) };
    const lengths = request.messages.map(({ role, content }) => (role === "tool" ? content.length : 0));
    let longest = Math.max(...lengths, 0);
    while (longest > SHORTEST_CUT && this.#tokensOf(fitting) > limit) {
      longest = Math.floor(longest * 0.8);
      const messages = request.messages.map((message) =>
        message.role === "tool" ? { ...message, content: cutMiddle(message.content, longest) } : message,
      );
      fitting = { ...request, messages: withInstruction(messages, instruction) };
    }
    return fitting;
  }

  #tokensOf(request: ModelRequest): number {
    return this.#scale.apply(estimateTokens(request));
  }
}

/** What we ask for goes last, where it is heeded and no cached prefix is lost. */
function withInstruction(messages: readonly ChatMessage[], instruction: string): ChatMessage[] {
  const last = messages.at(-1);
  if (last?.role === "user")
    return [...messages.slice(0, -1), { role: "user", content: `${last.content}\n\n${instruction}` }];
  const bridge: ChatMessage[] = last?.role === "tool" ? [{ role: "assistant", content: RESULTS_READ }] : [];
  return [...messages, ...bridge, { role: "user", content: instruction }];
}

/** A result of so few characters is not what fills a context. */
const SHORTEST_CUT = 400;

function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  const note = `\n[… ${text.length - 2 * half} characters left out …]\n`;
  return wellFormed(text.slice(0, half)) + note + wellFormed(text.slice(text.length - half));
}
