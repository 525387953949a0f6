// The request that every way of calling sends: a system prompt, 12 messages, 20 tools, 31 KB as JSON.

const words = (count) =>
  Array.from({ length: count }, (_, n) => ["course", "section", "student", "term", "hold", "credit"][n % 6]).join(" ");

export const tools = Array.from({ length: 20 }, (_, n) => ({
  name: `search_records_${n}`,
  description: words(30),
  parameters: {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 4 }, (_, k) => [`field_${k}`, { type: "string", description: words(8) }]),
    ),
    required: ["field_0"],
  },
  readOnly: true,
}));

/** A question, five calls with their results, and an answer to be given. */
export const messages = [{ role: "user", content: words(40) }];
for (let n = 0; n < 5; n++) {
  const toolCalls = [
    { id: `call_${n}`, name: "search_records_0", arguments: JSON.stringify({ field_0: `value ${n}` }) },
  ];
  messages.push({ role: "assistant", content: "", toolCalls });
  const content = JSON.stringify({ found: words(100) });
  messages.push({ role: "tool", callId: `call_${n}`, name: "search_records_0", content, isError: false });
}
messages.push({ role: "user", content: words(40) });

export const wireTools = tools.map(({ name, description, parameters }) => ({
  type: "function",
  function: { name, description, parameters },
}));
const wireMessages = messages.map((message) => {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: message.content };
  if (message.role === "user") return message;
  const calls = message.toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  return { role: "assistant", content: "", tool_calls: calls };
});

const BYTES = 31 * 1024;
const withSystem = (system) => ({
  model: "bench",
  messages: [{ role: "system", content: system }, ...wireMessages],
  tools: wireTools,
});

export const system = "x".repeat(Math.max(0, BYTES - JSON.stringify(withSystem("")).length));
export const wireBody = withSystem(system);
export const kilobytes = JSON.stringify(wireBody).length / 1024;
/** Of this much, a rollout's requests have the wanted size on average, its own tools and messages included. */
export const rolloutSystem = "x".repeat(Math.round(BYTES - 11.5 * 1024));
