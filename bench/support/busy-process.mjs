// A model server in a process of its own that refuses with 429: everything for a while after its first request, or what
// exceeds a number at once. Tells its parent its URL, and on request how many it refused, and how many late.
import { createServer } from "node:http";

const { latency, burst, told, room, lateAfter } = JSON.parse(process.argv[2]);
const choices = [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }];
const reply = JSON.stringify({ choices, usage: { prompt_tokens: 10, completion_tokens: 2 } });
const refusal = JSON.stringify({ error: { message: "Too many requests", type: "rate_limit" } });

let [start, inFlight, peak, refused, late] = [undefined, 0, 0, 0, 0];

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume();
  request.on("end", () => {
    start ??= performance.now();
    const at = performance.now() - start;
    const inBurst = burst !== undefined && at >= burst.from && at < burst.to;
    if (inBurst || (room !== undefined && inFlight >= room)) {
      refused++;
      if (at > lateAfter) late++;
      const wait = told && inBurst ? { "retry-after-ms": String(Math.ceil(burst.to - at)) } : {};
      response.writeHead(429, { "content-type": "application/json", ...wait }).end(refusal);
      return;
    }
    peak = Math.max(peak, ++inFlight);
    setTimeout(() => {
      inFlight--;
      response.writeHead(200, { "content-type": "application/json" }).end(reply);
    }, latency);
  });
});
server.listen(0, "127.0.0.1", 4096, () => process.send({ url: `http://127.0.0.1:${server.address().port}/v1` }));
process.on("message", () => process.send({ refused, late, peak }));
process.on("disconnect", () => process.exit(0));
