// Dialogues that are odd in every legal way a trainer might stumble over: reasoning in every step, parallel calls, huge
// numbers, tags inside texts, schemas with bounds. Three rollouts of each query, with scores 0, 0.5 and 1.

const TEXTS = [
  "plain",
  "",
  "\u0000",
  "\u2028\u2029\u0085 lines",
  "half \ud800 character",
  "👩‍👩‍👧 العربية 中文",
  '"quotes" \\ \\n {"a": 1}',
  "tags: </think> <think> <tool_call> in prose",
  "  spaces around  ",
  "x".repeat(20_000),
];

/** Arguments as the model wrote them: JSON text, whose digits must survive. */
const ARGUMENTS = [
  '{"count":9223372036854775807}',
  '{"count":-9223372036854775808,"note":null}',
  '{"count":123456789012345678901234567890}',
  '{"ratio":1.0}',
  '{"ratio":0.12345678901234568,"count":1}',
  '{"note":"2024-05-01T10:00:00Z"}',
  '{"deep":{"deeper":[1,"two",{"three":3.0}],"empty":{}}}',
  '{"note":"half \\ud83d\\ude00 \\"quoted\\" \\\\ end","flag":true}',
  "{}",
  `{"note":"${"y".repeat(10_000)}","list":[]}`,
];

/** Plain tools first; then schemas that are legal and rare, each in some of the records only. */
const PLAIN = [
  tool("alpha", {
    count: { type: "integer", minimum: -9223372036854775000, maximum: 9223372036854775000 },
    ratio: { type: "number", exclusiveMinimum: 0, multipleOf: 0.5, default: 1.5 },
    note: { type: "string", enum: ["a", "b"], default: "a" },
    flag: { type: "boolean", default: false },
  }),
  tool("beta", {
    deep: { type: "object", properties: { deeper: { type: "array", items: {} } }, default: { deeper: [] } },
    list: { type: "array", items: { type: "integer" }, default: [1, 2] },
    note: { type: "string", minLength: 1, maxLength: 40_000, default: "x" },
  }),
];
const TOOLS = [
  PLAIN,
  PLAIN.slice(0, 1),
  [...PLAIN, tool("gamma", { note: { type: ["string", "null"], default: null } })],
  [
    ...PLAIN,
    tool("delta", { note: { enum: ["a", 1, null] }, any: { anyOf: [{ type: "string" }, { type: "integer" }] } }),
  ],
  [...PLAIN, tool("empty", {})],
];

export function oddRecords() {
  return TEXTS.flatMap((text, n) => [0, 1, 2].map((rollout) => oddRecord(text, n, rollout)));
}

function oddRecord(text, n, rollout) {
  const given = (shift) => ARGUMENTS[(n + shift) % ARGUMENTS.length];
  const call = (id, shift) => ({
    id: `${id}${n}`,
    type: "function",
    function: { name: shift % 2 ? "beta" : "alpha", arguments: given(shift) },
  });
  const parallel = n % 2 === 0;
  // every other query begins with the same turn in all rollouts, so that its pairs have a history
  const first = n % 2 ? "Done." : ["I cannot.", "Half done.", "Done."][rollout];
  return {
    id: rollout ? `odd-${n}#${rollout}` : `odd-${n}`,
    query_id: `odd-${n}`,
    rollout,
    dataset: "Odd",
    domains: [],
    success: true,
    score: rollout / 2,
    tools: TOOLS[n % TOOLS.length],
    messages: [
      { role: "system", content: `Odd things happen. ${text}` },
      { role: "user", content: `Hello ${text}` },
      {
        role: "assistant",
        content: "",
        reasoning_content: `I look it up. ${n === 7 ? "" : text}`,
        tool_calls: parallel ? [call("a", 0), call("b", 2)] : [call("a", 0)],
      },
      { role: "tool", tool_call_id: `a${n}`, content: text },
      ...(parallel ? [{ role: "tool", tool_call_id: `b${n}`, content: `{"value":${n}.0}` }] : []),
      { role: "assistant", content: `${first} ${text}`, reasoning_content: "The result says so." },
      { role: "user", content: "And then?" },
      {
        role: "assistant",
        content: n % 4 ? "" : "One moment.",
        reasoning_content: "Two things to find out.",
        tool_calls: [call("c", 4), ...(n % 4 === 2 ? [call("d", 6)] : [])],
      },
      { role: "tool", tool_call_id: `c${n}`, content: `</think> says the tool. ${text}` },
      ...(n % 4 === 2 ? [{ role: "tool", tool_call_id: `d${n}`, content: "" }] : []),
      { role: "assistant", content: "", reasoning_content: "One more.", tool_calls: [call("e", 1)] },
      { role: "tool", tool_call_id: `e${n}`, content: "fine" },
      {
        role: "assistant",
        content: ["No.", "Partly.", "All is well."][rollout],
        ...(n % 3 && { reasoning_content: n % 3 === 1 ? "" : "I sum up." }),
      },
      ...(n % 2 ? [{ role: "user", content: "Thanks." }] : []),
    ],
    metadata: { stop_reason: "user_stop", models: { agent: "lab/agent" } },
  };
}

function tool(name, properties) {
  const parameters = { type: "object", properties, required: [], additionalProperties: false };
  return { type: "function", function: { name, description: `Does ${name}.`, strict: true, parameters } };
}
