// Tools that cannot start are the user's to mend: every command says where and why, with exit code 2, before it writes.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { itemQuery, lines, planQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const SINGLE = ["single", "--base-path", "shop", "--domains", "Domain1", "--output-dir", "run", ...SCRIPTED];

/** A server of the shop, in one language; what is odd about it is in the text. */
function writeServer(work: WorkFolder, extension: "ts" | "mjs" | "py", text: string): void {
  writeShop(work);
  for (const server of ["Domain1", "Domain2"]) work.remove(`shop/mcp_servers/${server}.mjs`);
  work.remove("shop/queries/Domain1_Domain2.jsonl");
  work.remove("shop/policies/Domain2_Domain1.md");
  work.remove("shop/tool_lists/Domain2.json");
  work.write(`shop/mcp_servers/Domain1.${extension}`, text);
}

const server = (members: string, before = "") =>
  `${before}export default {\n  today: "2026-02-02",\n  reads: { find_item: () => ({}) },\n  writes: {},\n${members}};\n`;
const pythonServer = (body: string) => `import os\n\nclass Domain1Server:\n${body}\n`;

const BROKEN: [title: string, extension: "ts" | "mjs" | "py", text: string, complaint: RegExp][] = [
  ["a syntax error", "ts", server("", "const x: number = ;\n"), /Domain1\.ts:1(:\d+)?: cannot be loaded: /],
  ["a syntax error", "mjs", server("", "\nconst x = ;\n"), /Domain1\.mjs:2(:\d+)?: cannot be loaded: /],
  [
    "an exception at load",
    "ts",
    server("", '\n\nthrow new Error("no licence found");\n'),
    /Domain1\.ts:3(:\d+)?: cannot be loaded: no licence found$/m,
  ],
  ["rules of a wrong shape", "ts", server("  rules: {},\n"), /Domain1\.ts:5: rules must be a list of rules$/m],
  [
    "a rule of a wrong shape",
    "ts",
    server('  rules: [\n    { id: "ask-first", rule: "confirm_before" },\n  ],\n'),
    /Domain1\.ts:6: rules\.0\.tools must be a list of tools$/m,
  ],
  [
    "a rule for a tool that is not there",
    "ts",
    server('  rules: [{ id: "never", rule: "forbidden", tools: ["find_itm"] }],\n'),
    /Domain1\.ts:5: the rule "never" names the tool "find_itm", which is not there$/m,
  ],
  [
    "a tool that is no function",
    "ts",
    'export default {\n  today: "2026-02-02",\n  reads: {\n    find_item: "here",\n  },\n  writes: {},\n};\n',
    /Domain1\.ts:4: reads\.find_item must be a function$/m,
  ],
  ["no class", "py", "class Domain1:\n    pass\n", /Domain1\.py: has no class "Domain1Server"; it has Domain1$/m],
  [
    "a class without invoke",
    "py",
    pythonServer("    def __init__(self, domain_name):\n        pass"),
    /Domain1\.py:4: Domain1Server has no method invoke\(self, session_id, tool_name, \*\*arguments\)$/m,
  ],
  [
    "a constructor without domain_name",
    "py",
    pythonServer(
      "    def invoke(self, session_id, tool_name, **arguments):\n        return {}\n    def __init__(self):\n        pass",
    ),
    /Domain1\.py:6: cannot be loaded: TypeError: .*domain_name/,
  ],
  [
    "a constructor that fails",
    "py",
    pythonServer('    def __init__(self, domain_name):\n        open("/no/such/file")'),
    /Domain1\.py:5: cannot be loaded: FileNotFoundError: .*no\/such\/file/,
  ],
  [
    "a process that ends while loading",
    "py",
    pythonServer('    os.write(2, b"the database is gone\\n")\n    os._exit(7)'),
    /Domain1\.py: Loading its servers: Python ended with exit code 7 \(its last words: the database is gone\)/,
  ],
];

test.each(BROKEN)(
  "%s is told with file, line and the tools' last words (%s)",
  async (_title, extension, text, complaint) => {
    const work = workFolder();
    writeServer(work, extension, text);
    const [single, dry, check] = await Promise.all([
      work.run(SINGLE),
      work.run([...SINGLE, "--dry-run"]),
      work.run(["check", "shop"]),
    ]);
    const serve = await work.run(["mcp", "serve", "Domain1", "--base-path", "shop"]);
    for (const { code, stderr } of [single, dry, serve]) {
      expect(stderr).toMatch(complaint);
      expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 2, lines: 1 });
    }
    expect(check.stdout).toMatch(complaint);
    expect(check).toMatchObject({ code: 2, stderr: "" });
    expect(work.has("run")).toBe(false);
  },
);

const MCP: [title: string, server: string, complaint: RegExp][] = [
  ["a missing command", "command: no-such-program", /could not be started: "no-such-program" was not found/],
  [
    "a server that exits at once",
    `command: ${process.execPath}\n        args: [-e, "console.error('the token is missing'); process.exit(3)"]`,
    /exited with code 3; it wrote: the token is missing$/m,
  ],
  [
    "a connection that is refused",
    "url: http://127.0.0.1:PORT/mcp",
    /ECONNREFUSED.* Is a server running at http:\/\/127\.0\.0\.1:\d+\/mcp\?$/m,
  ],
];

test.each(MCP)("%s is told with the line of the config that starts it", async (_title, launch, complaint) => {
  const work = workFolder();
  work.write("queries.jsonl", lines([itemQuery("q1")]));
  work.write(
    "run.yml",
    `agent_model: scripted/agent\nuser_model: scripted/user\ndatasets:\n  notes:\n    path: queries.jsonl\n    mcpServers:\n      memory:\n        ${launch.replace("PORT", String(await freePort()))}\n`,
  );
  const run = await work.run(["run", "--config", "run.yml", "--output-dir", "run"]);
  expect(run.stderr).toMatch(/^run\.yml:8:\d+: MCP server "memory" \(start\): /);
  expect(run.stderr).toMatch(complaint);
  expect(run).toMatchObject({ code: 2, stdout: "" });
  const check = await work.run(["check", "run.yml"]);
  expect(check.stdout).toMatch(/^error {2}run\.yml:8:\d+: MCP server "memory"/);
  expect(check.code).toBe(2);
  expect(work.has("run")).toBe(false);
});

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, "close");
  return port;
}

test("a server of a file of its own is told with that file's line", async () => {
  const work = workFolder();
  work.write("queries.jsonl", lines([itemQuery("q1")]));
  work.write("mcp.json", '{\n  "mcpServers": {\n    "memory": {\n      "command": "no-such-program"\n    }\n  }\n}\n');
  work.write("run.yml", "mcp_config_file: mcp.json\ndatasets:\n  notes:\n    path: queries.jsonl\n");
  const { code, stderr } = await work.run(["run", "--config", "run.yml", ...SCRIPTED]);
  expect(stderr).toMatch(/^mcp\.json:4:18: MCP server "memory"/);
  expect(code).toBe(2);
});

test("check calls tools: one that throws is an error, one that answers with an error is not", async () => {
  const work = workFolder();
  writeShop(work);
  expect(await work.run(["check", "shop"])).toMatchObject({ code: 0 });
  work.write(
    "shop/mcp_servers/Domain1.mjs",
    'export default { today: "2026-02-02", reads: { find_item: (_, { name }) => { if (name === "lamp") throw new Error("no lamps"); return { error: "Not here" }; } }, writes: {} };\n',
  );
  work.write("shop/queries/Domain1.jsonl", lines([itemQuery("q1")]));
  work.write("shop/queries/Domain1_Domain2.jsonl", "");
  const polite = await work.run(["check", "shop"]);
  expect(polite.stdout).toMatch(/ 1 of them called: 0 errors/);
  work.write("shop/queries/Domain1.jsonl", lines([itemQuery("q1"), itemQuery("q2", "lamp")].slice(1)));
  const thrown = await work.run(["check", "shop"]);
  expect(thrown.stdout).toMatch(
    /^error {2}shop\/mcp_servers\/Domain1\.mjs: Domain1: find_item was called and failed: no lamps$/m,
  );
  expect(thrown.code).toBe(2);
});

const MCP_SERVER = `
const { createInterface } = await import("node:readline");
const { appendFileSync } = await import("node:fs");
const tool = (name, readOnlyHint, required = []) => ({
  name, description: name, annotations: { readOnlyHint }, inputSchema: { type: "object", properties: { x: {} }, required },
});
const tools = [tool("list", true), tool("broken", true), tool("look", true, ["x"]), tool("needy", true, ["x"]), tool("write", false)];
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: args }) => {
    appendFileSync(process.argv[2], name + " " + JSON.stringify(args) + "\\n");
    return { content: [{ type: "text", text: name === "broken" ? "disk full" : "fine" }], isError: name === "broken" };
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: (answers[method] ?? (() => ({})))(params) }));
}
`;

test("check starts MCP servers and calls their read-only tools, and no others", async () => {
  const work = workFolder();
  work.write("server.mjs", MCP_SERVER);
  const plan = [
    {
      steps: [
        {
          calls: [
            { name: "write", arguments: {} },
            { name: "look", arguments: { x: 1 } },
          ],
        },
      ],
      say: "Done.",
    },
    { user: "Bye ###STOP###" },
  ];
  work.write("queries.jsonl", lines([planQuery("q1", plan)]));
  work.write(
    "run.yml",
    `agent_model: scripted/agent\nuser_model: scripted/user\ndatasets:\n  notes:\n    path: queries.jsonl\n    mcpServers:\n      t:\n        command: ${process.execPath}\n        args: [./server.mjs, ${work.path}/calls.txt]\n`,
  );
  const { code, stdout } = await work.run(["check", "run.yml"]);
  expect(stdout).toMatch(/^error {2}run\.yml:8:\d+: notes: broken was called and failed: disk full$/m);
  expect(stdout).toContain("1 queries, 5 tools, 3 of them called: 1 errors");
  expect(code).toBe(2);
  expect(work.read("calls.txt")).toBe('list {}\nbroken {}\nlook {"x":1}\n');
});
