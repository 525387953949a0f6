// A collector in a process of its own, so that its work is not counted as the sender's. Tells its parent its URL, and on
// request how many spans it got.
import { createServer } from "node:http";

const SPAN = Buffer.from('"spanId":');
let spans = 0;

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    for (let at = body.indexOf(SPAN); at !== -1; at = body.indexOf(SPAN, at + 1)) spans++;
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
});
server.listen(0, "127.0.0.1", () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
process.on("message", () => process.send({ spans }));
process.on("disconnect", () => process.exit(0));
