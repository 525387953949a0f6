// Numbers and characters from file to wire to record to export: a dataset folder with a Python server, an agent behind a
// socket, MCP over real streams, and files of other systems.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeExact } from "../src/core/index.ts";
import { exportDataset } from "../src/export/index.ts";
import { McpHub } from "../src/tools/index.ts";
import { completion, type ModelAnswer, serveModel } from "./support/model-server.ts";
import { networkRun, play } from "./support/network-run.ts";
import { temporaryFolder } from "./support/play.ts";

const LIMITS = '"minimum":-9223372036854775808,"maximum":12345678901234567890,"multipleOf":1.0,"default":1e400';
const LIST = `[{"type":"function","function":{"name":"pay","description":"Pays.","parameters":{"type":"object","properties":{"amount":{"type":"number",${LIMITS}}}},"strict":false,"x-order":-0}}]`;
const ARGUMENTS = '{"amount":-9223372036854775808,"share":1.0,"id":12345678901234567890}';

const SERVER = `
class TillServer:
    def __init__(self, domain_name): pass
    def _get_session(self, session_id): return type("S", (), {"databases": {}})()
    def invoke(self, session_id, tool_name, **kw):
        return {"paid": kw, "at": 1.50, "half": "a\\ud800"}
`;

function writeFiles(folder: string, files: { [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

async function playTill(folder: string, ...answers: ModelAnswer[]) {
  writeFiles(folder, {
    "till/tool_lists/Till.json": LIST,
    "till/mcp_servers/Till.py": SERVER,
    "till/queries/Till.jsonl": '{"id":"q1","messages":[{"role":"user","content":"Pay \\ud83d please"}]}\n',
  });
  const server = await serveModel(...answers);
  onTestFinished(() => server.close());
  const run = networkRun(server.baseUrl, {
    config: { datasets: { Till: { base_path: join(folder, "till") } }, bundled: false, max_turns: 1 },
    folder: join(folder, "run"),
  });
  const { records } = await play(run, { env: { PATH: process.env.PATH } });
  return { server, record: records[0], folder: join(folder, "run") };
}

/** As Python writes the same JSON. */
const spaced = (json: string) => json.replaceAll(":", ": ").replaceAll(",", ", ");

/** JSON.stringify cannot write these numbers: the answer is given as text. */
const asText =
  (text: string): ModelAnswer =>
  (response) =>
    response.setHeader("content-type", "application/json").end(text);

test("a tool list's numbers and members reach the model, the run folder and the dataset as they were written", async () => {
  const folder = temporaryFolder();
  const called = `{"id":"c1","type":"function","function":{"name":"pay","arguments":${ARGUMENTS}}}`;
  const {
    server,
    record,
    folder: run,
  } = await playTill(
    folder,
    asText(`{"choices":[{"message":{"tool_calls":[${called}]}}],"usage":{"prompt_tokens":1.0}}`),
    completion({ content: "Paid \ud83d." }),
  );
  expect(server.received[0]?.text).toContain(`"tools":${LIST}`);
  expect(readFileSync(join(run, "prompts.jsonl"), "utf8")).toContain(`"content":${LIST}`);
  expect(record?.messages.slice(1)).toMatchObject([
    { tool_calls: [{ function: { arguments: ARGUMENTS } }] },
    { content: `{"paid": ${spaced(ARGUMENTS)}, "at": 1.5, "half": "a\ufffd"}` },
    { content: "Paid \ufffd." },
  ]);
  const out = join(folder, "rows.jsonl");
  for (const format of ["openai", "jsonl", "axolotl", "deepseek"]) {
    await exportDataset({ inputs: [run], format, out });
    const text = readFileSync(out, "utf8");
    expect(text).toContain(`"tools":${format === "axolotl" ? JSON.stringify(LIST) : LIST}`);
    expect(text).toContain(JSON.stringify(ARGUMENTS));
  }
  const { counts } = await exportDataset({ inputs: [run], format: "trl", out });
  expect(Object.keys(counts.left_out)).toEqual([expect.stringContaining("beyond 64 bits")]);
});

test("halves of characters are repaired once, for record, wire and tools alike, and counted", async () => {
  const call = {
    id: "c\ud83d",
    type: "function",
    function: { name: "pay", arguments: '{"note":"\\ud83d, \\ud83d\\ude00"}' },
  };
  const { server, record } = await playTill(
    temporaryFolder(),
    completion({ content: "So \udc00.", reasoning_content: "Hm \ud800", tool_calls: [call] }),
    completion({ content: "Paid." }),
  );
  const args = '{"note":"\ufffd, \\ud83d\\ude00"}';
  expect(record?.messages).toMatchObject([
    { content: "Pay \ufffd please" },
    {
      content: "So \ufffd.",
      reasoning_content: "Hm \ufffd",
      tool_calls: [{ id: "c\ufffd", function: { arguments: args } }],
    },
    { tool_call_id: "c\ufffd", content: expect.stringContaining('"note": "\ufffd, 😀"') },
    { content: "Paid." },
  ]);
  const messages = server.received[1]?.body.messages as { tool_calls?: { function: object }[] }[];
  expect(messages.at(-2)?.tool_calls?.[0]?.function).toMatchObject({ arguments: args });
  expect(record?.metadata).toMatchObject({
    tool_errors: [],
    faults: [{ type: "repaired_text", texts: "query 1, agent 4" }],
  });
});

/** Answers a call with its own arguments, as it got them. */
const MCP_SERVER = `
process.stdin.setEncoding("utf8");
let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    const answer = (result) => process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + result + "}\\n");
    if (method === "initialize") answer('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"till","version":"1"}}');
    if (method === "tools/list") answer('{"tools":[{"name":"pay","inputSchema":{"type":"object","properties":{"amount":{"type":"number",LIMITS}}}}]}');
    if (method === "tools/call") answer('{"content":[],"structuredContent":{"got":' + /"arguments":(\\{[^{}]*\\})/.exec(line)[1] + ',"at":1.0}}');
  }
});
`;

test("numbers pass an MCP server on standard streams both ways", async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { "server.mjs": MCP_SERVER.replace("LIMITS", LIMITS) });
  const server = { command: process.execPath, args: [join(folder, "server.mjs")] };
  const hub = new McpHub({ servers: { Till: server }, variables: {}, baseFolder: folder });
  onTestFinished(() => hub.close());
  const environment = await hub.open();
  const call = { id: "c1", name: "pay", arguments: ARGUMENTS };
  expect(await environment.call(call, new AbortController().signal)).toMatchObject({
    content: `{"got":${ARGUMENTS},"at":1.0}`,
    isError: false,
  });
  await environment.close();
  expect(writeExact(environment.tools)).toContain(`"amount":{"type":"number",${LIMITS}}`);
});
