// A question as the dataset has it: its text, its answer and its reference plan, which searches and visits one document
// after another. What the agent says refers to the last visit, so a failed visit means that there is no answer.

/** What to search for, and the document that must then be visited, on its first page unless another is named. */
export type Hop = [query: string, document: string, page?: number];

export type Question = {
  id: string;
  question: string;
  /** A list here means that all of it is wanted; of `answers` any one is right. */
  answer?: string | number | string[];
  answers?: string[];
  hops: Hop[];
};

const IF_UNKNOWN = "If the documents do not tell, answer “unknown”.";

export function toLine({ id, question, answer, answers, hops }: Question): object {
  const steps = hops.flatMap(([query, document, page]) => [
    { calls: [{ name: "search", arguments: { query } }] },
    { calls: [{ name: "visit", arguments: { document, page } }] },
  ]);
  const written = answers ? answers[0] : Array.isArray(answer) ? answer.join(", ") : answer;
  const say = `I read ${hops.length} documents, the last one was “{{visit.title}}”.\n\n<answer>${written}</answer>`;
  return { id, question: `${question} ${IF_UNKNOWN}`, answer, answers, task_info: { plan: [{ steps, say }] } };
}
