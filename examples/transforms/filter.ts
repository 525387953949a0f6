// Only dialogues in which the agent called a tool, and in which no result was longer than a page.
//   rollout export outputs/run --format openai --out data --transform examples/transforms/filter.ts
import type { Transform } from "agent-rollout";

const PAGE = 4000;

const filter: Transform = (record) => {
  const calls = record.messages.some((message) => message.role === "assistant" && message.tool_calls);
  const pages = record.messages.some((message) => message.role === "tool" && message.content.length > PAGE);
  return calls && !pages ? record : null;
};

export default filter;
