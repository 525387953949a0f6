// Fields of one's own in every row: where it comes from, and whether it thinks.
//   rollout export outputs/run --format openai --out data --transform examples/transforms/add-fields.ts
import type { Transform } from "agent-rollout";

const addFields: Transform = (record) => {
  record.extra.data_source = record.dataset;
  record.extra.agent_model = record.metadata.models?.agent ?? "unknown";
  record.extra.use_cot = record.messages.some((message) => message.role === "assistant" && message.reasoning_content);
  return record;
};

export default addFields;
