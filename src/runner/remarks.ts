// What a reply shows about its endpoint, for people to know once in a run.
import type { Entry } from "../core/index.ts";
import type { PreparedDataset } from "./prepare-dataset.ts";

export function remarksOn(entry: Entry, dataset: PreparedDataset): string[] {
  if (entry.type !== "reply") return [];
  const { rejected, served, by } = entry;
  const remarks: string[] = [];
  if (rejected === "text_call") remarks.push(adviseOnTextCalls(dataset));
  if (served?.insteadOf !== undefined)
    remarks.push(`the ${by}'s endpoint was asked for ${served.insteadOf} and answers as ${served.model}`);
  return remarks;
}

/** Most often the server has no parser for the model's way of calling tools. */
function adviseOnTextCalls({ agent, spec }: PreparedDataset): string {
  if (agent.toolFormat !== "native")
    return `${agent.id} does not keep to ${agent.toolFormat} (tool_format): see what it writes in metadata.faults of the records`;
  const remedy = spec.agent.settings.recoverTextCalls
    ? "and not all of them can be recovered; see what it writes in metadata.faults of the records"
    : "start the server with a tool-call parser (vLLM: --enable-auto-tool-choice --tool-call-parser NAME), or set recover_text_calls: true for the agent, or tool_format: hermes, which needs no parser";
  return `${agent.id} writes tool calls as text: ${remedy}`;
}
