// What must hold for every record, whatever the model wrote; and the sums of what it did.
import { readUserText, STOP_REASONS } from "../../src/dialogue/index.ts";
import { isTextCall } from "../../src/models/index.ts";

const TOOLS = [{ name: "find_book" }, { name: "renew_loan" }].map((tool) => ({ ...tool, parameters: {} }));

export function problemsOf(record) {
  const { id, messages, metadata, success } = record;
  const { stop_reason, tool_call_count, total_turns, usage, served } = metadata;
  const problems = [];
  const must = (holds, what) => holds || problems.push(`${id}: ${what}`);
  must(STOP_REASONS[stop_reason] === success, `ended as ${stop_reason}, success ${success}`);
  must(stop_reason !== "infrastructure", "an infrastructure failure is in the data");
  const spoken = messages.filter(({ role, content }) => role !== "tool" && content !== "");
  for (const { role, content } of spoken) must(!isTextCall(content, TOOLS), `the ${role} says a call: ${content}`);
  const calls = messages.flatMap(({ tool_calls }) => tool_calls ?? []);
  const answers = messages.filter(({ role }) => role === "tool");
  const isCut = stop_reason === "truncated_reply";
  must(isCut || calls.length === answers.length, `${calls.length} calls, ${answers.length} answers`);
  must(tool_call_count >= calls.length, `${tool_call_count} calls counted, ${calls.length} in the messages`);
  must(new Set(calls.map((call) => call.id)).size === calls.length, "two calls have one id");
  const turns = messages.filter(({ role, content }) => role === "user" && !readUserText(content).end).length;
  must(turns === total_turns, `${total_turns} turns counted, ${turns} in the messages`);
  const replies = messages.filter(({ role }) => role === "assistant").length;
  must(usage.agent?.calls >= replies, `${usage.agent?.calls} model calls for ${replies} replies`);
  must(usage.agent?.input_tokens > 0 && usage.agent.output_tokens > 0, "the server's token counts were not read");
  must(served?.agent?.ids?.length > 0, "what the server said it was is not recorded");
  return problems;
}

export function sumUp(records) {
  const sum = (pick) => records.reduce((total, record) => total + pick(record), 0);
  const stops = new Map();
  for (const { metadata } of records) stops.set(metadata.stop_reason, (stops.get(metadata.stop_reason) ?? 0) + 1);
  const faults = (kind) => sum(({ metadata }) => metadata.faults.filter((fault) => fault.type === kind).length);
  return {
    records: records.length,
    "model calls": sum(({ metadata }) => metadata.usage.agent.calls),
    "tool calls": sum(({ metadata }) => metadata.tool_call_count),
    recovered: faults("recovered"),
    "text calls": faults("text_call"),
    malformed: faults("malformed_reply"),
    tokens: sum(({ metadata: { usage } }) => usage.agent.input_tokens + usage.agent.output_tokens),
    stops: [...stops].map((pair) => pair.join(" ")).join(", "),
  };
}
