// What a text format costs the caller beside native calls: writing a request's body and reading its reply, without the
// network, with the same history of calls and results.

import { readReply } from "../../dist/models/openai/reply.js";
import { createBodyWriter } from "../../dist/models/openai/request.js";
import { TEXT_FORMATS } from "../../dist/models/tool-format/formats.js";
import { withToolFormat } from "../../dist/models/tool-format/with-tool-format.js";
import { best, report, round } from "../support/measure.mjs";
import { tools } from "../support/model-request.mjs";

const model = {
  ...{
    id: "bench/m",
    provider: "bench",
    model: "m",
    dialect: "openai",
    baseUrls: [],
    limits: {},
    headers: {},
    body: {},
  },
  reasoning: { style: "none", sendBack: false, field: "reasoning_content" },
};
const origin = { dataset: "d", queryId: "q", rollout: 0, seed: 1, mode: "positive", party: "agent", position: 7 };
const toolCalls = [{ id: "call_1", name: "search_records_0", arguments: JSON.stringify({ field_0: "a value" }) }];
const spoken = { content: "I look it up.", reasoning: "There is more to find.", toolCalls };

/** A research rollout after so many steps; each list is new, as the loop makes it. */
function requestAfter(steps) {
  const messages = [{ role: "user", content: "A question. ".repeat(20) }];
  for (let n = 0; n < steps; n++) {
    messages.push({ role: "assistant", ...spoken });
    messages.push({
      role: "tool",
      callId: "call_1",
      name: "search_records_0",
      content: "A paragraph. ".repeat(150),
      isError: false,
    });
  }
  return { system: "You answer questions. ".repeat(100), messages, tools, toolChoice: "auto", origin };
}

/** What our client does around the socket. */
function clientThatSays(message) {
  const write = createBodyWriter(model, {});
  const text = JSON.stringify({ choices: [{ message }], usage: { prompt_tokens: 1, completion_tokens: 1 } });
  let bytes = 0;
  return {
    id: "bench/m",
    get bytes() {
      return bytes;
    },
    async complete(request) {
      bytes = write(request).bytes.length;
      const { choices, usage } = JSON.parse(text);
      return readReply({ message: choices[0].message, finishReason: "stop" }, usage, undefined);
    },
  };
}

const native = { content: spoken.content, reasoning_content: spoken.reasoning };
native.tool_calls = toolCalls.map(({ id, name, arguments: given }) => ({
  id,
  type: "function",
  function: { name, arguments: given },
}));
const WAYS = {
  native: clientThatSays(native),
  ...Object.fromEntries(
    Object.entries(TEXT_FORMATS).map(([name, format]) => [
      name,
      clientThatSays({ content: format.write(spoken, tools) }),
    ]),
  ),
};

const tables = [];
for (const [steps, calls] of [
  [5, 4000],
  [100, 400],
]) {
  const rows = [];
  let floor;
  for (const [name, inner] of Object.entries(WAYS)) {
    const client = withToolFormat(inner, name);
    const reply = await client.complete(requestAfter(steps));
    if (reply.toolCalls.length !== 1 || reply.toolCalls[0].arguments !== toolCalls[0].arguments)
      throw new Error(`${name} lost the call`);
    const { cpuMs } = await best(5, async () => {
      for (let n = 0; n < calls; n++) await client.complete(requestAfter(steps));
    });
    const micros = (cpuMs * 1000) / calls;
    floor ??= micros;
    rows.push({
      format: name,
      "KB/request": round(inner.bytes / 1024, 0),
      "CPU µs/call": round(micros, 1),
      "x native": round(micros / floor),
    });
  }
  tables.push({ title: `A call after ${steps} steps: writing the request and reading the reply`, rows });
}
report(tables);
