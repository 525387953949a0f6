// Dataset code in JavaScript runs in our process. Whatever the command, it finds no key in its environment.
import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";

const ENV = {
  OPENAI_API_KEY: "sk-planted-openai-0123456789",
  HF_TOKEN: "hf_planted0123456789",
  PLAIN_NAME: "named-only-in-the-config",
  OF_A_SERVER: "named-only-for-a-server",
  DATABASE: "postgres://me:planted-password@db/x",
  PASTED: "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  HARMLESS: "may-be-read",
};

/** Writes down what it finds, when it is loaded and when it is called. */
const SPY = `
import { appendFileSync } from "node:fs";
const spy = (when) => appendFileSync(process.env.HARMLESS ? "seen.txt" : "lost.txt", when + JSON.stringify(process.env) + "\\n");
spy("loaded ");
`;

test("check, --dry-run, --list, runs, eval and replay show a dataset's code no key", async () => {
  const work = workFolder();
  expect((await work.run(["init", "Corner"])).code).toBe(0);
  const server = work.read("Corner/mcp_servers/Corner.ts");
  const spied = SPY + server.replace("): Json {", '): Json {\n  spy("called ");');
  work.write("Corner/mcp_servers/Corner.ts", spied);
  work.write("given/.env", "FROM_ENV_FILE_KEY=planted-in-env-file\n");
  const models = (name: string) => `{provider: openai, api_base: "http://127.0.0.1:9/v1", api_key: "\${${name}}"}`;
  work.write(
    "given/run.yml",
    `output_dir: run
base_path: Corner
agent_model: scripted/agent
user_model: scripted/user
limit: 1
models: {a: ${models("PLAIN_NAME")}, b: ${models("FROM_ENV_FILE_KEY")}, c: {provider: openai, headers: {X: "\${OF_A_SERVER}"}}}
datasets: {Corner: {}}
`,
  );
  const commands = [
    ["check", "Corner"],
    ["check", "given/run.yml"],
    ["single", "--base-path", "Corner", "--list", "--verbose"],
    ["run", "--config", "given/run.yml", "--dry-run"],
    ["run", "--config", "given/run.yml"],
    ["replay", "run"],
    ["eval", "run"],
  ];
  for (const command of commands) {
    const { code, stdout, stderr } = await work.run(command, { env: ENV });
    expect([command, code], stdout + stderr).toEqual([command, 0]);
    const seen = work.has("seen.txt") ? work.read("seen.txt") : "";
    const named = !command.includes("Corner"); // a folder refers to no variable
    for (const [name, value] of Object.entries({ ...ENV, FROM_ENV_FILE_KEY: "planted-in-env-file" })) {
      if (name === "HARMLESS" || (!named && /named-only/.test(value))) continue;
      expect([command, name, seen.includes(value)]).toEqual([command, name, false]);
    }
    if (work.has("seen.txt")) work.remove("seen.txt");
    if (!command.includes("--list")) expect([command, seen.includes("loaded")]).toEqual([command, true]);
    if (command.length === 3 && command[0] === "run") expect(seen).toContain("called");
  }
  expect(work.has("lost.txt")).toBe(false);
});
