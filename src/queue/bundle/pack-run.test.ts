import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { temporaryFolder } from "../../../test/support/play.ts";
import { readEnvFile } from "../../cli/env-file.ts";
import { type Config, resolveConfig, resolveConfigFile } from "../../config/index.ts";
import { type PackedRun, packRun, unpackRun } from "./index.ts";

const SECRET = "s3cr3t-Value-0a1b2c3d";
const QUERY = { id: "q1", messages: [{ role: "user", content: "Hello." }], user_system_prompt: "x" };

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function pack(config: Config, env: { [name: string]: string } = {}): Promise<PackedRun> {
  const run = resolveConfig({ bundled: true, datasets: ["StudentHealthServices"], ...config }, { folder: "outputs/x" });
  return packRun(run, env);
}

function packModel(entry: object, env: { [name: string]: string } = {}, more: Config = {}): Promise<PackedRun> {
  const models = { m: { provider: "house", api_base: "http://10.0.0.1/v1", ...entry } };
  return pack({ models, agent_model: "m", user_model: "scripted/user", ...more }, env);
}

function packServer(server: object, env: { [name: string]: string } = {}): Promise<PackedRun> {
  const path = write(join(temporaryFolder(), "queries.jsonl"), `${JSON.stringify(QUERY)}\n`);
  const datasets = { desk: { path, mcpServers: { desk: server }, agent: "scripted/agent", user: "scripted/user" } };
  return pack({ datasets } as Config, env);
}

const text = (packed: PackedRun) => JSON.stringify(packed);

/** What users write where a secret may stand, with the variable that it names. */
const NAMED: [string, () => Promise<PackedRun>, string[]][] = [
  ["api_key", () => packModel({ api_key: `\${LLM}` }, { LLM: SECRET }), ["LLM"]],
  [
    "a party's api_key",
    () =>
      pack(
        {
          datasets: {
            StudentHealthServices: { agent: { model: "house/m", api_base: "http://10.0.0.1", api_key: `\${LLM}` } },
          },
        },
        { LLM: SECRET },
      ),
    ["LLM"],
  ],
  ["a header", () => packModel({ headers: { Authorization: `Bearer \${TOKEN}` } }, { TOKEN: SECRET }), ["TOKEN"]],
  [
    "a login in an address",
    () => packModel({ api_base: `https://\${WHO}:\${PASS}@10.0.0.1/v1` }, { WHO: "me", PASS: SECRET }),
    ["PASS", "WHO"],
  ],
  [
    "a login with a plain name",
    () => packModel({ api_base: `https://me:\${PASS}@10.0.0.1/v1` }, { PASS: SECRET }),
    ["PASS"],
  ],
  [
    "a parameter of an address",
    () => packModel({ api_base: `https://10.0.0.1/v1?api_key=\${K}` }, { K: SECRET }),
    ["K"],
  ],
  ["extra_params", () => packModel({ extra_params: { auth: { token: `\${T}` } } }, { T: SECRET }), ["T"]],
  ["a default that is used here", () => packModel({ api_key: `\${LLM:-EMPTY}` }, { LLM: SECRET }), ["LLM"]],
  ["a default", () => packModel({ api_key: `\${LLM:-EMPTY}` }), []],
  ["no key at all", () => packModel({ api_key: "EMPTY" }), []],
  [
    "a provider's own variable",
    () => pack({ agent_model: "deepseek/deepseek-chat", user_model: "scripted/user" }, { DEEPSEEK_API_KEY: SECRET }),
    ["DEEPSEEK_API_KEY"],
  ],
  [
    "a variable of a provider's address",
    () =>
      pack(
        { agent_model: "bedrock/x", user_model: "scripted/user" },
        { AWS_REGION: "eu-1", AWS_ACCESS_KEY_ID: SECRET, AWS_SECRET_ACCESS_KEY: `${SECRET}9` },
      ),
    ["AWS_ACCESS_KEY_ID", "AWS_REGION", "AWS_SECRET_ACCESS_KEY"],
  ],
  [
    "MCP env",
    () => packServer({ command: "x", env: { DESK_TOKEN: `\${TOKEN}`, MODE: "fast" } }, { TOKEN: SECRET }),
    ["TOKEN"],
  ],
  [
    "MCP args",
    () => packServer({ command: "x", args: ["--api-key", `\${TOKEN}`, `--seed=\${SEED}`] }, { TOKEN: SECRET }),
    ["TOKEN"],
  ],
  [
    "MCP headers",
    () =>
      packServer(
        { url: "http://10.0.0.2/mcp", headers: { "X-Key": `\${TOKEN}`, "X-Query": `\${QUERY_ID}` } },
        { TOKEN: SECRET },
      ),
    ["TOKEN"],
  ],
  ["an MCP address", () => packServer({ url: `http://u:\${TOKEN}@10.0.0.2/mcp` }, { TOKEN: SECRET }), ["TOKEN"]],
];

test.each(NAMED)("%s: the variable is named, its value is not sent", async (_, make, needs) => {
  const packed = await make();
  expect(packed.needs).toEqual(needs);
  expect(text(packed)).not.toContain(SECRET);
  expect(text(packed)).not.toContain(encodeURIComponent(SECRET));
});

const WRITTEN_OUT: [string, () => Promise<PackedRun>][] = [
  ['model "m".api_key', () => packModel({ api_key: SECRET })],
  ['model "m".api_key', () => packModel({ api_key: `\${LLM:-${SECRET}}` })],
  ['model "m", headers.Authorization', () => packModel({ headers: { Authorization: `Bearer ${SECRET}` } })],
  ['model "m", headers.X-Token-2', () => packModel({ headers: { "X-Token-2": SECRET } })],
  ['model "m".api_base', () => packModel({ api_base: `https://me:${SECRET}@10.0.0.1/v1` })],
  ['model "m".api_base', () => packModel({ api_base: `https://${SECRET}@10.0.0.1/v1` })],
  ['model "m".api_base', () => packModel({ api_base: ["https://10.0.0.1/v1", `https://10.0.0.1/v1?key=${SECRET}`] })],
  ['model "m".extra_params.password', () => packModel({ extra_params: { password: SECRET } })],
  [
    "datasets.StudentHealthServices.agent.api_key",
    () =>
      pack({
        datasets: {
          StudentHealthServices: { agent: { model: "house/m", api_base: "http://10.0.0.1", api_key: SECRET } },
        },
      }),
  ],
  [
    "datasets.StudentHealthServices.user.extra_params.token",
    () =>
      pack({
        datasets: { StudentHealthServices: { user: { model: "scripted/user", extra_params: { token: SECRET } } } },
      }),
  ],
  ["mcpServers.desk.env.DESK_TOKEN", () => packServer({ command: "x", env: { DESK_TOKEN: SECRET } })],
  [
    "mcpServers.desk.env.DATABASE",
    () => packServer({ command: "x", env: { DATABASE: `postgres://u:${SECRET}@h/db` } }),
  ],
  ["mcpServers.desk.args.1", () => packServer({ command: "x", args: ["--token", SECRET] })],
  ["mcpServers.desk.args.0", () => packServer({ command: "x", args: [`--api-key=${SECRET}`] })],
  ["mcpServers.desk.args.1", () => packServer({ command: "x", args: ["--header", `Authorization: Bearer ${SECRET}`] })],
  ["mcpServers.desk.headers.Cookie", () => packServer({ url: "http://10.0.0.2/mcp", headers: { Cookie: SECRET } })],
  ["mcpServers.desk.url", () => packServer({ url: `http://10.0.0.2/mcp?token=${SECRET}` })],
  ["mcpServers.desk.env.PLAIN", () => packServer({ command: "x", env: { PLAIN: "sk-0123456789abcdefghijklmn" } })],
];

test.each(WRITTEN_OUT)("%s: a secret that is written out is refused, and not repeated", async (place, make) => {
  const error = await make().then(String, (thrown: Error) => thrown.message);
  expect(error).toBe(
    `${place} holds a secret as it is written, and secrets are not sent to workers: put it into a variable of theirs and write \${NAME} here`,
  );
});

test("keys of models that the run does not use stay here", async () => {
  const packed = await packModel(
    {},
    {},
    {
      models: {
        m: { provider: "house", api_base: "http://10.0.0.1/v1" },
        other: { provider: "openai", api_key: SECRET },
      },
    },
  );
  expect(text(packed)).not.toContain(SECRET);
});

test("a secret of the environment that stands in a prompt or a file is found, however it is written there", async () => {
  const folder = temporaryFolder();
  const prompt = write(join(folder, "prompt.md"), `Use ${encodeURIComponent(SECRET)}.`);
  await expect(pack({ system_prompt_file: prompt }, { HOUSE_KEY: SECRET })).rejects.toThrow(
    "The value of HOUSE_KEY is written out",
  );
  const server = write(join(folder, "server.mjs"), `import "./neighbour.mjs";`);
  const neighbour = write(join(folder, "neighbour.mjs"), `${" ".repeat((1 << 20) - 8)}'${SECRET}'`);
  await expect(packServer({ command: "node", args: [server] }, { HOUSE_KEY: SECRET })).rejects.toThrow(
    `${neighbour}: holds the value of a variable that is secret`,
  );
  expect(await packServer({ command: "node", args: [server] })).toMatchObject({ needs: [] });
});

test("files of settings and hidden files never go along with a folder", async () => {
  const folder = temporaryFolder();
  for (const name of [".env", "server.mjs", "data.json", "notes.log", ".hidden/x", "venv/pyvenv.cfg", "venv/x.py"])
    write(join(folder, "srv", name), "{}");
  const { files } = await packServer({ command: "node", args: ["server.mjs"], cwd: join(folder, "srv") });
  expect(files.map(({ path }) => path.replace(/^.*?srv/, "srv")).filter((path) => path.startsWith("srv"))).toEqual([
    "srv/data.json",
    "srv/server.mjs",
  ]);
});

test("values of a .env file next to the config are not sent, nor is the file", async () => {
  const folder = temporaryFolder();
  write(join(folder, ".env"), `HOUSE_TOKEN=${SECRET}\nPLACE=10.0.0.2\n`);
  write(join(folder, "q.jsonl"), `${JSON.stringify(QUERY)}\n`);
  write(join(folder, "server.mjs"), 'readFileSync(".env")');
  const server = {
    command: "node",
    args: ["server.mjs", "--to", `\${PLACE}`],
    cwd: folder,
    env: { T: `\${HOUSE_TOKEN}` },
  };
  const datasets = { desk: { path: join(folder, "q.jsonl"), mcpServers: { desk: server }, agent: "scripted/agent" } };
  const config = write(join(folder, "run.yml"), stringify({ datasets, max_turns: 1 }));
  const env: { [name: string]: string } = {};
  readEnvFile({ env }, config);
  const packed = await packRun(resolveConfigFile(config), env);
  expect(packed.needs).toEqual(["HOUSE_TOKEN", "PLACE"]);
  expect(JSON.stringify(packed)).not.toMatch(new RegExp(`${SECRET}|10\\.0\\.0\\.2`));
  const names = packed.files.map(({ path }) => path.split("/").at(-1));
  expect(names).toEqual(["q.jsonl", "server.mjs"]);
});

test("odd entries of a folder do no harm: links to nowhere and in circles, pipes, odd names", async () => {
  const folder = temporaryFolder();
  write(join(folder, "server.mjs"), "");
  write(join(folder, "a\\b\n\u{1F600} %2e%2e.txt"), "odd");
  symlinkSync("nowhere", join(folder, "broken"));
  symlinkSync("circle", join(folder, "circle"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  const { read, ...packed } = await packServer({ command: "node", args: ["server.mjs"], cwd: folder });
  expect(packed.files).toHaveLength(3);
  const run = await unpackRun(packed, { cache: temporaryFolder(), env: {}, fetchFile: read });
  const cwd = run.datasets[0]?.mcpServers?.desk?.here?.cwd ?? "";
  expect(readdirSync(cwd).sort()).toEqual(["a\\b\n\u{1F600} %2e%2e.txt", "server.mjs"]);
});

test("a folder outside the working folder is each worker's own, and people are told", async () => {
  const folder = temporaryFolder();
  write(join(folder, "big", "file.txt"), "x");
  const { files, notes } = await packServer({ command: "npx", args: ["server-files", join(folder, "big")] });
  expect(files.filter(({ path }) => path.endsWith("file.txt"))).toEqual([]);
  expect(notes).toEqual([
    `mcpServers.desk.args.1: the folder ${join(folder, "big")} is not sent: each worker needs its own`,
  ]);
});

test("what a file's owner may start stays so", async () => {
  const folder = temporaryFolder();
  const script = write(join(folder, "serve"), '#!/bin/sh\nexec node "$(dirname "$0")/main.mjs"\n');
  write(join(folder, "main.mjs"), "");
  chmodSync(script, 0o700);
  const { files } = await packServer({ command: script });
  const modes = Object.fromEntries(files.map(({ path, mode }) => [path.replace(/^.*\//, ""), mode]));
  expect(modes).toMatchObject({ serve: 0o555, "main.mjs": 0o444 });
});

test("files are read in pieces; one that changed meanwhile is not sent as if it had not", async () => {
  const folder = temporaryFolder();
  const path = write(
    join(folder, "queries.jsonl"),
    `${JSON.stringify({ ...QUERY, task_info: { pad: "x".repeat(5_000_000) } })}\n`,
  );
  const packed = await pack({
    datasets: { q: { path, mcp_domain: "StudentHealthServices", agent: "scripted/agent", user: "scripted/user" } },
  });
  const { hash = "", size = 0 } = packed.files.find((file) => file.path.endsWith("queries.jsonl")) ?? {};
  const pieces: number[] = [];
  for await (const piece of packed.read(hash)) pieces.push(piece.length);
  expect(Math.max(...pieces)).toBeLessThanOrEqual(1 << 20);
  expect(pieces.reduce((sum, length) => sum + length, 0)).toBe(size);
  writeFileSync(path, readFileSync(path, "utf8").replace("Hello", "HELLO"));
  const again = async () => {
    for await (const _ of packed.read(hash));
  };
  await expect(again()).rejects.toThrow("was changed while it was being sent: give the command again");
  rmSync(path);
  await expect(again()).rejects.toThrow("ENOENT");
});

test("a key in code, or in a file that comes along with it, is refused", async () => {
  const folder = temporaryFolder();
  const server = write(join(folder, "server.mjs"), 'new URL("./settings.json", import.meta.url);');
  const settings = write(join(folder, "settings.json"), '{"k":"sk-0123456789abcdefghijkl"}');
  const refused = `${settings}: holds what looks like an API key (sk-…), and secrets are not sent to workers`;
  await expect(packServer({ command: "node", args: [server] })).rejects.toThrow(refused);
  write(settings, "{}");
  write(server, 'const key = "sk-0123456789abcdefghijkl";');
  await expect(packServer({ command: "node", args: [server] })).rejects.toThrow(`${server}: holds what looks like`);
});

test("words of comments and docstrings name nothing; what is quoted or imported does", async () => {
  const folder = temporaryFolder();
  const server = write(
    join(folder, "server.py"),
    '"""Reads notes and private things."""\n# see secrets\nimport os\nfrom parts.one import (\n  a,\n)\nfrom . import later\nopen(os.path.join(os.path.dirname(__file__), "data", "x.csv"))\n',
  );
  const names = [
    "private/x",
    "secrets/x",
    "notes.txt",
    "later.py",
    "parts/one.py",
    "parts/deep/two.json",
    "data/x.csv",
    "one.py",
  ];
  for (const name of names) write(join(folder, name), "1");
  const { files } = await packServer({ command: "python3", args: [server] });
  const own = files.flatMap(({ path }) => path.split(`${folder.split("/").at(-1)}/`)[1] ?? []);
  expect(own).toEqual(["data/x.csv", "later.py", "one.py", "parts/deep/two.json", "parts/one.py", "server.py"]);
});

test("the same run packed again is the same bundle", async () => {
  const make = async () => JSON.stringify(await packModel({ api_key: `\${LLM}` }, { LLM: SECRET }));
  expect(await make()).toBe(await make());
});
