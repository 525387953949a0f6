// MCP against third-party programs: the reference servers, and servers of the official Python SDK and of FastMCP, as our
// tools, and the MCP Inspector's command line as a client of a domain that we serve. Installs them from npm and PyPI into
// a temporary folder, so it needs the network and is not part of `npm test`.
// Run it with: npx tsx scripts/verify-mcp.mjs [folder for the packages, which is kept] [--python: only those of Python]
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeExact } from "../src/core/index.ts";
import { BaseTable, Database, McpHub, openInProcess, serveDomain, Toolbox } from "../src/tools/index.ts";

const SELF = fileURLToPath(import.meta.url);
const NUMBERS_SERVER = fileURLToPath(new URL("verify-mcp/numbers_server.py", import.meta.url));
const DESK_SERVER = fileURLToPath(new URL("verify-mcp/desk_server.py", import.meta.url));
const PACKAGES = ["server-everything", "server-filesystem", "server-memory", "server-sequential-thinking", "inspector"];

/** Calls in an order that makes each of them meaningful; [tool, arguments or their text, what the answer contains]. */
const CALLS = {
  everything: [
    ["echo", { message: "hé\u2028llo" }, "hé\u2028llo"],
    ["get-annotated-message", { messageType: "error", includeImage: true }, "[image image/png"],
    ["get-env", {}, "PATH"],
    ["get-resource-links", { count: 2 }, "[resource link"],
    ["get-resource-reference", { resourceType: "Blob", resourceId: 1 }, "[resource "],
    ["get-structured-content", { location: "Chicago" }, "temperature"],
    ["get-sum", { a: 2, b: 40 }, "42"],
    ["get-tiny-image", {}, "[image image/png"],
    [
      "gzip-file-as-resource",
      { name: "a.gz", data: "data:text/plain;base64,aGVsbG8=", outputType: "resource" },
      "[resource",
    ],
    ["toggle-simulated-logging", {}, "simulated"],
    ["toggle-subscriber-updates", {}, ""],
    ["trigger-long-running-operation", { duration: 3, steps: 6 }, "completed"],
    ["simulate-research-query", { topic: "bees" }, "bees"],
  ],
  filesystem: [
    ["list_allowed_directories", {}, "rollout-mcp-"],
    ["create_directory", { path: "sub" }, "sub"],
    ["write_file", { path: "sub/a.txt", content: "one\ntwo\n" }, "sub/a.txt"],
    ["read_file", { path: "sub/a.txt" }, "one\ntwo\n"],
    ["read_text_file", { path: "sub/a.txt", tail: 1 }, ""],
    ["edit_file", { path: "sub/a.txt", edits: [{ oldText: "two", newText: "three" }] }, "+three"],
    ["read_multiple_files", { paths: ["sub/a.txt"] }, "three"],
    ["list_directory", { path: "." }, "[DIR] sub"],
    ["list_directory_with_sizes", { path: "sub" }, "a.txt"],
    ["directory_tree", { path: "." }, "a.txt"],
    ["search_files", { path: ".", pattern: "**/*.txt" }, "a.txt"],
    ["get_file_info", { path: "sub/a.txt" }, "size"],
    ["move_file", { source: "sub/a.txt", destination: "b.txt" }, "b.txt"],
    ["read_media_file", { path: "b.txt" }, "["],
  ],
  memory: [
    ["create_entities", { entities: [{ name: "Ada", entityType: "person", observations: ["writes"] }] }, "Ada"],
    ["create_relations", { relations: [{ from: "Ada", to: "Ada", relationType: "knows" }] }, "knows"],
    ["add_observations", { observations: [{ entityName: "Ada", contents: ["counts"] }] }, "counts"],
    ["search_nodes", { query: "counts" }, "Ada"],
    ["open_nodes", { names: ["Ada"] }, "knows"],
    ["delete_observations", { deletions: [{ entityName: "Ada", observations: ["counts"] }] }, "deleted"],
    ["delete_relations", { relations: [{ from: "Ada", to: "Ada", relationType: "knows" }] }, "deleted"],
    ["delete_entities", { entityNames: ["Ada"] }, "deleted"],
    ["read_graph", {}, "entities"],
  ],
  "sequential-thinking": [
    [
      "sequentialthinking",
      { thought: "hm", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
      "thoughtNumber",
    ],
  ],
};

/** Numbers as the model wrote them, as Python prints them; and as Python wrote them, as the record has them. */
const NUMBERS = [
  [
    "show",
    '{"value": {"a": [2.0, 2, -0.0, 1e400]},\n "price": 2.0, "count": 12345678901234567890}',
    "[{'a': [2.0, 2, -0.0, inf]}, 2.0, 12345678901234567890]",
  ],
  ["total", "{}", '{"left":2.0,"id":12345678901234567890,"nested":[{"zero":-0.0,"small":1e-7}]}'],
];

let problems = 0;

const words = process.argv.slice(2);
if (words[0] === "--serve") await serveOverStdio();
else await verify(words.find((word) => !word.startsWith("--")));

async function verify(given) {
  const folder = given ?? mkdtempSync(join(tmpdir(), "verify-mcp-"));
  try {
    if (!words.includes("--python")) await verifyNode(folder);
    await verifyPython(folder);
  } finally {
    if (!given) rmSync(folder, { recursive: true, force: true });
  }
  console.log(problems === 0 ? "\nAll as expected." : `\n${problems} problem(s).`);
  process.exitCode = problems === 0 ? 0 : 1;
}

async function verifyNode(folder) {
  if (!existsSync(join(folder, "node_modules"))) install(folder);
  const program = (name) => join(folder, "node_modules", ".bin", name);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a config writes it
  const env = { memory: { MEMORY_FILE_PATH: "${WORK_FOLDER}/memory.json" } };
  for (const [name, calls] of Object.entries(CALLS)) {
    const args = name === "filesystem" ? ["."] : [];
    const server = { command: program(`mcp-server-${name}`), args, env: env[name] ?? {} };
    await callAll(`${name}, stdio`, server, calls);
  }
  await overHttp(program("mcp-server-everything"), ["streamableHttp"], (url) =>
    callAll("everything, http", { url }, CALLS.everything),
  );
  await isolated(program("mcp-server-memory"), env.memory);
  await inspect(program("mcp-inspector"));
}

function install(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  const packages = PACKAGES.map((name) => `@modelcontextprotocol/${name}`);
  spawnSync("npm", ["install", "--no-fund", "--no-audit", "--ignore-scripts", ...packages], {
    cwd: folder,
    stdio: "inherit",
  });
}

async function verifyPython(folder) {
  const environment = join(folder, "python");
  const python = join(environment, "bin", "python");
  if (!existsSync(python)) {
    spawnSync("python3", ["-m", "venv", environment], { stdio: "inherit" });
    spawnSync(python, ["-m", "pip", "install", "-q", "mcp", "fastmcp"], { stdio: "inherit" });
  }
  for (const library of ["sdk", "fastmcp"]) {
    await callAll(`Python, ${library}, stdio`, { command: python, args: [NUMBERS_SERVER, library, "stdio"] }, NUMBERS);
    await overHttp(python, [NUMBERS_SERVER, library], (url) => callAll(`Python, ${library}, http`, { url }, NUMBERS));
    const child = { command: python, args: [DESK_SERVER, library, "stdio"] };
    await worlds(`Python, ${library}, stdio, a world for each rollout`, child);
    await overHttp(python, [DESK_SERVER, library], (url) =>
      worlds(`Python, ${library}, http, a session for each rollout`, { url }),
    );
  }
}

/** Rollouts at once on one server: each is told of its own task, writes to its own state, and shows that. */
async function worlds(title, server) {
  console.log(`\n${title}`);
  const hub = createHub({ ...server, state_tool: "dump" });
  try {
    const tools = (await hub.tools({ dataset: "desk", seed: 0 })).map(({ name }) => name);
    report(tools.join() === "write,who", `offered, without the state tool → ${tools}`);
    const shared = hub.shared();
    report(shared.length === 0, `servers whose state is shared → ${JSON.stringify(shared)}`);
    const queries = [0, 1, 2].map((n) => ({ id: `q${n}`, messages: [], taskInfo: {} }));
    const open = (query, n) => hub.open({ dataset: "desk", query, rollout: n, seed: 100 + n });
    const environments = await Promise.all(queries.map(open));
    const write = (environment, n) => ask(environment, "write", `{"text": "note ${n}", "price": ${n}.0}`);
    await Promise.all(environments.map(write));
    for (const [n, environment] of environments.entries()) {
      const who = (await ask(environment, "who", {})).content;
      const task = { dataset: "desk", query_id: `q${n}`, rollout: n, seed: 100 + n };
      report(who.includes(JSON.stringify(task).replaceAll(",", ", ").replaceAll(":", ": ")), `whom it serves → ${who}`);
      const state = writeExact(await environment.state());
      report(
        state.includes(`"note ${n}","price":${n}.0`) && state.match(/note/g).length === 2,
        `its changes → ${state}`,
      );
    }
    await Promise.all(environments.map((environment) => environment.close()));
  } finally {
    await hub.close();
  }
}

async function callAll(title, server, calls) {
  console.log(`\n${title}`);
  const hub = createHub(server);
  try {
    const environment = await hub.open();
    const unknown = environment.tools.map(({ name }) => name).filter((name) => !calls.some(([tool]) => tool === name));
    if (unknown.length > 0) report(false, `no call prepared for: ${unknown.join(", ")}`);
    for (const [tool, args, expected] of calls) {
      const { content, isError } = await ask(environment, tool, args);
      const says = JSON.stringify(content.slice(0, 90));
      report(!isError && content.includes(expected), `${tool}${isError ? " (error)" : ""} → ${says}`);
    }
  } finally {
    await hub.close();
  }
}

/** Two rollouts on the memory server at once: neither remembers what the other was told. */
async function isolated(command, env) {
  console.log("\nisolation");
  const hub = createHub({ command, env, isolation: "pool" });
  const [one, two] = await Promise.all([hub.open(), hub.open()]);
  await ask(one, ...CALLS.memory[0]);
  const graph = (await ask(two, "read_graph", {})).content;
  report(!graph.includes("Ada"), `the other rollout's graph → ${JSON.stringify(graph)}`);
  await hub.close();
}

/** The port is in the environment, and the last argument where a program takes it there. */
async function overHttp(command, args, work) {
  const port = await freePort();
  const child = spawn(command, [...args, String(port)], {
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  try {
    const url = `http://127.0.0.1:${port}/mcp`;
    for (let attempt = 0; attempt < 100; attempt++) {
      if (await fetch(url).catch(() => undefined)) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await work(url);
  } finally {
    child.kill("SIGKILL");
  }
}

/** The Inspector's command line lists and calls the tools of a domain that we serve, over stdio and over HTTP. */
async function inspect(inspector) {
  console.log("\ninspector");
  const serving = await serveDomain(tinyDomain(), { kind: "http", port: 0 });
  const targets = {
    stdio: [process.execPath, "--import", "tsx", SELF, "--serve"],
    http: [serving.url, "--transport", "http"],
  };
  for (const [name, target] of Object.entries(targets)) {
    const list = await run(inspector, ["--cli", ...target, "--method", "tools/list"]);
    report(list.includes('"open_account"') && list.includes('"readOnlyHint"'), `${name} tools/list`);
    const call = ["--method", "tools/call", "--tool-name", "open_account", "--tool-arg", "owner=Ada"];
    const answer = await run(inspector, ["--cli", ...target, ...call]);
    report(answer.includes("ACC-") && answer.includes("Ada"), `${name} tools/call → ${answer.replace(/\s+/g, " ")}`);
    const wrong = await run(inspector, ["--cli", ...target, ...call.slice(0, 4)]);
    report(
      /owner\W+ is missing/.test(wrong),
      `${name} tools/call without an argument → ${wrong.replace(/\s+/g, " ").slice(0, 120)}`,
    );
  }
  await serving.close();
}

function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: fileURLToPath(new URL("..", import.meta.url)) });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text) => {
        output += text;
      });
    child.on("error", (error) => resolve(String(error))).on("close", () => resolve(output));
  });
}

async function serveOverStdio() {
  const serving = await serveDomain(tinyDomain(), { kind: "stdio", input: process.stdin, output: process.stdout });
  await serving.closed;
}

function tinyDomain() {
  const parameters = { type: "object", properties: { owner: { type: "string" } }, required: ["owner"] };
  const tools = [{ name: "open_account", description: "Opens an account.", parameters, readOnly: false }];
  const openAccount = (context, { owner }) =>
    context.table("Account").insert({ account_id: context.newId("ACC"), owner });
  const server = { today: "2026-01-01", reads: {}, writes: { open_account: openAccount } };
  const domain = {
    toolbox: new Toolbox([{ server: "Bank", tools }]),
    servers: new Map([["Bank", server]]),
    database: new Database([new BaseTable("Account", [])]),
  };
  return { name: "Bank", tools: domain.toolbox.tools, open: async (seed) => openInProcess(domain, seed) };
}

function createHub(server) {
  const notice = (message) => console.log(`  notice: ${message}`);
  return new McpHub({ servers: { it: server }, variables: process.env, baseFolder: process.cwd(), notice });
}

function ask(environment, name, args) {
  return environment.call(
    { id: "1", name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
    new AbortController().signal,
  );
}

function report(fine, line) {
  if (!fine) problems++;
  console.log(`  ${fine ? "ok " : "NOT"} ${line}`);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
