// Several runs in one dataset: ids that stay unique, one name for all, and texts without what was personal.
//   rollout export run-a run-b --format trl --out data --transform examples/transforms/merge.ts
import type { Transform } from "agent-rollout";

const EMAIL = /[\w.+-]+@[\w-]+\.[\w.]+/g;

const merge: Transform = (record, source) => {
  const run = source.file.split(/[\\/]/).at(-3) ?? "run";
  return {
    ...record,
    id: `${run}/${record.id}`,
    dataset: "merged",
    messages: record.messages.map((message) => ({ ...message, content: message.content.replace(EMAIL, "<email>") })),
  };
};

export default merge;
