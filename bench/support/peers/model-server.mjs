// The model of the comparison, in a process of its own: OpenAI's chat completions, whole replies, each so many milliseconds
// after its request. It keeps nothing between requests: the tool results in a request tell which reply is next, and a request
// that offers no tools comes from a simulated user, who asks and then stops. Tells its parent its URL, and on request
// what it has seen since it was last asked; a number is how long it takes from then on.
import { createServer } from "node:http";
import { CALLS, callOf, scenario } from "./scenario.mjs";

let latency = Number(process.argv[2]);
const ROLE_TOOL = /"role":\s?"tool"/g;
const ROLE_ASSISTANT = /"role":\s?"assistant"/;
const TOOLS = /"tools":\s?\[/;

const steps = Array.from({ length: CALLS - 1 }, (_, step) => {
  const calls = [{ id: `call_${step}`, type: "function", function: callOf(step) }];
  return completion({ content: null, tool_calls: calls }, "tool_calls");
});
const last = completion({ content: scenario.answer }, "stop");
const asks = completion({ content: scenario.question }, "stop");
const stops = completion({ content: "###STOP###" }, "stop");

function completion(message, finish_reason) {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, logprobs: null, finish_reason }];
  const usage = { prompt_tokens: 4800, completion_tokens: 40, total_tokens: 4840 };
  const rest = { object: "chat.completion", created: 1_790_000_000, model: "bench", choices, usage };
  return JSON.stringify(rest).slice(1);
}

let replies = 0;
let seen = nothing();

function nothing() {
  return { calls: 0, answers: 0, sizes: [] };
}

function replyTo(body) {
  seen.calls++;
  seen.sizes.push(body.length);
  const said = body.latin1Slice();
  if (!TOOLS.test(said)) return ROLE_ASSISTANT.test(said) ? stops : asks;
  const results = said.match(ROLE_TOOL)?.length ?? 0;
  if (results < steps.length) return steps[results];
  seen.answers++;
  return last;
}

const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const reply = Buffer.from(`{"id":"chatcmpl-${replies++}",${replyTo(Buffer.concat(chunks))}`); // ids are told apart
    setTimeout(() => {
      response.writeHead(200, { "content-type": "application/json", "content-length": reply.length });
      response.end(reply);
    }, latency);
  });
});
server.listen(0, "127.0.0.1", 4096, () => process.send({ url: `http://127.0.0.1:${server.address().port}/v1` }));
process.on("message", (message) => {
  if (typeof message === "number") {
    latency = message;
    return;
  }
  const { calls, answers, sizes } = seen;
  const medianKb = (sizes.sort((a, b) => a - b)[sizes.length >> 1] ?? 0) / 1024;
  seen = nothing();
  process.send({ calls, answers, medianKb });
});
process.on("disconnect", () => process.exit(0));
