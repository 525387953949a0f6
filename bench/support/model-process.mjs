// A model server in a process of its own, so that its work is not counted as the caller's: a fixed wait, then a tool call
// until a dialogue holds five results (or as many as the second argument says, with a text of 600 characters beside each
// call), then a text. With a third argument, a number of requests, waits differ from half to one and a half times the
// latency, as a model's do, and its parent is told when that many are in flight. Tells its parent its URL, and on request
// how large what it got was, how many it held at once at most, and its own CPU time.
import { createServer } from "node:http";

const latency = Number(process.argv[2]);
const RESULT = Buffer.from('"role":"tool"');
const STEPS = Number(process.argv[3] ?? 5);
const BESIDE = process.argv[3] === undefined ? "" : "I look for the next topic. ".repeat(22);

function completion(message, finish_reason) {
  const usage = { prompt_tokens: 7800, completion_tokens: 40, total_tokens: 7840 };
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason }];
  return JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    created: 1,
    model: "bench",
    choices,
    usage,
  });
}

const text = completion({ content: "Here is what I found about the sections that you asked for." }, "stop");
const calls = Array.from({ length: STEPS }, (_, step) => {
  const made = { name: "search_courses", arguments: JSON.stringify({ term: "2026FA", keyword: `topic ${step}` }) };
  return completion(
    { content: BESIDE, tool_calls: [{ id: `call_${step}`, type: "function", function: made }] },
    "tool_calls",
  );
});

const MANY = Number(process.argv[4] ?? Number.POSITIVE_INFINITY);
const GOLDEN = (Math.sqrt(5) - 1) / 2;
let [requests, bytes, inFlight, most, waited, firstAt, fullAt] = [0, 0, 0, 0, 0, 0, 0];

/** Evenly spread, and the same in every run. */
const waitOf = (request) => (MANY === Number.POSITIVE_INFINITY ? latency : latency * (0.5 + ((request * GOLDEN) % 1)));

/** On the clock that all processes of a machine share. */
function count() {
  requests++;
  if (requests === 1) firstAt = Date.now();
  most = Math.max(most, ++inFlight);
  if (inFlight !== MANY || fullAt > 0) return;
  fullAt = Date.now();
  process.send({ full: true });
}

function answerTo(body) {
  let results = 0;
  for (let at = body.indexOf(RESULT); at !== -1 && results < STEPS; at = body.indexOf(RESULT, at + 1)) results++;
  return calls[results] ?? text;
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    count();
    bytes += body.length;
    const answer = answerTo(body);
    const wait = waitOf(requests);
    waited += wait;
    setTimeout(() => {
      inFlight--;
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) });
      response.end(answer);
    }, wait);
  });
});
// the system's own limit (net.core.somaxconn) applies as well
server.listen(0, "127.0.0.1", 16_384, () => process.send({ url: `http://127.0.0.1:${server.address().port}/v1` }));
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  const cpu = (user + system) / 1000 / requests;
  process.send({ kilobytes: bytes / requests / 1024, requests, most, waited, firstAt, fullAt, serverCpuMs: cpu });
});
process.on("disconnect", () => process.exit(0));
