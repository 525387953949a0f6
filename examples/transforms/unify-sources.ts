// Rows of two shapes in one file: our own records, and question-answer rows of another source, which become dialogues.
//   rollout export outputs/run other.jsonl --format trl --out data --transform examples/transforms/unify-sources.ts
import type { Transform } from "agent-rollout";

const unifySources: Transform = (record, source) => {
  const { question, answer } = source.raw as { question?: unknown; answer?: unknown };
  if (record.messages.length > 0 || typeof question !== "string" || typeof answer !== "string") return record;
  return {
    ...record,
    success: true,
    tools: [],
    messages: [
      { role: "user", content: question },
      { role: "assistant", content: answer },
    ],
  };
};

export default unifySources;
