// Every kind of dataset on a queue, with workers that have nothing of it: records as on one machine.
import { appendFileSync, readdirSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { bundledFolder } from "../src/domains/index.ts";
import { PROGRAM, workFolder } from "./support/cli.ts";
import { PASSWORD } from "./support/postgres.ts";
import { havePython } from "./support/python/support.ts";
import { writePythonDataset } from "./support/python-dataset.ts";
import { closePostgres, QueueScene, until } from "./support/queue.ts";
import { SCRIPTED, writeShop } from "./support/shop-dataset.ts";

afterAll(closePostgres);

type Case = { write(scene: QueueScene): void; command: string[]; files: string; isHere?: boolean };

const portal = () => {
  const path = bundledFolder().find(["StudentAcademicPortal"]).queryFiles[0];
  const server = { command: process.execPath, args: [PROGRAM, "mcp", "serve", "StudentAcademicPortal"] };
  return stringify({
    ...{ agent_model: "scripted/agent", user_model: "scripted/user", limit: 4, datasets: { portal: { path } } },
    mcpServers: { portal: { ...server, isolation: "fresh" } },
  });
};
const QUESTIONS = ["4", "Paris", "blue"].map((answer, index) => ({
  id: `q${index}`,
  question: `Which ${index}?`,
  answer,
}));

const CASES: { [what: string]: Case } = {
  "a TypeScript dataset": {
    write: ({ folder }) => writeShop(folder),
    command: ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED],
    files: "trajectories",
  },
  "a Python dataset": {
    write: ({ folder }) => writePythonDataset(`${folder.path}/desk`),
    command: ["single", "--domains", "SlotDesk", "--base-path", "desk", ...SCRIPTED],
    files: "trajectories",
    isHere: await havePython(),
  },
  "a combination of Python servers": {
    write: ({ folder }) => writePythonDataset(`${folder.path}/desk`),
    command: ["cross", "--domains", "SlotDesk", "DoorKeeperMCP", "--base-path", "desk", ...SCRIPTED],
    files: "trajectories",
    isHere: await havePython(),
  },
  "tools of an MCP server": {
    write: ({ folder }) => folder.write("portal.yml", portal()),
    command: ["run", "--config", "portal.yml"],
    files: "trajectories",
  },
  "plain questions, several times each": {
    write: ({ folder }) =>
      folder.write("questions.jsonl", QUESTIONS.map((question) => `${JSON.stringify(question)}\n`).join("")),
    command: ["multi", "--input", "questions.jsonl", "--rollouts", "2", "--agent-model", "scripted/agent"],
    files: "",
  },
};

test.runIf(await havePython())("a run's number of Python processes is each worker's", async () => {
  const scene = await QueueScene.open();
  const { folder, url } = scene;
  writePythonDataset(`${folder.path}/desk`, { queries: 9 });
  const [server, told] = [`${folder.path}/desk/single domain/mcp_servers/SlotDesk.py`, `${folder.path}/told`];
  appendFileSync(server, `\nopen(${JSON.stringify(told)}, "a").write(f"{os.getppid()} {os.getpid()}\\n")\n`);
  const elsewhere = workFolder();
  const env = { XDG_CACHE_HOME: `${elsewhere.path}/cache` };
  const { child } = elsewhere.start(["worker", url, "--max-workers", "9"], { env });
  const command = ["single", "--domains", "SlotDesk", "--base-path", "desk", "--python-processes", "3", ...SCRIPTED];
  expect(await scene.collect([...command, "--output-dir", "out"]).finished).toMatchObject({ code: 0 });
  const lines = new Set(folder.read("told").trim().split("\n"));
  expect([...lines].filter((line) => line.startsWith(`${child.pid} `))).toHaveLength(3);
});

for (const [what, { write, command, files, isHere = true }] of Object.entries(CASES))
  test.runIf(isHere)(`${what}: equal records, by workers that have no file of it`, async () => {
    const scene = await QueueScene.open();
    const { folder, url } = scene;
    write(scene);
    expect(await folder.run([...command, "--output-dir", "alone", "--quiet"])).toMatchObject({ code: 0, stderr: "" });
    const elsewhere = workFolder();
    const env = { XDG_CACHE_HOME: `${elsewhere.path}/cache`, ROLLOUT_LEASE_SECONDS: "2" };
    const workers = [1, 2].map(() => elsewhere.start(["worker", url, "--max-workers", "2"], { env }));
    expect(await scene.collect([...command, "--output-dir", "out"]).finished).toMatchObject({ code: 0, stderr: "" });
    const names = readdirSync(`${folder.path}/alone/${files}`).filter((name) =>
      /^(?!journal|prompts|failures).*\.jsonl$/.test(name),
    );
    expect(names.length).toBeGreaterThan(0);
    for (const name of names)
      expect(folder.canonical(`out/${files}/${name}`)).toEqual(folder.canonical(`alone/${files}/${name}`));
    expect(readdirSync(`${folder.path}/out`).sort()).toEqual(readdirSync(`${folder.path}/alone`).sort());
    for (const { child, finished } of workers) {
      child.kill("SIGTERM");
      await finished;
    }
  });

test("a dataset's code finds no key in the environment of a worker", async () => {
  const scene = await QueueScene.open();
  const { folder } = scene;
  expect((await folder.run(["init", "Corner"])).code).toBe(0);
  const seen = `${folder.path}/seen.txt`;
  const spy = `import { appendFileSync } from "node:fs";
if (process.argv.includes("worker")) appendFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env));
`;
  folder.write("Corner/mcp_servers/Corner.ts", spy + folder.read("Corner/mcp_servers/Corner.ts"));
  const model = { provider: "openai", api_base: "http://127.0.0.1:9/v1", api_key: ["$", "{PLAIN_NAME}"].join("") };
  folder.write(
    "run.yml",
    stringify({
      ...{ base_path: "Corner", datasets: ["Corner"], limit: 1, output_dir: "out" },
      ...{ agent_model: "openai/a", user_model: "scripted/user", models: { a: model } },
    }),
  );
  const env = { PLAIN_NAME: "named-only-in-the-config", HARMLESS: "may-be-read", OF_NOBODY_TOKEN: "planted-4711" };
  scene.start(["worker", scene.url], env);
  scene.start(["run", "--config", "run.yml", "--queue", scene.url], env);
  await until(() => folder.has("seen.txt") && folder.read("seen.txt").endsWith("}"));
  const found = folder.read("seen.txt");
  expect(found).toContain("may-be-read");
  for (const secret of ["named-only-in-the-config", "planted-4711", PASSWORD]) expect(found).not.toContain(secret);
});
