// A model server in a process of its own, so that its work is not counted as the caller's: a fixed wait, then a tool call
// until a dialogue holds five results (or as many as the second argument says, with a text of 600 characters beside each
// call), then a text. With a third argument, a number of dialogues, waits differ from half to one and a half times the
// latency, as a model's do. With a fourth, the turns of a dialogue, the calls are those of each turn, the text is beside them
// as reasoning, and who is offered no tools is the user. Tells its parent its URL, and on request how large what it got was, how many it held at once at
// most, when the first dialogue had come and when all of them, and its own CPU time.
import { createServer } from "node:http";

const latency = Number(process.argv[2]);
const RESULT = Buffer.from('"role":"tool"');
const USER = Buffer.from('"role":"user"');
const TOOLS = Buffer.from('"tools":[');
const STEPS = Number(process.argv[3] ?? 5);
const TURNS = Number(process.argv[5] ?? 1);
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
const request = completion({ content: "And what about the sections after that?" }, "stop");
const beside = TURNS > 1 ? { content: "", reasoning_content: BESIDE } : { content: BESIDE };
const calls = Array.from({ length: STEPS * TURNS }, (_, step) => {
  const made = { name: "search_courses", arguments: JSON.stringify({ term: "2026FA", keyword: `topic ${step}` }) };
  return completion(
    { ...beside, tool_calls: [{ id: `call_${step}`, type: "function", function: made }] },
    "tool_calls",
  );
});

const MANY = Number(process.argv[4] || Number.POSITIVE_INFINITY);
const GOLDEN = (Math.sqrt(5) - 1) / 2;
const seen = { requests: 0, bytes: 0, dialogues: 0, inFlight: 0, most: 0, waited: 0, firstAt: 0, allAt: 0 };

/** Evenly spread, and the same in every run. */
function nextWait() {
  return MANY === Number.POSITIVE_INFINITY ? latency : latency * (0.5 + ((seen.requests * GOLDEN) % 1));
}

function countIn(body, text, most) {
  let found = 0;
  for (let at = body.indexOf(text); at !== -1 && found < most; at = body.indexOf(text, at + 1)) found++;
  return found;
}

function answerTo(body, results) {
  if (TURNS > 1 && !body.includes(TOOLS)) return request;
  const wanted = TURNS > 1 ? STEPS * countIn(body, USER, TURNS) : STEPS;
  return results < wanted ? calls[results] : text;
}

/** How long this one is to wait. Times are on the clock that all processes of a machine share. */
function count(body, results) {
  const wait = nextWait();
  seen.requests++;
  seen.bytes += body.length;
  seen.waited += wait;
  seen.most = Math.max(seen.most, ++seen.inFlight);
  if (results === 0) seen.dialogues++;
  if (seen.requests === 1) seen.firstAt = Date.now();
  if (seen.dialogues === MANY && seen.allAt === 0) seen.allAt = Date.now();
  return wait;
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const results = countIn(body, RESULT, STEPS * TURNS);
    const answer = answerTo(body, results);
    setTimeout(
      () => {
        seen.inFlight--;
        response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) });
        response.end(answer);
      },
      count(body, results),
    );
  });
});
// the system's own limit (net.core.somaxconn) applies as well
server.listen(0, "127.0.0.1", 16_384, () => process.send({ url: `http://127.0.0.1:${server.address().port}/v1` }));
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  const { requests, bytes, most, waited, firstAt, allAt } = seen;
  const serverCpuMs = (user + system) / 1000 / requests;
  process.send({ kilobytes: bytes / requests / 1024, most, waited, firstAt, allAt, serverCpuMs });
});
process.on("disconnect", () => process.exit(0));
