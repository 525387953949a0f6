// Secrets in every place that can hold one, servers that repeat them in every way they can, and every place where the
// program leaves text searched for them.
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Finished, type WorkFolder, workFolder } from "./support/cli.ts";
import { type Echo, spellings, startEchoServer } from "./support/echo-server.ts";

/** By the place that they are in. All are made up. */
const SECRETS = {
  literal_key: "sk-lit/eral+key=41&a-0123",
  variable_key: "sk-vari/able+key=42&b-0123",
  header: 'head/er-"quoted"-43-0123',
  plain_header: "plain-header-value-44-0123",
  password: "pass-word-in-url-45",
  query: "query=param/eter+46",
  literal_param: "AKIAIOSFODNN7EXAMPLE",
  variable_param: "extra_param-Value-47-0123",
  nested_param: "nested<param>48\\0123",
  registry_param: "registry-param-49-abcdef",
};

const ENV = {
  PLANTED_KEY: SECRETS.variable_key,
  PLANTED_HEADER: SECRETS.plain_header,
  PLANTED_PARAM: SECRETS.variable_param,
  PLANTED_NESTED: SECRETS.nested_param,
  PLANTED_QUERY: encodeURIComponent(SECRETS.query),
  PLANTED_REGISTRY: SECRETS.registry_param,
};

test("the search finds a secret in each of its spellings, and nothing where none is", () => {
  for (const spelling of spellings(SECRETS.literal_key))
    expect([spelling, secretsIn(`some ${spelling} text`)]).toEqual([spelling, ["literal_key"]]);
  expect(secretsIn("some [redacted] text, and c2tzb21ldGhpbmdlbHNlCg==")).toEqual([]);
});

function config(url: string): string {
  const base = `${url.replace("://", `://me:${SECRETS.password}@`)}?tenant=\${PLANTED_QUERY}`;
  const entry = (key: string) => `
    provider: openai
    api_base: '${base}'
    api_key: '${key}'
    headers: {X-Auth: '${SECRETS.header}', X-Team: '\${PLANTED_HEADER}'}
    extra_params: {trace: '\${PLANTED_REGISTRY}'}`;
  const extra = `extra_params: {user: '\${PLANTED_PARAM}', aws: '${SECRETS.literal_param}', more: {deep: ['\${PLANTED_NESTED}']}}`;
  return `output_dir: run
log_file: run/log/rollout.log
log_level: DEBUG
bundled: true
limit: 3
max_workers: 1
max_turns: 2
models:
  first: ${entry(SECRETS.literal_key)}
  second: ${entry(`\${PLANTED_KEY}`)}
datasets:
  StudentFinancialServices:
    agent: {model: openai/first, max_retries: 1, ${extra}}
    user: {model: openai/second, max_retries: 1}
`;
}

const KINDS: Echo[] = ["content", "error", "content", "straddle", "content", "content", "torn", "content", "content"];

test("no secret reaches a file, the terminal or a page, in whatever way a server repeats it", async () => {
  const late: Echo[] = ["error", "straddle", "torn", "filtered", "overflow"];
  const server = await startEchoServer(Object.values(SECRETS), (call) =>
    call < 14 ? (KINDS[call % KINDS.length] as Echo) : (late[call % late.length] as Echo),
  );
  const work = workFolder();
  work.write("given/run.yml", config(server.url));
  work.write("given/models.yml", `models:\n${/models:\n([\s\S]*?)datasets/.exec(config(server.url))?.[1]}`);
  const run = ["run", "--config", "given/run.yml"];
  const start = async (...args: string[]) => clean(await work.run(args, { env: ENV }), args);

  await start(...run, "--dry-run");
  const first = await start(...run, "--record", "tapes", "--verbose");
  expect([0, 3], first.stderr).toContain(first.code);
  const sent = Object.values(SECRETS).filter((secret) => secret !== SECRETS.password); // a key goes before a login
  expect([...server.seen].sort()).toEqual(sent.sort());
  const output = "trajectories/StudentFinancialServices.jsonl";
  const replayed = await start(...run, "--replay", "tapes", "--output-dir", "again", "--quiet");
  expect(replayed.code, replayed.stderr).toBe(first.code);
  expect(work.canonical(`again/${output}`)).toEqual(work.canonical(`run/${output}`));
  const second = await start(...run, "--limit", "6", "--json");
  expect(second.code, second.stderr).toBe(3);
  for (const kind of ["content", "error", "straddle", "torn"]) expect(server.calls[kind]).toBeGreaterThan(0);

  const [record] = work.records(`run/${output}`);
  const said = JSON.stringify(record?.messages);
  expect(said).toContain("You sent me [redacted] [redacted]");
  expect(said).toContain("They sent [redacted]");
  expect(record?.metadata.faults).toContainEqual(expect.objectContaining({ type: "redacted_secret" }));
  expect(work.read("run/failures.jsonl")).toContain("[redacted]");
  for (const line of work.read("run/journal.jsonl").trim().split("\n")) JSON.parse(line);

  work.write("given/other.yml", config(server.url).replace("aws:", "temperature_of: hot, aws:"));
  const drift = await start("run", "--config", "given/other.yml");
  expect([drift.code, drift.stderr]).toEqual([2, expect.stringContaining("agent settings")]);
  const rotated = config(server.url).replace(SECRETS.literal_param, "AKIAIOSFODNN8EXAMPLE");
  work.write("given/rotated.yml", rotated);
  const other = await start("run", "--config", "given/rotated.yml"); // a new key is no drift
  expect([0, 3], other.stderr).toContain(other.code);
  const resumed = await start("resume", "run", "--limit", "4");
  expect([0, 3], resumed.stderr).toContain(resumed.code);
  expect((await start("status", "run")).code).toBe(0);
  expect((await start("show", "run")).code).toBe(0);
  expect((await start("show", "run", String(record?.id))).stdout).toContain("[redacted]");
  expect((await start("eval", "run")).code).toBe(0);
  expect((await start("report", "run")).code).toBe(0);
  const exported = await start("export", "run", "--format", "openai", "--out", "exported", "--all");
  expect(exported.code, exported.stdout + exported.stderr).toBe(0);
  const models = ["--models-config", "given/models.yml"];
  for (const extra of [[], ["--json"]]) {
    expect((await start("models", "show", "openai/first", ...models, ...extra)).code).toBe(0);
    expect((await start("models", "list", ...models, ...extra)).code).toBe(0);
  }
  await start("doctor", "--agent-model", "openai/first", "--user-model", "openai/second", ...models);
  searchFiles(work);
});

test("an endpoint that moves or refuses, and names the key while doing so, is reported without it", async () => {
  for (const kind of ["redirect", "filtered", "overflow"] as const) {
    const server = await startEchoServer(Object.values(SECRETS), () => kind);
    const work = workFolder();
    work.write("given/run.yml", config(server.url));
    clean(await work.run(["run", "--config", "given/run.yml"], { env: ENV }), [kind]);
    expect(server.seen.size).toBeGreaterThan(5);
    searchFiles(work);
  }
});

const TOOL_SECRETS = { token: "t0ken-of-the-tool-51", argument: "argument+of/the-tool-52", flag: "fl4g-of-tool-53" };

/** A server that tells everybody how it was started: in results, errors, on stderr, and among its messages. */
const TELLTALE = `
import { createInterface } from "node:readline";
const all = [...process.argv.slice(2), process.env.TOOL_TOKEN].join(" ");
const reply = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
process.stdout.write("x".repeat(190) + process.env.TOOL_TOKEN + "\\n");
process.stderr.write(all + "\\n");
let calls = 0;
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const tool = { name: "look_up", description: "Looks.", inputSchema: { type: "object" } };
  if (method === "initialize")
    reply(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } });
  else if (method === "tools/list") reply(id, { tools: [tool] });
  else if (method === "tools/call" && calls++ === 0)
    reply(id, { content: [{ type: "text", text: "a".repeat(32768 - 9) + process.env.TOOL_TOKEN + " ".repeat(50000) + all }] });
  else if (method === "tools/call") process.exit(3);
});
`;

test("what a tool server repeats of its token, arguments and flags is struck out, also at a cut", async () => {
  const secrets = Object.values(TOOL_SECRETS);
  const server = await startEchoServer(secrets, () => "content");
  const work = workFolder();
  work.write("given/telltale.mjs", TELLTALE);
  work.write(
    "given/questions.jsonl",
    '{"id": "q", "question": "What is there?"}\n{"id": "r", "question": "And here?"}\n',
  );
  work.write(
    "given/run.yml",
    `output_dir: run
models: {m: {provider: openai, api_base: "${server.url}"}}
datasets:
  q: {path: given/questions.jsonl, max_turns: 1, agent: {model: openai/m}}
mcpServers:
  telltale:
    command: ${process.execPath}
    args: [./given/telltale.mjs, --from, '\${TOOL_ARGUMENT}', --secret, ${TOOL_SECRETS.flag}]
    env: {TOOL_TOKEN: '\${TOOL_TOKEN}'}
`,
  );
  const env = { TOOL_TOKEN: TOOL_SECRETS.token, TOOL_ARGUMENT: TOOL_SECRETS.argument };
  const checked = clean(await work.run(["check", "given/run.yml"], { env }), ["check"], TOOL_SECRETS);
  const made = clean(await work.run(["run", "--config", "given/run.yml", "--verbose"], { env }), ["run"], TOOL_SECRETS);
  expect(checked.stderr).toContain("writes to stdout");
  expect([0, 3]).toContain(made.code);
  expect(work.read("run/trajectories/q.jsonl")).toContain("[redacted]");
  searchFiles(work, TOOL_SECRETS);
});

test("an MCP server at a URL that refuses, and says what it was sent, is reported without it", async () => {
  const http = createServer((request, response) => {
    const said = `${request.url} ${Object.values(request.headers).join(" ")}`;
    response.writeHead(401, { "www-authenticate": `Bearer realm="${request.headers["x-custom"]}"` }).end(said);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  const { port } = http.address() as AddressInfo;
  const planted = { query: "query-token-61-abcdef", header: "he4der-62", custom: "custom-value-63" };
  const work = workFolder();
  work.write("given/questions.jsonl", '{"id": "q", "question": "What is there?"}\n');
  work.write(
    "given/run.yml",
    `output_dir: run
datasets: {q: {path: given/questions.jsonl, max_turns: 1, agent: {model: openai/m, api_base: "http://127.0.0.1:9"}}}
mcpServers:
  far: {url: "http://127.0.0.1:${port}/mcp?token=\${FAR_TOKEN}", headers: {Authorization: "Bearer ${planted.header}", X-Custom: "\${CUSTOM}"}}
`,
  );
  const env = { FAR_TOKEN: planted.query, CUSTOM: planted.custom };
  for (const args of [
    ["run", "--config", "given/run.yml"],
    ["check", "given/run.yml"],
  ]) {
    const refused = clean(await work.run(args, { env }), args, planted);
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([2, expect.stringContaining("far")]);
  }
  searchFiles(work, planted);
});

type Secrets = { [name: string]: string };

/** The secrets that a text holds in any spelling, by name. */
function secretsIn(text: string, secrets: Secrets = SECRETS): string[] {
  const decoded = (text.match(/[A-Za-z0-9+/_-]{12,}={0,2}/g) ?? []).flatMap((run) =>
    [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), "base64").toString("latin1")),
  );
  const all = [text, ...decoded].join("\n");
  return Object.entries(secrets)
    .filter(([, secret]) => spellings(secret).some((form) => all.includes(form)) || all.includes(secret.slice(0, 12)))
    .map(([name]) => name);
}

function clean(finished: Finished, what: string[], secrets?: Secrets): Finished {
  const { stdout, stderr } = finished;
  expect([what, secretsIn(stdout, secrets), secretsIn(stderr, secrets)], stdout + stderr).toEqual([what, [], []]);
  return finished;
}

function searchFiles(work: WorkFolder, secrets?: Secrets): void {
  const files = readdirSync(work.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("given"))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files) expect([file, secretsIn(readFileSync(file, "utf8"), secrets)]).toEqual([file, []]);
}
