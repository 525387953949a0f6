// The floor: a loop over undici that does what the dialogue needs and nothing else. No checks, no retries, no records.
import { Pool } from "undici";
import { resultOf } from "../scenario.mjs";

export function open({ url, scenario, many }) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 });
  const post = {
    path: `${pathname}/chat/completions`,
    method: "POST",
    headers: { "content-type": "application/json" },
  };
  const tools = scenario.tools.map((spec) => ({ type: "function", function: spec }));

  async function play() {
    const messages = [
      { role: "system", content: scenario.system },
      { role: "user", content: scenario.question },
    ];
    for (;;) {
      const { body } = await pool.request({ ...post, body: JSON.stringify({ model: "bench", messages, tools }) });
      const { message } = JSON.parse(await body.text()).choices[0];
      messages.push(message);
      if (!message.tool_calls) return;
      for (const call of message.tool_calls) {
        const { record_id } = JSON.parse(call.function.arguments);
        messages.push({ role: "tool", tool_call_id: call.id, content: resultOf(record_id) });
      }
    }
  }
  return (dialogues, at) => many(dialogues, at, play);
}
