// Every kind of dataset on a queue, with workers that have nothing of it: records as on one machine.
import { readdirSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { bundledFolder } from "../src/domains/index.ts";
import { PROGRAM, workFolder } from "./support/cli.ts";
import { havePython } from "./support/python/support.ts";
import { writePythonDataset } from "./support/python-dataset.ts";
import { closePostgres, QueueScene } from "./support/queue.ts";
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
