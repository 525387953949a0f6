// A judge: any model, asked for structured answers, several times if wanted. Answers are kept in the run folder by the
// content of the question, so that asking again costs nothing; a judge that fails is asked again next time.
import {
  contentHash,
  isObject,
  type ModelClient,
  messageOf,
  parseJson,
  type RequestOrigin,
  RolloutError,
} from "../../core/index.ts";
import type { VoteStore } from "./vote-store.ts";

export type Question<T> = {
  system: string;
  text: string;
  /** the answer, or undefined if it is not a valid one */
  read(answer: Record<string, unknown>): T | undefined;
  origin: Omit<RequestOrigin, "party" | "position">;
};

type Vote<T> = { answer: T } | { error: string };

export type Judge = {
  id: string;
  votes: number;
  ask<T>(question: Question<T>, signal: AbortSignal): Promise<Vote<T>[]>;
};

export function createJudge(client: ModelClient, votes: number, store: VoteStore): Judge {
  return {
    id: client.id,
    votes,
    ask: (question, signal) =>
      Promise.all(Array.from({ length: votes }, (_, vote) => askOnce(client, store, question, vote, signal))),
  };
}

const AGAIN = "That was not the JSON object that was asked for. Answer with that JSON object and nothing else.";

async function askOnce<T>(
  client: ModelClient,
  store: VoteStore,
  { system, text, read, origin }: Question<T>,
  vote: number,
  signal: AbortSignal,
): Promise<Vote<T>> {
  const key = contentHash({ model: client.id, system, text, vote });
  const kept = store.get(key);
  const known = kept === undefined ? undefined : readAnswer(kept, read);
  if (known !== undefined) return { answer: known };
  const messages = [{ role: "user" as const, content: text }];
  let content = "";
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const reply = await client.complete(
        {
          system,
          messages:
            attempt === 0 ? messages : [...messages, { role: "assistant", content }, { role: "user", content: AGAIN }],
          tools: [],
          toolChoice: "none",
          origin: { ...origin, party: "judge", position: vote * 2 + attempt },
        },
        signal,
      );
      content = reply.content;
    } catch (error) {
      if (!(error instanceof RolloutError)) throw error;
      return { error: messageOf(error) };
    }
    const answer = readAnswer(content, read);
    if (answer !== undefined) {
      await store.put({ key, model: client.id, vote, content });
      return { answer };
    }
  }
  return { error: `unreadable answer: ${content.slice(0, 200)}` };
}

/** The whole reply must be one JSON object; a code fence around it is stripped. */
function readAnswer<T>(content: string, read: Question<T>["read"]): T | undefined {
  const body = /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/.exec(content)?.[1] ?? content;
  const value = parseJson(body);
  return isObject(value) ? read(value) : undefined;
}
